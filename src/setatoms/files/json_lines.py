"""JSON lines: an object a line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from setatoms.files.blocks import TextBlock, line_blocks
from setatoms.files.cells import Cells, is_missing
from setatoms.files.errors import BadCell, FileError, NotNumbersError, located
from setatoms.files.sources import Source

_MOST_COLUMNS = 100_000


class JsonLinesTable:
    """A table in a file of JSON objects, one per line; a key that is absent is a missing value.

    Parameters
    ----------
    source : Source
        Where it comes from.
    missing : frozenset of str
        Words that stand for a missing value.
    """

    def __init__(self, source: Source, missing: frozenset[str]) -> None:
        self.name = source.name
        self.opaque: dict[str, str] = {}
        self.n_rows: int | None = None
        self.notes: list[str] = []
        self.missing = missing
        self._source = source
        self.names = self._collect_names()

    def _collect_names(self) -> list[str]:
        """Return all keys, in the order in which they first appear."""
        names: dict[str, None] = {}
        for chunk in self.chunks():
            for row in chunk.rows:
                names.update(dict.fromkeys(row))
            if len(names) > _MOST_COLUMNS:
                raise FileError(f"{self.name} has more than {_MOST_COLUMNS} different keys")
        return list(names)

    def chunks(self, wanted: Sequence[str] | None = None) -> Iterator[JsonLinesChunk]:
        """Read the table from its start; other columns than `wanted` may be left out."""
        with self._source.text() as stream:
            for block in line_blocks(stream, self.name):
                rows, lines = self._parse(block)
                if rows:
                    yield JsonLinesChunk(self, rows, lines)

    def _parse(self, block: TextBlock) -> tuple[list[dict[str, Any]], list[int]]:
        rows, lines = [], []
        # only these end a line: splitlines() would also cut at others, inside strings
        text = block.data.decode().replace("\r\n", "\n").replace("\r", "\n")
        for line, words in enumerate(text.split("\n"), block.first_line):
            if words.strip():
                rows.append(self._object(words, line))
                lines.append(line)
        return rows, lines

    def _object(self, words: str, line: int) -> dict[str, Any]:
        place = f"line {line}"
        try:
            value = json.loads(words)
            if r"\ud" in words.lower():
                json.dumps(value, ensure_ascii=False).encode()  # half a character is no text
        except json.JSONDecodeError as error:
            what = f"not JSON at character {error.pos + 1}: {error.msg}"
            raise located(self.name, what, place=place) from None
        except (RecursionError, ValueError) as error:
            raise located(self.name, f"cannot be read: {error}", place=place) from None
        if not isinstance(value, dict):
            raise located(
                self.name,
                f'expected an object, as {{"size": 1.5}}, found {type(value).__name__}; '
                "JSON lines have one object a line",
                place=place,
            )
        return value


class JsonLinesChunk:
    """Some rows of a file of JSON lines."""

    def __init__(self, table: JsonLinesTable, rows: list[dict[str, Any]], lines: list[int]) -> None:
        self.rows = rows
        self._table = table
        self._lines = lines

    def read(self, numbers: Sequence[str], words: Sequence[str]) -> Cells:
        """Return these columns, raising `NotNumbersError` for other things among `numbers`."""
        matrix, bad = np.empty((len(self.rows), len(numbers))), []
        for j, name in enumerate(numbers):
            try:
                matrix[:, j] = [self._number(i, row, name) for i, row in enumerate(self.rows)]
            except NotNumbersError as error:
                bad += error.cells
        if bad:
            raise NotNumbersError(bad)
        return Cells(matrix, {name: [_word(row.get(name)) for row in self.rows] for name in words})

    def place(self, row: int) -> str:
        """Return the line of a row."""
        return f"line {self._lines[row]}"

    def _number(self, i: int, row: dict[str, Any], name: str) -> float:
        value = row.get(name)
        if type(value) is float:
            return value
        if type(value) is int:
            return _as_float(value)
        if value is None or (isinstance(value, str) and is_missing(value, self._table.missing)):
            return math.nan
        raise NotNumbersError([BadCell(i, name, _word(value) or "")])


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _word(value: Any) -> str | None:
    """Return a value as a word: text as it is, everything else as JSON writes it."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)
