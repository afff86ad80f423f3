"""Print results: in colour on a terminal, plainly to a file or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import IO, Any

from setatoms.terminal import print_line, print_own, printable

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
        if self._console is None:
            print_line(text, self._stream)
        else:
            shown = printable(text, _MOST_IN_A_LINE)
            self._console.print(shown, style=style or None, markup=False, emoji=False)

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table; its last column holds words, the others numbers or names."""
        names, *cells = [[printable(cell) for cell in row] for row in (header, *rows)]
        if self._console is None:
            self._plain_table([names, *cells])
        else:
            self._rich_table(names, cells)

    def _plain_table(self, rows: Sequence[Sequence[str]]) -> None:
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            aligned = [cell.rjust(w) for cell, w in zip(row[:-1], widths[:-1], strict=True)]
            print_own("  ".join(["", *aligned, row[-1]]).rstrip(), self._stream)

    def _rich_table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        # as Text: a plain string would be read as markup
        for name in header[:-1]:
            table.add_column(Text(name), justify="right", no_wrap=True)
        table.add_column(Text(header[-1]), overflow="fold")
        for row in rows:
            table.add_row(*map(Text, row))
        self._console.print(table, soft_wrap=False)
