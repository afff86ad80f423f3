"""Tables as data, and their plain text and Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from benchmarks.markdown import pipes

Emphasis = Literal["", "best", "near"]


@dataclass(frozen=True)
class Entry:
    """What stands in one place of a table.

    Attributes
    ----------
    text : str
        What is shown.
    value : float or None
        What the column is sorted by, if not by the text.
    emphasis : {"", "best", "near"}
        Bold for the best of a table, italics for those next to it.
    partial : bool
        Whether fewer datasets were averaged than elsewhere.
    beside : Entry or None
        The paper's number.
    """

    text: str
    value: float | None = None
    emphasis: Emphasis = ""
    partial: bool = False
    beside: Entry | None = None


@dataclass(frozen=True)
class Column:
    """The head of a column, `group` over all neighbours that share it."""

    name: str
    group: str = ""


@dataclass(frozen=True)
class Table:
    """A table with what must be said below it.

    Attributes
    ----------
    title : str
    columns : list of Column
    rows : list of list of Entry
    notes : list of str
    block : int
        A rule is drawn after every `block` rows; 0 for none.
    """

    title: str
    columns: list[Column]
    rows: list[list[Entry]]
    notes: list[str] = field(default_factory=list)
    block: int = 0

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The groups of columns from left to right, each with how many columns it spans."""
        runs = groupby(self.columns, key=lambda column: column.group)
        return [(name, len(list(columns))) for name, columns in runs]

    def is_numeric(self, column: int) -> bool:
        """Return whether a column is sorted by values and stands to the right."""
        return any(row[column].value is not None for row in self.rows)


def number(value: float | None, digits: int) -> Entry:
    """Return a cell with a number, or a dash where there is none."""
    return Entry("-") if value is None else Entry(f"{value:.{digits}f}", value)


def count_of(amount: int, noun: str) -> str:
    """Return an amount with its noun.

    Examples
    --------
    >>> count_of(1, "dataset"), count_of(3, "dataset")
    ('1 dataset', '3 datasets')
    """
    return f"{amount} {noun}" if amount == 1 else f"{amount} {noun}s"


def to_text(table: Table, *, terminal: bool = False) -> str:
    """Return a table for a terminal, or for a pipe where ``*`` marks the best and ``+`` the near.

    Parameters
    ----------
    table : Table
    terminal : bool, default=False
        Whether bold and italics may be switched on by escape sequences.
    """
    style = _ansi if terminal else _plain
    rows = _without_repeats(table)
    plain = [[_cell_text(cell, _plain) for cell in row] for row in rows]
    widths = [
        max(len(column.name), *(len(row[i]) for row in plain), 0)
        for i, column in enumerate(table.columns)
    ]
    widths = _widen_for_groups(table, widths)
    lines = [table.title, ""]
    if any(name for name, _ in table.groups):
        lines.append(_group_line(table, widths))
    left = [not table.is_numeric(i) for i in range(len(widths))]
    lines.append(_line([column.name for column in table.columns], widths, left))
    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    for i, (row, shown) in enumerate(zip(rows, plain, strict=True)):
        if i == 0 or (table.block and i % table.block == 0):
            lines.append(rule)
        lines.append(_line(shown, widths, left, [_cell_text(cell, style) for cell in row]))
    notes = ["", *(f"  {note}" for note in table.notes)] if table.notes else []
    return "\n".join([*(line.rstrip() for line in lines), *notes])


def to_markdown(table: Table) -> str:
    """Return a table with its title in Markdown."""
    return f"### {_escape_markdown(table.title)}\n\n{to_markdown_body(table)}"


def to_markdown_body(table: Table) -> str:
    """Return a table for a page in Markdown: bold for the best, italics for the near."""
    heads = [
        _escape_markdown(f"{column.group}: {column.name}" if column.group else column.name)
        for column in table.columns
    ]
    marks = ["---" if i == 0 else "---:" for i in range(len(heads))]
    rows = [[_cell_text(cell, _markdown) for cell in row] for row in table.rows]
    lines = [pipes([heads, marks, *rows])]
    if table.notes:
        lines += ["", _escape_markdown(" ".join(table.notes))]
    return "\n".join(lines)


def _cell_text(cell: Entry, style: Callable[[str, Emphasis], str]) -> str:
    own = style(cell.text + ("!" if cell.partial else ""), cell.emphasis)
    if cell.beside is None:
        return own
    return f"{own} ({style(cell.beside.text, cell.beside.emphasis)})"


def _plain(text: str, emphasis: Emphasis) -> str:
    return text + {"": "", "best": "*", "near": "+"}[emphasis]


def _ansi(text: str, emphasis: Emphasis) -> str:
    # A space where the plain mark would be, so that columns keep their width.
    codes = {"best": "1", "near": "3"}
    return f"\033[{codes[emphasis]}m{text}\033[0m " if emphasis else text


def _markdown(text: str, emphasis: Emphasis) -> str:
    marks = {"": "", "best": "**", "near": "*"}[emphasis]
    return f"{marks}{_escape_markdown(text)}{marks}"


def _escape_markdown(text: str) -> str:
    for character in "\\`*_|<>[]":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())


def _line(
    words: list[str], widths: list[int], left: list[bool], styled: list[str] | None = None
) -> str:
    """Return words in columns; `styled` are the same words with escape sequences."""
    parts = []
    for i, word in enumerate(words):
        padding = " " * (widths[i] - len(word))
        shown = styled[i] if styled else word
        parts.append(shown + padding if left[i] else padding + shown)
    return "  ".join(parts)


def _without_repeats(table: Table) -> list[list[Entry]]:
    """Return the rows of a table in blocks with the first column named once a block."""
    if not table.block:
        return table.rows
    return [
        [Entry(""), *row[1:]] if i % table.block and row[0] == table.rows[i - 1][0] else row
        for i, row in enumerate(table.rows)
    ]


def _widen_for_groups(table: Table, widths: list[int]) -> list[int]:
    """Return the widths, wide enough for the name of each group."""
    widened, start = list(widths), 0
    for name, span in table.groups:
        room = sum(widened[start : start + span]) + 2 * (span - 1)
        widened[start + span - 1] += max(0, len(name) - room)
        start += span
    return widened


def _group_line(table: Table, widths: list[int]) -> str:
    def parts() -> Iterator[str]:
        start = 0
        for name, span in table.groups:
            room = sum(widths[start : start + span]) + 2 * (span - 1)
            yield (f" {name} ".center(room, "-") if name and span > 1 else name.ljust(room))
            start += span

    return "  ".join(parts())
