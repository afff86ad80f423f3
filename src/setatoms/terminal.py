"""Text on its way to a terminal, made safe whatever it comes from.

Names of files, columns and cells belong to others. Everything the library prints passes
`printable`, JSON passes `json_text`; nothing else writes to a terminal.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Sequence
from typing import IO, Any

# Control characters could command a terminal; those that turn the direction of text can deceive.
_UNSAFE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
_MOST = 300
_MOST_IN_A_LINE = 2000


def printable(text: str, most: int = _MOST) -> str:
    r"""Return text that is safe to print and not too long, whatever it comes from.

    Examples
    --------
    >>> print(printable("a\x1b[31m"))
    a\x1b[31m
    """
    shown = text if len(text) <= most else text[: most - 3] + "..."
    return _UNSAFE.sub(lambda match: ascii(match[0])[1:-1], shown)


def print_line(text: str = "", stream: IO[str] | None = None) -> None:
    """Print one line to standard output, or to another stream."""
    print(printable(text, _MOST_IN_A_LINE), file=stream or sys.stdout)


def print_error(text: str) -> None:
    """Print one line to standard error."""
    print_line(text, sys.stderr)


def print_own(text: str, stream: IO[str] | None = None) -> None:
    """Print lines that hold nothing from outside: help, scripts, tables made here."""
    print(text, file=stream or sys.stdout)


def print_json(value: Any) -> None:
    """Print plain values as JSON; numbers that JSON does not know become null."""
    print_own(json_text(value))


def print_json_lines(values: Sequence[Any]) -> None:
    """Print plain values as JSON, one on a line, at once."""
    lines = (json.dumps(_finite(value), ensure_ascii=True, allow_nan=False) for value in values)
    text = "\n".join(lines)
    if text:
        print(text, flush=True)


def json_text(value: Any) -> str:
    r"""Return plain values as JSON in which unsafe characters are escaped.

    Examples
    --------
    >>> print(json_text({"name": "caf\u00e9 \u202etxt"}))
    {
      "name": "café \u202etxt"
    }
    """
    text = json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False)
    # JSON's own line ends stay; in its strings they are escaped already
    return _UNSAFE.sub(lambda m: m[0] if m[0] == "\n" else f"\\u{ord(m[0]):04x}", text)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value
