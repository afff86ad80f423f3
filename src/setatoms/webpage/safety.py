"""Keep what comes from data as words on a page: never tags, scripts, styles or requests."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256

# Control characters and halves of pairs have no place in HTML; the last also not in UTF-8.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_MARKUP = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
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


def embed_json(value: object) -> str:
    r"""Return JSON that may stand inside a ``script`` element: nothing in it can end the element.

    Examples
    --------
    >>> embed_json({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(value, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return text.translate(_MARKUP)


def content_policy(style: str, script: str, *, inline_styles: bool = False) -> str:
    """Return a policy under which only this script runs and nothing is fetched.

    Parameters
    ----------
    style, script : str
        The text of the two elements, line ends and all.
    inline_styles : bool, default=False
        Whether other styles count too, as those that Matplotlib writes into its figures.
    """
    styles = "unsafe-inline" if inline_styles else _digest(style)
    return (
        f"default-src 'none'; style-src '{styles}'; script-src '{_digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
