"""Print results: in colour on a terminal, plainly to a file or a pipe, as JSON for machines."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Sequence
from typing import IO, Any

# Control characters could command a terminal; those that turn the direction of text can deceive.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_MOST = 300
_MOST_IN_A_LINE = 2000


class Printer:
    """Print lines and tables to standard output or, where data go there, to standard error.

    Parameters
    ----------
    stream : text file object, optional
        By default standard output.
    """

    def __init__(self, stream: IO[str] | None = None) -> None:
        self._stream = stream or sys.stdout
        self._console: Any = None
        if self._stream.isatty():
            from rich.console import Console

            self._console = Console(file=self._stream, highlight=False, soft_wrap=True)

    def line(self, text: str = "", style: str = "") -> None:
        """Print a line of text, in a style on a terminal."""
        shown = printable(text, _MOST_IN_A_LINE)
        if self._console is None:
            print(shown, file=self._stream)
        else:
            self._console.print(shown, style=style or None, markup=False)

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table; its last column holds words, the others numbers or names."""
        cells = [[printable(cell) for cell in row] for row in rows]
        if self._console is None:
            self._plain_table([list(header), *cells])
        else:
            self._rich_table(header, cells)

    def _plain_table(self, rows: Sequence[Sequence[str]]) -> None:
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            aligned = [cell.rjust(w) for cell, w in zip(row[:-1], widths[:-1], strict=True)]
            print("  ".join(["", *aligned, row[-1]]).rstrip(), file=self._stream)

    def _rich_table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in header[:-1]:
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column(header[-1], overflow="fold")
        for row in rows:
            table.add_row(*map(Text, row))
        self._console.print(table, soft_wrap=False)


def print_json(value: Any) -> None:
    """Print plain values as JSON; numbers that JSON does not know become null."""
    print(json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False))


def printable(text: str, most: int = _MOST) -> str:
    r"""Return text that is safe to print and not too long, whatever it comes from.

    Examples
    --------
    >>> print(printable("a\x1b[31m"))
    a\x1b[31m
    """
    shown = text if len(text) <= most else text[: most - 3] + "..."
    return _CONTROL.sub(lambda match: repr(match[0])[1:-1], shown)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value
