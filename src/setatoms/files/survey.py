"""Look at a whole table before using it: what each column holds, from the first row to the last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from setatoms.files.cells import Cells, Chunk, Table, all_dates, is_missing, parse_boolean
from setatoms.files.errors import NotNumbersError, located

MOST_VALUES = 20


@dataclass
class NumberColumn:
    """A column of numbers."""

    name: str
    n_missing: int = 0
    low: float = np.inf
    high: float = -np.inf

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
        if len(present):
            self.low = min(self.low, float(present.min()))
            self.high = max(self.high, float(present.max()))


@dataclass
class WordColumn:
    """A column that holds other things than numbers.

    Attributes
    ----------
    values : dict of str to int
        How often each value occurs, for up to 21 values.
    dates : bool
        Whether all values look like dates or times.
    booleans : bool
        Whether all values are true or false, yes or no.
    """

    name: str
    missing: frozenset[str]
    n_missing: int = 0
    values: dict[str, int] = field(default_factory=dict)
    dates: bool = True
    booleans: bool = True

    @property
    def many(self) -> bool:
        """Whether there are too many values to make columns of."""
        return len(self.values) > MOST_VALUES

    def take(self, words: Iterable[str | None]) -> None:
        """Take in the words of further rows."""
        if self.many and not self.dates and not self.booleans:
            return  # nothing more to learn
        counts: dict[str, int] = {}
        for word in words:
            if is_missing(word, self.missing):
                self.n_missing += 1
            else:
                stripped = (word or "").strip()
                counts[stripped] = counts.get(stripped, 0) + 1
        self.dates = self.dates and all_dates(counts)
        self.booleans = self.booleans and all(parse_boolean(w) is not None for w in counts)
        for word, count in counts.items():
            if word in self.values or not self.many:
                self.values[word] = self.values.get(word, 0) + count


@dataclass(frozen=True)
class Survey:
    """What a table holds.

    Attributes
    ----------
    n_rows : int
        How many rows it has.
    numbers, words : dict
        Its columns by name.
    opaque : dict of str to str
        Columns that are neither, and what they are.
    """

    n_rows: int
    numbers: dict[str, NumberColumn]
    words: dict[str, WordColumn]
    opaque: dict[str, str]


def survey(
    table: Table,
    *,
    skip: Sequence[str] = (),
    as_words: Sequence[str] = (),
    count_values: bool = False,
    on_chunk: Callable[[int], None] | None = None,
) -> Survey:
    """Read a table once and say what each column holds.

    A column is one of numbers only if all its cells are, missing ones aside. An infinite number is
    an error, since nothing can be learned from it.

    Parameters
    ----------
    table : Table
        What to read.
    skip : sequence of str
        Columns not to look at.
    as_words : sequence of str
        Columns to take as words, even if they hold numbers.
    count_values : bool, default=False
        Whether the values of every column of words must be complete; may read the table twice.
    on_chunk : callable, optional
        Called with the number of rows after every chunk.
    """
    missing = table.missing
    left_out = {*skip, *table.opaque}
    names = [name for name in table.names if name not in left_out]
    words = {name: WordColumn(name, missing) for name in names if name in as_words}
    numbers = {name: NumberColumn(name) for name in names if name not in words}
    n_rows, late = 0, []
    for chunk in table.chunks(names):
        cells, demoted = _read(chunk, list(numbers), list(words))
        for name in demoted:
            # what it held before looked like numbers, and its words were not kept
            late += [name] if n_rows else []
            column = numbers.pop(name)
            fresh = column.empty
            words[name] = WordColumn(name, missing, column.n_missing, {}, fresh, fresh)
        _take(chunk, cells, table, numbers, words)
        n_rows += cells.n_rows
        if on_chunk is not None:
            on_chunk(cells.n_rows)
    if late and count_values:
        pinned = [*as_words, *late]
        return survey(table, skip=skip, as_words=pinned, count_values=True, on_chunk=on_chunk)
    ordered = {name: words[name] for name in names if name in words}
    return Survey(
        n_rows, numbers, ordered, {n: t for n, t in table.opaque.items() if n not in skip}
    )


def _read(chunk: Chunk, numbers: list[str], words: list[str]) -> tuple[Cells, list[str]]:
    """Read a chunk, and name the columns that turned out not to be numbers."""
    try:
        return chunk.read(numbers, words), []
    except NotNumbersError as error:
        demoted = [cell.column for cell in error.cells]
    left = [name for name in numbers if name not in demoted]
    return chunk.read(left, [*words, *demoted]), demoted


def _take(
    chunk: Chunk,
    cells: Cells,
    table: Table,
    numbers: dict[str, NumberColumn],
    words: dict[str, WordColumn],
) -> None:
    for column, values in zip(numbers.values(), cells.numbers.T, strict=True):
        if np.isinf(values).any():
            raise infinite(table.name, chunk, column.name, values)
        column.take(values)
    for name, column_words in cells.words.items():
        words[name].take(column_words)


def infinite(file: str, chunk: Chunk, column: str, values: NDArray[np.float64]) -> ValueError:
    """Return the error for the first infinite one of `values` (n_rows,)."""
    row = int(np.flatnonzero(np.isinf(values))[0])
    return located(
        file,
        "the value is infinite or too large for a double; leave it empty if it is unknown, or "
        "drop the column",
        place=chunk.place(row),
        column=column,
    )
