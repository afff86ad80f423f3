"""From the columns of a table to the features of a model, the same at every reading."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms.files.engine import CHUNK_ROWS, Batch, quoted_text
from setatoms.files.errors import FileError, listed, located, quoted
from setatoms.files.names import unique_names
from setatoms.files.options import ReadOptions
from setatoms.files.tables import Table, TableColumn
from setatoms.files.written import (
    AROUND,
    FALSE_WORDS,
    TRUE_WORDS,
    WHOLE,
    Style,
    as_value,
    clean,
    is_missing,
)

Matrix = NDArray[np.float64]

_NAME_LENGTH = 60
_KINDS = ("number", "boolean", "one-hot")
_AROUND = quoted_text(AROUND)
# Between the parts of a note on cells that are not what they should be.
_CELL, _PART = "\x1e", "\x1f"
_SHOWN = 60
_CELLS_AT_ONCE = 1 << 18
# In place of the name of a column: cells beyond the last one.
TOO_MUCH = "\x1d"


@dataclass(frozen=True)
class Column:
    """A column of the table that is used.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"number", "boolean", "one-hot"}
        Whether it is taken as it is, as 0 and 1, or as one feature for each of its `values`.
    values : tuple of str
        The values that have a feature; another one at scoring is 0 in all of them.
    marks : tuple of str or None
        The decimal mark and what groups thousands, where numbers are not written as programs do.
    """

    name: str
    kind: str = "number"
    values: tuple[str, ...] = ()
    marks: tuple[str, str] | None = None

    @property
    def labels(self) -> list[str]:
        """The names of its features."""
        if self.kind != "one-hot":
            return [self.name]
        return [f"{self.name}={value}"[:_NAME_LENGTH] for value in self.values]

    def sql(self, column: TableColumn, table: Table) -> str:
        """Return an expression for the number of a cell: of a value, its place; else null."""
        if self.kind == "time":
            return column.time()
        if self.kind == "number":
            number = column.number()
            for value in table.stand_ins:
                number = f"nullif({number}, {value!r})"
            return number
        typed = column.kind == "number" or (column.kind == "boolean" and column.values is None)
        if self.kind == "boolean" and typed:
            return f"cast({column.cell} as double)"
        word = f"trim({column.text()}, {_AROUND})"
        if self.kind == "boolean":
            words = (TRUE_WORDS | {"1"}, FALSE_WORDS | {"0"})
            yes, no = (", ".join(map(quoted_text, sorted(some))) for some in words)
            word = f"lower({word})"
            return f"case when {word} in ({yes}) then 1.0 when {word} in ({no}) then 0.0 end"
        values = ", ".join(quoted_text(as_value(value)) for value in self.values)
        word = f"regexp_replace({word}, '{WHOLE}', '\\1')"
        place = f"coalesce(list_position([{values}], {word}), 0)"
        return f"case when not {table.is_missing(column.text())} then {place} end"


class BadCells:
    """Cells that are not what their column holds otherwise: counts, and the first of each column.

    Of a column that is one-hot these are values that no feature stands for.

    Parameters
    ----------
    table : Table
        What they are in.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self.counts: Counter[str] = Counter()
        self.first: dict[str, tuple[int, str]] = {}
        self._new: set[str] = set()

    def add(self, first_row: int, columns: Sequence[Column], notes: Sequence[str | None]) -> None:
        """Take in what is said of the cells of further rows."""
        if not any(notes):
            return
        for row in [i for i, note in enumerate(notes) if note]:
            for cell in str(notes[row]).split(_CELL)[:-1]:
                place, value = cell.split(_PART, 1)
                column = columns[int(place)]
                self.counts[column.name] += 1
                self.first.setdefault(column.name, (first_row + row, value))
                if column.kind == "one-hot":
                    self._new.add(column.name)

    def detached(self) -> BadCells:
        """Return the same cells of a table that is only known."""
        cells = copy(self)
        cells._table = self._table.detached()
        return cells

    def merge(self, first_row: int, others: BadCells) -> None:
        """Take in what was found in further rows, the first of which is `first_row`."""
        self.counts += others.counts
        for name, (row, value) in others.first.items():
            self.first.setdefault(name, (first_row + row, value))
        self._new |= others._new

    @property
    def worst(self) -> str | None:
        """The first column that has a cell which is no number."""
        return next((name for name in self.first if name not in self._new), None)

    def error(self, name: str) -> FileError:
        """Return the error for the first bad cell of a column."""
        row, value = self.first[name]
        if name == TOO_MUCH:
            what = f"more cells than there are columns: {quoted(value)}"
            return located(self._table.name, what, place=self._table.place(row))
        hint = self._table.remedies.decimal if "," in value else ""
        return located(
            self._table.name, f"{quoted(value)} is not a number{hint}",
            place=self._table.place(row), column=name,
        )  # fmt: skip

    def notes(self, n_rows: int, used: Sequence[str]) -> list[str]:
        """Return a sentence on each column in use that has bad cells."""
        found = []
        for name in used:
            if count := self.counts[name]:
                row, value = self.first[name]
                verb, first = ("is", "") if count == 1 else ("are", "the first ")
                where = f"{first}{quoted(value)}, {self._table.place(row)}"
                cells = f"{count:,} of {n_rows:,} cells of {quoted(name)}"
                if name in self._new:
                    have = "has a value" if count == 1 else "have values"
                    found.append(f"{cells} {have} that the model never saw: {where}")
                else:
                    found.append(
                        f"{cells} {verb} no number: {where}; treated as missing"
                        f"{self._table.remedies.strict}"
                    )
        if count := self.counts[TOO_MUCH]:
            row, value = self.first[TOO_MUCH]
            have = "has" if count == 1 else "have"
            found.append(
                f"{count:,} of {n_rows:,} rows {have} more cells than there are columns: left out "
                f"{quoted(value)}, {self._table.place(row)}{self._table.remedies.strict}"
            )
        return found


