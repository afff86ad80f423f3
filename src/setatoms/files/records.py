"""Rows that come one by one, as JSON objects or cells of text, into the features of a model."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from setatoms.files.encoding import Column, Encoding
from setatoms.files.errors import FileError, listed, quoted
from setatoms.files.written import (
    FALSE_WORDS,
    MISSING,
    TRUE_WORDS,
    Style,
    as_value,
    clean,
    is_missing,
)

_DELIMITERS = (",", ";", "\t", "|")
_TRUE, _FALSE = TRUE_WORDS | {"1"}, FALSE_WORDS | {"0"}

Reader = partial[float]


class LineParser:
    """From a line of text to the numbers of a row.

    A line that begins with ``{`` is a JSON object. Any other one is a row of cells; their names are
    those of the last line that named all columns of the model. After a line that names others,
    cells are not read until the next one that names all.

    Parameters
    ----------
    encoding : Encoding
        The columns that a model needs.
    header : sequence of str, optional
        The names of the cells, where they are known.
    delimiter : str, default=","
        What separates them.

    Examples
    --------
    >>> parser = LineParser(Encoding((Column("size"), Column("mass"))))
    >>> parser.parse("mass;size") is None
    True
    >>> parser.parse("3;1.5"), parser.parse('{"size": 2, "mass": null, "name": "x"}')
    ([1.5, 3.0], [2.0, nan])
    """

    def __init__(
        self, encoding: Encoding, header: Sequence[str] | None = None, delimiter: str = ","
    ) -> None:
        self._names = [column.name for column in encoding.columns]
        words = MISSING | {word.lower() for word in encoding.missing}
        self._readers = [_reader(column, words) for column in encoding.columns]
        self._needed = set(self._names)
        self.delimiter = delimiter
        self._places: list[int] = []
        self.header: list[str] | None = None
        if header is not None and self._needed <= set(header):
            self._name_cells(list(header))

    def parse(self, line: str) -> list[float] | None:
        """Return a number for each column, NaN where missing; None for names or an empty line.

        Raises a FileError on a line that is no row.
        """
        text = line.strip("\ufeff\r\n")
        if not text.strip():
            return None
        if text.lstrip().startswith("{"):
            return self._numbers(self._cells_of_object(text))
        if self._names[0] in text and self._is_header(text):
            return None
        if self.header is None:
            raise FileError(
                f"no JSON object, and no line before it has named the columns {listed(self._names)}"
            )
        try:
            return self._numbers(self._cells_of_text(text))
        except FileError:
            self._check_for_other_names(text)
            raise

    def _check_for_other_names(self, text: str) -> None:
        """Forget the names of cells, and raise, if a line that is no row names other columns."""
        cells = [clean(cell) for cell in _split(text, self.delimiter)]
        known, distinct = self._needed & set(cells), len(set(cells)) == len(cells)
        if distinct and (known or self._has_no_number(cells)):
            self.header = None
            absent = [name for name in self._names if name not in known]
            raise FileError(
                f"names columns, but not {listed(absent)}; cells are not read until a line names "
                "all of them"
            )

    def _has_no_number(self, cells: list[str]) -> bool:
        """Tell whether text stands wherever numbers are to be, in two columns at least."""
        if len(cells) != len(self.header or []):
            return False
        numeric = [
            (read, cells[place])
            for read, place in zip(self._readers, self._places, strict=True)
            if read.func is _number
        ]
        return len(numeric) > 1 and not any(_reads(read, cell) for read, cell in numeric)

    def _is_header(self, text: str) -> bool:
        for delimiter in _DELIMITERS:
            cells = [clean(cell) for cell in _split(text, delimiter)]
            if self._needed <= set(cells):
                self.delimiter = delimiter
                self._name_cells(cells)
                return True
        return False

    def _name_cells(self, cells: list[str]) -> None:
        self.header = cells
        self._places = [cells.index(name) for name in self._names]

    def _cells_of_object(self, text: str) -> list[Any]:
        try:
            record = json.loads(text)
        except (ValueError, RecursionError):
            raise FileError(f"no JSON object: {quoted(text)}") from None
        absent = [name for name in self._names if name not in record]
        if absent:
            raise FileError(f"lacks {listed(absent)}; null stands for a missing value")
        return [record[name] for name in self._names]

    def _cells_of_text(self, text: str) -> list[Any]:
        cells, names = _split(text, self.delimiter), self.header or []
        if len(cells) != len(names):
            raise FileError(f"has {len(cells)} cells where {len(names)} columns were named")
        return [cells[place] for place in self._places]

    def _numbers(self, cells: list[Any]) -> list[float]:
        numbers = []
        for name, read, cell in zip(self._names, self._readers, cells, strict=True):
            try:
                numbers.append(read(cell))
            except (ValueError, TypeError, OverflowError):
                shown = cell if isinstance(cell, str) else json.dumps(cell)
                raise FileError(f"column {quoted(name)}: {quoted(shown)} is no value") from None
        return numbers


def _reads(read: Reader, cell: str) -> bool:
    try:
        read(cell)
    except ValueError:
        return False
    return True


def _split(text: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([text], delimiter=delimiter), [])
    except csv.Error as error:
        raise FileError(f"no row of cells ({error}): {quoted(text)}") from None


def _reader(column: Column, words: frozenset[str]) -> Reader:
    """Return a function from a value of a column to its number; it raises where there is none."""
    if column.kind == "one-hot":
        places = {as_value(value): float(i) for i, value in enumerate(column.values, 1)}
        return partial(_place, places, words)
    if column.kind == "boolean":
        return partial(_truth, words)
    return partial(_number, words, column.marks)


def _number(words: frozenset[str], marks: tuple[str, str] | None, cell: Any) -> float:
    if cell is None:
        return math.nan
    if not isinstance(cell, str):
        return _finite(float(cell))
    if marks is None and "_" not in cell:
        try:
            number = float(cell)
        except ValueError:
            number = math.nan
        if math.isfinite(number):
            return number
    if is_missing(cell, words):
        return math.nan
    decimal, thousands = marks or (".", None)
    style = Style.of([cell], decimal, thousands)
    number_or_none = None if style is None else style.read(cell)
    if number_or_none is None:
        raise ValueError(cell)
    return _finite(number_or_none)


def _finite(number: float) -> float:
    if math.isinf(number):
        raise ValueError(number)
    return number


def _truth(words: frozenset[str], cell: Any) -> float:
    if cell is None or (isinstance(cell, str) and is_missing(cell, words)):
        return math.nan
    word = clean(cell).lower() if isinstance(cell, str) else str(int(cell))
    if word not in _TRUE and word not in _FALSE:
        raise ValueError(cell)
    return float(word in _TRUE)


def _place(places: Mapping[str, float], words: frozenset[str], cell: Any) -> float:
    """Return the place of a value from 1, 0 for one that the model never saw."""
    if cell is None or (isinstance(cell, str) and is_missing(cell, words)):
        return math.nan
    if isinstance(cell, (dict, list)):
        raise TypeError(cell)
    word = str(cell).lower() if isinstance(cell, bool) else str(cell)
    return places.get(as_value(word), 0.0)
