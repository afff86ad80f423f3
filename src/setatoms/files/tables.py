"""A table that DuckDB reads, and what the first rows say of its columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

from setatoms.files.engine import Engine, quoted_text
from setatoms.files.errors import FileError
from setatoms.files.options import ReadOptions
from setatoms.files.remedies import Remedies
from setatoms.files.written import Style, booleans_of, clean, is_date, is_missing

_SAMPLE_ROWS, _SAMPLE_CELLS = 5_000, 1_000_000
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p")
# Text with more different values is no category.
FEW = 20
# In place of an engine.
_NOTHING: Any = None


@dataclass
class TableColumn:
    """A column of a table.

    Attributes
    ----------
    name : str
        Its name, unlike all others.
    cell : str
        An expression for its cells in SQL.
    kind : {"number", "boolean", "text", "date", "opaque"}
        What its cells are; for text, see the others.
    style : Style or None
        How text writes numbers, if it does.
    values : dict or None
        How often each value of text occurs in the first rows, if they are few.
    codes : bool
        Whether some numbers of the first rows have zeros in front.
    day_first : bool
        Whether dates as 3/4/2024 are in April.
    odd : str or None
        Of text that mostly writes numbers, the most frequent cell that writes none.
    """

    name: str
    cell: str
    kind: str
    style: Style | None = None
    values: dict[str, int] | None = None
    codes: bool = False
    day_first: bool = True
    odd: str | None = None
    _is_text: bool = False

    @property
    def numeric(self) -> bool:
        """Whether its cells are numbers."""
        return self.kind == "number" or (self.kind == "text" and self.style is not None)

    def number(self) -> str:
        """Return an expression for the finite number in a cell, null where there is none."""
        if self.style is not None:
            return self.style.sql(self.cell)
        number = f"try_cast({self.cell} as double)"
        return f"case when isfinite({number}) then {number} end"

    def time(self) -> str:
        """Return an expression for seconds since 1970, null where there is no date."""
        if self.kind != "date" or not self._is_text:
            return f"epoch(try_cast({self.cell} as timestamp))"
        order = ("%d{0}%m{0}%Y" if self.day_first else "%m{0}%d{0}%Y",)
        days = [day.format(mark) for mark in "./-" for day in order]
        shapes = [f"{day}{clock}" for day in days for clock in _CLOCKS]
        formats = ", ".join(map(quoted_text, shapes))
        read = (
            f"coalesce(try_cast({self.cell} as timestamp), try_strptime({self.cell}, [{formats}]))"
        )
        return f"epoch({read})"

    def text(self) -> str:
        """Return an expression for a cell as text."""
        return self.cell if self.kind == "text" else f"cast({self.cell} as varchar)"


@dataclass
class Table:
    """A table that DuckDB reads.

    Attributes
    ----------
    name : str
        The file's name, for messages.
    engine : Engine
        Reads it.
    source : str
        What to select from.
    columns : dict of str to TableColumn
        Its columns by name.
    notes : list of str
        What was done to read it.
    missing : frozenset of str
        Words that stand for a missing value, in lower case.
    n_rows : int or None
        How many rows it has, where that is known before reading.
    about_rows : int
        About how many rows it has.
    place : callable
        Returns where a row, counted from 0, is in the file, as ``line 3``.
    strict : bool
        Whether a cell that is no number among numbers is an error.
    too_much : str or None
        An expression for a cell beyond the last column, null where there is none.
    holds : list
        What must live as long as the table: files, copies of them.
    kept : Rows or None
        The features of all rows, where they are in memory already.
    records : callable or None
        Yields the cells of text, row by row, in plain Python: for very wide tables, of which
        DuckDB would hold 2,048 rows at a time.
    remedies : Remedies
        How notes and errors name what would help.
    """

    name: str
    engine: Engine
    source: str
    columns: dict[str, TableColumn]
    notes: list[str]
    missing: frozenset[str]
    n_rows: int | None
    about_rows: int
    place: Callable[[int], str]
    strict: bool = False
    too_much: str | None = None
    holds: list[Any] = field(default_factory=list)
    kept: Any = None
    records: Callable[[], Iterator[list[str]]] | None = None
    remedies: Remedies = field(default_factory=Remedies)

    @cached_property
    def stand_ins(self) -> list[float]:
        """Numbers that stand for no value."""
        read = (Style().read(word) for word in sorted(self.missing))
        return [number for number in read if number is not None]

    def detached(self) -> Table:
        """Return what is known of the table without what reads it; that can be sent elsewhere."""
        return replace(self, engine=_NOTHING, holds=[], kept=None)

    @property
    def time_column(self) -> str | None:
        """The first column of dates or times, if there is one."""
        return next((name for name, c in self.columns.items() if c.kind == "date"), None)

    @property
    def names(self) -> list[str]:
        """The names of its columns."""
        return list(self.columns)

    def is_missing(self, cell: str) -> str:
        """Return an expression that tells whether a cell of text stands for no value."""
        words = "|".join(map(re.escape, sorted(self.missing)))
        pattern = quoted_text(rf"(?i)[\s\x{{a0}}]*(?:{words})[\s\x{{a0}}]*")
        return f"regexp_full_match({cell}, {pattern})"


def look(table: Table, options: ReadOptions) -> None:
    """Find out from the first rows what text columns hold."""
    texts = [column for column in table.columns.values() if column.kind == "text"]
    if not texts:
        return
    n_rows = max(100, min(_SAMPLE_ROWS, _SAMPLE_CELLS // len(texts)))
    words = [
        [word for word in some if word is not None and not is_missing(word, table.missing)]
        for some in _first_words(table, texts, n_rows)
    ]
    decimal, thousands = options.decimal, options.thousands
    styles = [Style.of(some, decimal, thousands) if some else Style() for some in words]
    if decimal is None and _commas_mark_decimals(styles, words):
        styles = [Style.of(some, ",", thousands) if some else Style() for some in words]
        table.notes.append("read commas as decimal marks")
    for column, style, some in zip(texts, styles, words, strict=True):
        # as it was when the model learned, if that makes numbers of the cells
        known = options.marks.get(column.name) if decimal is None and thousands is None else None
        _settle(column, (known and some and Style.of(some, *known)) or style, some)


def _first_words(
    table: Table, columns: Sequence[TableColumn], n_rows: int
) -> list[list[str | None]]:
    """Return the cells of columns of text in the first rows."""
    if table.records is not None:
        rows = list(islice(table.records(), n_rows))
        return [[row[j] for row in rows] for j in range(len(columns))]
    cells = ", ".join(column.cell for column in columns)
    words: list[list[str | None]] = [[] for _ in columns]
    try:
        for batch in table.engine.stream(f"select {cells} from {table.source} limit {n_rows}", 0):
            for some, more in zip(words, batch.words, strict=True):
                some += more  # noqa: PLW2901  in place
    except FileError as error:
        raise FileError(f"{table.name} cannot be read as a table: {error}") from None
    return words


def _commas_mark_decimals(styles: Sequence[Style | None], words: Sequence[list[str]]) -> bool:
    """Tell whether commas mark decimals in some columns and points in none."""
    known = [style for style, some in zip(styles, words, strict=True) if style is not None and some]
    points = [
        some
        for style, some in zip(styles, words, strict=True)
        if style is not None and style.decimal == "." and any("." in word for word in some)
    ]
    grouped = re.compile(r"\D*\d{1,3}(?:\.\d{3})+\D*")
    real_points = any(not grouped.fullmatch(w) for some in points for w in some if "." in w)
    return any(style.decimal == "," for style in known) and not real_points


def _settle(column: TableColumn, style: Style | None, words: Sequence[str]) -> None:
    """Write to a text column what its first rows say."""
    stripped = [clean(word) for word in words]
    distinct = dict.fromkeys(stripped)
    if stripped and all(map(is_date, list(distinct)[:1000])):
        column.kind, column._is_text = "date", True
        column.day_first = _is_day_first(distinct)
        return
    column.style = style
    column.codes = any(re.fullmatch(r"0\d{2,}", word) for word in distinct)
    if style is None and len(distinct) <= FEW:
        column.values = {word: stripped.count(word) for word in distinct}
        if booleans_of(distinct) is not None:
            column.kind = "boolean"
    elif style is None:
        counts = [
            Counter(word for word in stripped if each.read(word) is None)
            for each in (Style(), Style(decimal=","))
        ]
        odd = min(counts, key=Counter.total)
        column.odd = odd.most_common(1)[0][0] if 2 * odd.total() < len(stripped) else None


def _is_day_first(dates: Iterable[str]) -> bool:
    """Tell whether dates begin with the day, where they do not begin with the year."""
    parts = [re.match(r"(\d{1,2})([./-])(\d{1,2})\D", date) for date in dates]
    found = [part for part in parts if part is not None]
    if any(int(part[1]) > 12 for part in found):
        return True
    # without a sign of either, points are European and slashes American
    return not any(int(part[3]) > 12 for part in found) and all(part[2] != "/" for part in found)