class Rows(NamedTuple):
    """Some consecutive rows of a table.

    Attributes
    ----------
    features : ndarray of shape (n_rows, n_features)
        As a model wants them, NaN where missing.
    words : dict of str to list
        Further columns, as text.
    times : ndarray of shape (n_rows,) or None
        When the rows were, in seconds since 1970.
    """

    features: Matrix
    words: dict[str, list[str | None]]
    times: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Encoding:
    """How the columns of a table become features.

    Parameters
    ----------
    columns : tuple of Column
        The columns used, in the order of the features.
    missing : tuple of str
        Further words for a missing value.

    Examples
    --------
    >>> encoding = Encoding((Column("size"), Column("kind", "one-hot", ("a", "b"))))
    >>> encoding.features
    ['size', 'kind=a', 'kind=b']
    >>> Encoding.from_json(encoding.to_json()) == encoding
    True
    """

    columns: tuple[Column, ...]
    missing: tuple[str, ...] = ()

    def options(self, given: ReadOptions) -> ReadOptions:
        """Return options that read a table as it was read when this encoding was chosen."""
        marks = {column.name: column.marks for column in self.columns if column.marks}
        return replace(given, missing=(*given.missing, *self.missing), marks=marks)

    @property
    def features(self) -> list[str]:
        """The names of the features, all different."""
        return unique_names([label for column in self.columns for label in column.labels])[0]

    def check(self, table: Table) -> None:
        """Raise if `table` lacks a column, or has lists or the like in one."""
        absent = [c.name for c in self.columns if c.name not in table.columns]
        if absent:
            raise FileError(
                f"{table.name} lacks what the model needs: {listed(absent)}; "
                f"it has {listed(table.names)}{_nearest(absent[0], table.names)}"
            )
        nested = [c.name for c in self.columns if table.columns[c.name].kind == "opaque"]
        if nested:
            raise FileError(f"{table.name}: {listed(nested)} hold neither numbers nor text")

    def expand(self, numbers: Matrix) -> Matrix:
        """Return features (n_rows, n_features) of the numbers (n_rows, n_columns) of columns."""
        if all(column.kind != "one-hot" for column in self.columns):
            return numbers
        parts: list[Matrix] = []
        for column, values in zip(self.columns, numbers.T, strict=True):
            if column.kind == "one-hot":
                flags = values[:, None] == np.arange(1, len(column.values) + 1)
                parts.append(np.where(np.isnan(values)[:, None], np.nan, flags))
            else:
                parts.append(values[:, None])
        return np.hstack(parts)

    def to_json(self) -> dict[str, Any]:
        """Return plain values from which `from_json` makes the same encoding."""
        plain: dict[str, Any] = {"columns": [_column_json(column) for column in self.columns]}
        return plain | {"missing": list(self.missing)} if self.missing else plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Encoding:
        """Return the encoding that `to_json` wrote, or raise if it is none."""
        try:
            columns = tuple(_parse_column(entry) for entry in plain["columns"])
            names = [column.name for column in columns]
            if len(set(names)) < len(names):
                raise ValueError("a column occurs twice")
            missing = plain.get("missing", [])
            if not isinstance(missing, list) or not all(isinstance(w, str) for w in missing):
                raise ValueError(f"missing={missing!r:.80}")
        except (KeyError, TypeError, ValueError) as error:
            raise FileError(f"the model does not say how to read a table ({error!r})") from None
        return cls(columns, tuple(missing))


