"""Keep what comes from data as words on a page: never tags, scripts, styles or requests."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256

_MARKUP = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


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
