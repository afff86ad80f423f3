"""Text on its way into HTML, made safe whatever it comes from."""

from __future__ import annotations

import re
from html import escape

# Control characters and halves of pairs have no place in HTML; the last also not in UTF-8.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_MOST_CHARACTERS = 300


def visible(text: object, most: int = _MOST_CHARACTERS) -> str:
    """Return a text that a page can hold: no control characters, and not endless.

    Parameters
    ----------
    text : object
        Shown as ``str`` has it.
    most : int, default=300
        Longer texts are cut and end in an ellipsis.

    Examples
    --------
    >>> visible("a" * 1_000_000, most=8)
    'aaaaaaa…'
    """
    whole = str(text)
    return printable(whole if len(whole) <= most else f"{whole[: most - 1]}…")


def printable(text: object) -> str:
    """Return a text without characters that a page cannot hold."""
    return _UNSEEN.sub("\ufffd", str(text))


def escaped(text: object) -> str:
    """Return a text as words of HTML, in an element or in the quotes of an attribute.

    Examples
    --------
    >>> escaped('<b> & "c"')
    '&lt;b&gt; &amp; &quot;c&quot;'
    """
    return escape(visible(text))
