"""Read a whole table once: what each column holds, and its numbers, if they fit in memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from setatoms.files.encoding import BadCells, Column, read_columns
from setatoms.files.engine import Batch
from setatoms.files.tables import FEW, Table, TableColumn
from setatoms.files.written import as_value, booleans_of, is_missing, nearly_all

Matrix = NDArray[np.float64]

# Names of columns that say which row it is, or what a thing is called.
_IDENTIFIER = re.compile(
    r"(?:.*[\s_\-.])?(?:id|ids|key|uuid|guid|index|idx|nr\.?|no\.?|num|code|zip|zipcode|postcode|plz|"
    r"fips|isbn|ssn|phone|tel|fax|sku|barcode|ean|upc)|unnamed: ?\d+|.*(?:nummer|number|[a-z]nr)",
)
_LEAST_ROWS = 8
_TIME = re.compile(r".*(?:time|date|epoch|stamp|created|updated|\bts\b).*|t|ts", re.I)


@dataclass
class NumberColumn:
    """What a column of numbers holds.

    Attributes
    ----------
    n_missing, n_bad : int
        How many cells are missing, and how many are something else.
    low, high : float
        The range.
    whole, rising, consecutive : bool
        Whether all numbers are whole, each larger than the one before, by one.
    """

    name: str
    n_missing: int = 0
    n_bad: int = 0
    low: float = np.inf
    high: float = -np.inf
    whole: bool = True
    rising: bool = True
    consecutive: bool = True
    _first: float = np.nan
    _last: float = np.nan

    @property
    def empty(self) -> bool:
        """Whether no row has a value."""
        return self.low > self.high

    @property
    def constant(self) -> bool:
        """Whether all values are the same."""
        return self.low == self.high

    def take(self, values: NDArray[np.float64]) -> None:
        """Take in the values (n_rows,) of further rows."""
        present = values[~np.isnan(values)]
        self.n_missing += len(values) - len(present)
        if not len(present):
            return
        self.low = min(self.low, float(present.min()))
        self.high = max(self.high, float(present.max()))
        self.whole = self.whole and bool((present == np.floor(present)).all())
        steps = np.diff(present, prepend=self._last)
        steps = steps[int(np.isnan(self._last)) :]
        self.rising = self.rising and bool((steps > 0).all())
        self.consecutive = self.consecutive and bool((steps == 1).all())
        self._first = float(present[0]) if np.isnan(self._first) else self._first
        self._last = float(present[-1])

    def merge(self, other: NumberColumn) -> None:
        """Take in what further rows hold, all at once."""
        self.n_missing += other.n_missing
        if other.empty:
            return
        step = other._first - self._last
        joined = self.empty or step > 0, self.empty or step == 1
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.whole = self.whole and other.whole
        self.rising = self.rising and other.rising and joined[0]
        self.consecutive = self.consecutive and other.consecutive and joined[1]
        self._first = other._first if np.isnan(self._first) else self._first
        self._last = other._last


@dataclass
class WordColumn:
    """What a column of text holds.

    Attributes
    ----------
    values : dict of str to int
        How often each value occurs, as long as they are few.
    dates : bool
        Whether the first rows hold dates or times.
    """

    name: str
    values: dict[str, int] = field(default_factory=dict)
    dates: bool = False
    many: bool = False

    @property
    def booleans(self) -> bool:
        """Whether the values mean true and false."""
        return not self.many and booleans_of(self.values) is not None

    def merge(self, other: WordColumn) -> None:
        """Take in what further rows hold, all at once."""
        for value, count in other.values.items():
            if value in self.values or len(self.values) <= FEW:
                self.values[value] = self.values.get(value, 0) + count
        self.many = self.many or other.many or len(self.values) > FEW


@dataclass(frozen=True)
class Survey:
    """What a table holds.

    Attributes
    ----------
    n_rows : int
        How many rows it has.
    numbers, words : dict
        Its columns by name.
    opaque : list of str
        Columns that are neither.
    bad : BadCells
        Cells that are no numbers among numbers.
    kept : dict of str to ndarray, or None
        The numbers of each column (n_rows,) if all fit; text with few values by its place among
        `words`' values, from 1.
    labels : list or None
        The words of the index column, with `kept`.
    times : ndarray of shape (n_rows,) or None
        When rows were, in seconds since 1970, with `kept`; None without a column of dates.
    """

    n_rows: int
    numbers: dict[str, NumberColumn]
    words: dict[str, WordColumn]
    opaque: list[str]
    bad: BadCells
    kept: dict[str, NDArray[np.float64]] | None
    labels: list[str | None] | None
    times: NDArray[np.float64] | None = None


def survey(
    table: Table,
    *,
    skip: Sequence[str] = (),
    as_words: Sequence[str] = (),
    index: str | None = None,
    most_numbers: int = 0,
    on_chunk: Callable[[int], None] | None = None,
) -> Survey:
    """Read a table once and say what each column holds.

    Parameters
    ----------
    table : Table
        What to read.
    skip : sequence of str
        Columns not to look at.
    as_words : sequence of str
        Columns to take as words, even if they hold numbers.
    index : str, optional
        The column whose words name the rows.
    most_numbers : int, default=0
        How many numbers may be kept; none if there are more.
    on_chunk : callable, optional
        Called with the number of rows after every chunk.
    """
    found = survey_part(
        table, skip=skip, as_words=as_words, index=index, most_numbers=most_numbers,
        on_chunk=on_chunk,
    )  # fmt: skip
    _settle(found)
    return found


def merge_surveys(table: Table, parts: Sequence[Survey]) -> Survey:
    """Return what a table holds from what its parts do, in order; changes the first of them."""
    bad, n_rows = BadCells(table), 0
    for part in parts:
        bad.merge(n_rows, part.bad)
        n_rows += part.n_rows
    whole = parts[0]
    for part in parts[1:]:
        for name, number in whole.numbers.items():
            number.merge(part.numbers[name])
        for name, word in whole.words.items():
            word.merge(part.words[name])
    whole = replace(whole, n_rows=n_rows, bad=bad, kept=None, labels=None, times=None)
    _settle(whole)
    return whole


def survey_part(
    table: Table,
    *,
    skip: Sequence[str] = (),
    as_words: Sequence[str] = (),
    index: str | None = None,
    most_numbers: int = 0,
    on_chunk: Callable[[int], None] | None = None,
) -> Survey:
    """Return what `survey` does of some rows of a table, before it is known what the others hold.

    Text that is no number among numbers still counts as missing, and no column became text.
    """
    left_out = {*skip, *([index] if index else [])}
    columns = [column for name, column in table.columns.items() if name not in left_out]
    numeric = [c for c in columns if _is_numeric(c) and c.name not in as_words]
    known = {c.name for c in numeric}
    worded = [c for c in columns if c.name not in known and c.kind != "opaque"]
    watched = [c for c in worded if c.name in as_words or c.values is not None]
    seen = {c.name for c in watched}
    words = {c.name: WordColumn(c.name, {}, c.kind == "date", c.name not in seen) for c in worded}
    numbers = {c.name: NumberColumn(c.name) for c in numeric}
    bad, n_rows = BadCells(table), 0
    parts: list[Matrix] | None = []
    labels: list[str | None] = []
    also = [*(c.name for c in watched), *([index] if index else [])]
    taken = [Column(c.name, "boolean" if c.kind == "boolean" else "number") for c in numeric]
    time, times = table.time_column, []
    timed = [Column(time, "time")] if time is not None and most_numbers else []
    for whole in read_columns(table, [*taken, *timed], also, bad):
        batch = Batch(whole.numbers[:, : len(taken)], whole.words)
        n_more = len(batch.numbers)
        for column, values in zip(numbers.values(), batch.numbers.T, strict=True):
            column.take(values)
        codes = [
            _take(words[c.name], some, table) for c, some in zip(watched, batch.words, strict=False)
        ]
        n_rows += n_more
        if parts is not None:
            parts.append(np.column_stack([batch.numbers, *codes]) if codes else batch.numbers)
            labels += batch.words[-1] if index else []
            times += [whole.numbers[:, -1]] if timed else []
            if n_rows * (len(numeric) + len(watched)) > most_numbers:
                parts = None
        if on_chunk is not None:
            on_chunk(n_more)
    kept = None
    if parts is not None:
        all_rows = np.concatenate([np.empty((0, len(numeric) + len(watched))), *parts])
        names = [c.name for c in (*numeric, *watched)]
        kept = {name: all_rows[:, j] for j, name in enumerate(names)}
    opaque = [c.name for c in columns if c.kind == "opaque"]
    return Survey(
        n_rows, numbers, words, opaque, bad, kept, labels if index else None,
        np.concatenate(times) if times and kept is not None else None,
    )  # fmt: skip


def _is_numeric(column: TableColumn) -> bool:
    return column.numeric or (column.kind == "boolean" and column.values is None)


def _take(column: WordColumn, words: Sequence[str | None], table: Table) -> NDArray[np.float64]:
    """Count the values of further rows; return their places, NaN where missing."""
    places = {value: float(i) for i, value in enumerate(column.values, 1)}
    codes = np.full(len(words), np.nan)
    for i, word in enumerate(words):
        if is_missing(word, table.missing):
            continue
        value = as_value(word or "")
        if value not in places:
            if len(places) > FEW:
                column.many = True
                codes[i] = 0.0
                continue
            places[value] = len(places) + 1.0
            column.values[value] = 0
        column.values[value] += 1
        codes[i] = places[value]
    column.many = column.many or len(column.values) > FEW
    return codes


def _settle(found: Survey) -> None:
    """Tell missing cells from bad ones, and text from numbers, once all rows are known."""
    for name, column in found.numbers.items():
        column.n_bad = found.bad.counts[name]
        column.n_missing -= column.n_bad
    _demote(found.numbers, found.words, found.n_rows)


def _demote(numbers: dict[str, NumberColumn], words: dict[str, WordColumn], n_rows: int) -> None:
    """Take columns of which too few cells are numbers for text."""
    for name, column in list(numbers.items()):
        n_present = n_rows - column.n_missing
        if n_present and not nearly_all(n_present - column.n_bad, n_present):
            del numbers[name]
            words[name] = WordColumn(name, {}, False, True)


def no_measurement(number: NumberColumn, column: TableColumn) -> str | None:
    """Return what a column of numbers is, if it is no measurement.

    Parameters
    ----------
    number : NumberColumn
        What it holds.
    column : TableColumn
        Its name and how it is written.
    """
    if number.empty or number.constant:
        return None
    name = number.name.strip()
    timed = number.rising or _TIME.fullmatch(name)
    for unit, factor in (("seconds", 1.0), ("milliseconds", 1e3), ("microseconds", 1e6)):
        if timed and 6e8 * factor <= number.low and number.high <= 2.5e9 * factor:
            return f"times in {unit}"
    if not number.whole:
        return None
    named = _IDENTIFIER.fullmatch(name.lower()) or re.fullmatch(r".*[a-z]I[Dd]", name)
    if column.codes:
        return "identifiers with leading zeros"
    years = number.low >= 1800 and number.high <= 2100
    if number.consecutive and number.high - number.low >= _LEAST_ROWS and not years:
        return "row numbers"
    if any(_are_days(number, 100.0**i) for i in range(4)):
        return "dates as yyyymmdd"
    return "identifiers or codes, by their name" if named else None


def _are_days(number: NumberColumn, unit: float) -> bool:
    """Tell whether numbers are days as yyyymmdd, followed by hours and so on below `unit`."""
    ends = (number.low // unit, number.high // unit)
    return all(
        1800 <= day // 10000 <= 2200 and 1 <= day // 100 % 100 <= 12 and 1 <= day % 100 <= 31
        for day in ends
    )