def _nearest(name: str, names: Sequence[str]) -> str:
    """Return a question after the name most like an absent one, if one is."""
    plain = {other.casefold(): other for other in reversed(names)}
    near = get_close_matches(name.casefold(), plain, n=1, cutoff=0.7)
    return f"; is {quoted(plain[near[0]])} {quoted(name)}? then rename it" if near else ""


def _column_json(column: Column) -> dict[str, Any]:
    plain: dict[str, Any] = {"name": column.name, "kind": column.kind}
    plain |= {"values": list(column.values)} if column.kind == "one-hot" else {}
    return plain | ({"marks": list(column.marks)} if column.marks else {})


def _parse_column(entry: Any) -> Column:
    name, kind, values = entry["name"], entry["kind"], entry.get("values", [])
    plain = isinstance(name, str) and kind in _KINDS and isinstance(values, list)
    if not plain or not all(isinstance(value, str) for value in values):
        raise ValueError(f"column {entry!r:.80}")
    return Column(name, kind, tuple(values), _parse_marks(entry.get("marks")))


def _parse_marks(entry: Any) -> tuple[str, str] | None:
    if entry is None:
        return None
    decimal, thousands = entry
    if decimal not in (".", ",") or thousands not in ("", ".", ",", " ", "'"):
        raise ValueError(f"marks {entry!r:.80}")
    return decimal, thousands


def read_columns(
    table: Table, columns: Sequence[Column], also: Sequence[str], bad: BadCells
) -> Iterator[Batch]:
    """Yield the numbers (n_rows, n_columns) of columns and the words of others, batch by batch.

    Parameters
    ----------
    table : Table
        What to read.
    columns : sequence of Column
        The columns to read as numbers.
    also : sequence of str
        Columns whose words to return besides.
    bad : BadCells
        Is told of the cells that are no numbers.
    """
    known, n_rows = [*columns, Column(TOO_MUCH)], 0
    batches = _stream if table.records is None else _read_plainly
    try:
        for batch in batches(table, columns, also):
            bad.add(n_rows, known, batch.words[0])
            n_rows += len(batch.numbers)
            if table.strict and bad.worst is not None:
                raise bad.error(bad.worst)
            yield Batch(batch.numbers, batch.words[1:])
    except FileError as error:
        if str(error).startswith(table.name):
            raise
        raise FileError(f"{table.name}: {error}") from None


def _stream(table: Table, columns: Sequence[Column], also: Sequence[str]) -> Iterator[Batch]:
    """Yield numbers, notes on cells that are none, and words, as DuckDB finds them."""
    inner, outer, tests = [], [], []
    for j, column in enumerate(columns):
        own = table.columns[column.name]
        inner.append(f"{column.sql(own, table)} as n{j}")
        outer.append(f"coalesce(n{j}, 'nan'::double)")
        if column.kind != "time" and own.kind != "opaque":
            # numbers are made text where they must be, and nowhere else
            typed = own.kind == "number"
            inner.append(f"{own.cell if typed else own.text()} as t{j}")
            if column.kind == "one-hot":
                odd = f"n{j} = 0"
            elif typed:
                odd = f"n{j} is null and isinf(try_cast(t{j} as double))"
            else:
                odd = f"n{j} is null and t{j} is not null and not {table.is_missing(f't{j}')}"
            tests.append(f"case when {odd} then {_note_sql(j)} end")
    if table.too_much is not None:
        inner.append(f"{table.too_much} as t{len(columns)}")
        test = f"coalesce(trim(t{len(columns)}), '') != ''"
        tests.append(f"case when {test} then {_note_sql(len(columns))} end")
    for j, name in enumerate(also):
        inner.append(f"{table.columns[name].text()} as w{j}")
    note = f"concat({', '.join(tests)})" if tests else "''"
    words = [f"nullif({note}, '')", *(f"w{j}" for j in range(len(also)))]
    rows = f"select {', '.join(inner) or '1'} from {table.source}"
    sql = f"select {', '.join([*outer, *words])} from ({rows})"
    return table.engine.stream(sql, len(columns))


