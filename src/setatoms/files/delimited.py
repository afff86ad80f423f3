"""CSV and its kin: separated by commas, semicolons, tabs or bars."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from setatoms.files.arrow import floats
from setatoms.files.blocks import BLOCK_BYTES, TextBlock, delimited_blocks
from setatoms.files.cells import Cells, parse_number
from setatoms.files.errors import BadCell, FileError, NotNumbersError, located, quoted
from setatoms.files.names import numbered_names, unique_names
from setatoms.files.records import TextRecord, count_lines, records
from setatoms.files.sources import Source

_DELIMITERS = (",", ";", "\t", "|")
_LOOKED_AT = 50
_COMMA_NUMBER = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*", re.A)
_POINT_NUMBER = re.compile(r"\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?\s*", re.A)


class DelimitedTable:
    """A table in a text file whose cells are separated by one character.

    Parameters
    ----------
    source : Source
        Where it comes from.
    delimiter : str, optional
        The character between cells, by default the one that fits the first lines.
    decimal : {".", ","}, optional
        The decimal mark, by default the one the first lines show.
    header : bool, optional
        Whether the first line has the names; by default yes, unless it holds numbers only.
    missing : frozenset of str
        What stands for a missing value.
    """

    def __init__(
        self,
        source: Source,
        missing: frozenset[str],
        delimiter: str | None = None,
        decimal: str | None = None,
        header: bool | None = None,
    ) -> None:
        self.name = source.name
        self.opaque: dict[str, str] = {}
        self.n_rows: int | None = None
        self.notes: list[str] = []
        self.missing = missing
        self._source = source
        start = _first_block(source)
        self.delimiter = _checked(delimiter) if delimiter else _guess_delimiter(start.data)
        first = list(islice(records(start.data, self.delimiter.encode()), _LOOKED_AT))
        if not first:
            raise FileError(f"{self.name} is empty: it has no header and no rows")
        self.header = _has_header(first[0], missing) if header is None else header
        self.decimal = decimal or _guess_decimal(first, self.delimiter)
        self.names = self._name_columns(first[0])
        if self.decimal == self.delimiter:
            raise FileError(f"{self.name}: cells and decimals are both marked by {decimal!r}")

    def _name_columns(self, first: TextRecord) -> list[str]:
        if not first.closed:
            raise located(self.name, "a quote is never closed", place="line 1")
        if self.decimal == ",":
            self.notes.append("read commas as decimal marks")
        if self.header:
            names, notes = unique_names(first.fields)
            self.notes += [f"renamed {note}" for note in notes]
            return names
        self.notes.append("the first line has no names, so columns are column_1, column_2, ...")
        return numbered_names(len(first.fields))

    def chunks(self, wanted: Sequence[str] | None = None) -> Iterator[DelimitedChunk]:
        """Read the table from its start; other columns than `wanted` may be left out."""
        separator = self.delimiter.encode()
        with self._source.text() as stream:
            blocks = filter(_has_rows, delimited_blocks(stream, self.name, separator))
            if self.header:
                blocks = filter(_has_rows, _skip_header(blocks, separator))
            for block in blocks:
                yield DelimitedChunk(self, block)


class DelimitedChunk:
    """Some rows of a delimited file."""

    def __init__(self, table: DelimitedTable, block: TextBlock) -> None:
        self._table = table
        self._block = block

    def read(self, numbers: Sequence[str], words: Sequence[str]) -> Cells:
        """Return these columns, raising `NotNumbersError` for other things among `numbers`."""
        twice = set(words) & set(numbers)
        try:
            columns = self._parse([name for name in words if name not in twice], numbers)
            texts = self._parse(words, []) if twice else columns
            read: list[Any] = [floats(columns[name]) for name in numbers]
        except pa.ArrowInvalid:
            self._check_shape()
            columns = texts = self._parse_as_text(list(dict.fromkeys([*words, *numbers])))
            read = self._convert(columns, numbers)
        matrix = np.empty((columns.num_rows, len(numbers)))
        for j, column in enumerate(read):
            matrix[:, j] = column
        return Cells(matrix, {name: texts[name].to_pylist() for name in words})

    def _parse_as_text(self, names: Sequence[str]) -> pa.Table:
        try:
            return self._parse(names, [])
        except pa.ArrowInvalid as error:
            raise located(
                self._table.name,
                f"not the rows of a table ({error}); remove what is there",
                place=f"line {self._block.first_line}",
            ) from None

    def place(self, row: int) -> str:
        """Return the line of a row."""
        found = next(islice(self._records(), row, None))
        return f"line {self._block.first_line + found.line}"

    def _parse(self, words: Sequence[str], numbers: Sequence[str]) -> pa.Table:
        table, data = self._table, self._block.data
        wanted = [*words, *numbers] or table.names[:1]
        types = dict.fromkeys(wanted, pa.string()) | dict.fromkeys(numbers, pa.float64())
        return pa.csv.read_csv(
            pa.BufferReader(data),
            # one block: a parallel parse would cut records at newlines inside quotes
            pa.csv.ReadOptions(column_names=table.names, block_size=len(data) + 1),
            pa.csv.ParseOptions(delimiter=table.delimiter, newlines_in_values=b'"' in data),
            pa.csv.ConvertOptions(
                column_types=types,
                include_columns=wanted,
                null_values=sorted(table.missing),
                decimal_point=table.decimal,
                strings_can_be_null=False,
            ),
        )

    def _convert(self, columns: pa.Table, numbers: Sequence[str]) -> list[list[float]]:
        """Make numbers of words, cell by cell."""
        read, bad = [], []
        for name in numbers:
            values: list[float] = []
            for row, word in enumerate(columns[name].to_pylist()):
                number = parse_number(word, self._table.missing, self._table.decimal)
                if number is None:
                    bad.append(BadCell(row, name, word))
                    break
                values.append(number)
            read.append(values)
        if bad:
            raise NotNumbersError(bad)
        return read

    def _check_shape(self) -> None:
        """Raise at the first record with another number of cells than the header has."""
        expected = len(self._table.names)
        for record in self._records():
            place = f"line {self._block.first_line + record.line}"
            if not record.closed:
                raise located(self._table.name, "a quote is never closed", place=place)
            found = len(record.fields)
            if found != expected:
                raise located(
                    self._table.name,
                    f"expected {expected} cell{'s' if expected != 1 else ''}, found {found}; "
                    f"the line starts with {quoted(record.fields[0])}",
                    place=place,
                )

    def _records(self) -> Iterator[TextRecord]:
        return records(self._block.data, self._table.delimiter.encode())


def _first_block(source: Source) -> TextBlock:
    # until the delimiter is known, any will do: quotes after others are searched exactly
    with source.text() as stream:
        blocks = delimited_blocks(stream, source.name, b",", size=BLOCK_BYTES >> 3)
        return next(filter(_has_rows, blocks), TextBlock(b"", 1))


def _has_rows(block: TextBlock) -> bool:
    return bool(block.data.strip(b"\r\n"))


def _skip_header(blocks: Iterator[TextBlock], delimiter: bytes) -> Iterator[TextBlock]:
    yield from (_without_first(block, delimiter) for block in islice(blocks, 1))
    yield from blocks


def _without_first(block: TextBlock, delimiter: bytes) -> TextBlock:
    header = next(records(block.data, delimiter))
    n_lines = count_lines(block.data[: header.end])
    return TextBlock(block.data[header.end :], block.first_line + n_lines)


def _checked(delimiter: str) -> str:
    delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise FileError(f"delimiter {delimiter!r} must be one ASCII character that is no quote")
    return delimiter


def _guess_delimiter(data: bytes) -> str:
    """Return the candidate that cuts the first lines into the most, equally many, cells."""

    def fit(delimiter: str) -> tuple[bool, int]:
        first = list(islice(records(data, delimiter.encode()), _LOOKED_AT))
        counts = [len(record.fields) for record in first] or [0]
        # the last record may be cut off
        equal = len(set(counts[:-1] or counts)) == 1 and counts[0] > 1
        return equal, counts[0]

    return max(_DELIMITERS, key=fit)


def _has_header(first: TextRecord, missing: frozenset[str]) -> bool:
    numbers = [parse_number(cell, missing - {""}) for cell in first.fields if cell.strip()]
    return not numbers or any(number is None or np.isnan(number) for number in numbers)


def _guess_decimal(first: Sequence[TextRecord], delimiter: str) -> str:
    """Return a comma if some cells are numbers with one, and none with a point."""
    if delimiter == ",":
        return "."
    cells = [cell for record in first for cell in record.fields]
    commas = any(_COMMA_NUMBER.fullmatch(cell) for cell in cells)
    return "," if commas and not any(_POINT_NUMBER.fullmatch(cell) for cell in cells) else "."