def _note_sql(j: int) -> str:
    """Return an expression for a note on the cell t`j`."""
    word = f"regexp_replace(cast(t{j} as varchar)[:{_SHOWN}], '[{_CELL}{_PART}]', ' ', 'g')"
    return f"'{j}{_PART}' || {word} || '{_CELL}'"


def _note(j: int, cell: str) -> str:
    """Return the same in Python."""
    word = cell[:_SHOWN].replace(_CELL, " ").replace(_PART, " ")
    return f"{j}{_PART}{word}{_CELL}"


def _read_plainly(table: Table, columns: Sequence[Column], also: Sequence[str]) -> Iterator[Batch]:
    """Yield the same from the cells of text, in plain Python."""
    places = {name: j for j, name in enumerate(table.columns)}
    readers = [(places[c.name], _reader(c, table)) for c in columns]
    records = table.records() if table.records is not None else iter(())
    while rows := list(islice(records, max(16, _CELLS_AT_ONCE // len(places)))):
        numbers, notes = np.empty((len(rows), len(columns))), []
        for i, row in enumerate(rows):
            note = ""
            for j, (place, read) in enumerate(readers):
                number = read(row[place])
                numbers[i, j] = np.nan if number is None else number
                if number is None or (columns[j].kind == "one-hot" and number == 0.0):
                    note += _note(j, row[place])
            if clean(row[-1]):
                note += _note(len(columns), row[-1])
            notes.append(note or None)
        words = [[row[places[name]] for row in rows] for name in also]
        yield Batch(numbers, [notes, *words])


def _reader(column: Column, table: Table) -> Callable[[str], float | None]:
    """Return a function from a cell to its number, NaN for a missing one, None for any other."""
    style, stand_ins = table.columns[column.name].style or Style(), set(table.stand_ins)
    values = {as_value(value): float(i) for i, value in enumerate(column.values, 1)}

    def read(cell: str) -> float | None:
        if is_missing(cell, table.missing) or column.kind == "time":
            return math.nan
        if column.kind == "one-hot":
            return values.get(as_value(cell), 0.0)
        word = clean(cell).lower()
        if column.kind == "boolean" and word in TRUE_WORDS | FALSE_WORDS:
            return float(word in TRUE_WORDS)
        number = style.read(cell)
        if number is None or not math.isfinite(number):
            return None
        return math.nan if number in stand_ins else number

    return read


def feature_chunks(
    table: Table,
    encoding: Encoding,
    also: Sequence[str] = (),
    bad: BadCells | None = None,
    time: str | None = None,
) -> Iterator[Rows]:
    """Yield the features of a table, chunk by chunk.

    Parameters
    ----------
    table : Table
        What to read.
    encoding : Encoding
        How its columns become features.
    also : sequence of str
        Columns whose words to return besides.
    bad : BadCells, optional
        Is told of the cells that are no numbers.
    time : str, optional
        The column that tells when rows were.
    """
    encoding.check(table)
    bad = bad or BadCells(table)
    if table.kept is not None:
        yield from _kept_chunks(table.kept)
        return
    wrong = [
        column.name
        for column in encoding.columns
        if column.kind == "number" and not _may_be_number(table.columns[column.name])
    ]
    columns = [*encoding.columns, *([Column(time, "time")] if time else [])]
    for batch in read_columns(table, columns, also, bad):
        for name in wrong:
            if name in bad.first:
                raise bad.error(name)
        features = encoding.expand(batch.numbers[:, : len(encoding.columns)])
        words = dict(zip(also, batch.words, strict=True))
        yield Rows(features, words, batch.numbers[:, -1] if time else None)


def _kept_chunks(kept: Rows) -> Iterator[Rows]:
    for start in range(0, len(kept.features), CHUNK_ROWS):
        part = slice(start, start + CHUNK_ROWS)
        words = {name: words[part] for name, words in kept.words.items()}
        yield Rows(kept.features[part], words, None if kept.times is None else kept.times[part])


def _may_be_number(column: TableColumn) -> bool:
    return column.numeric or column.kind == "boolean"
