"""Parquet, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from setatoms.files.arrow import floats
from setatoms.files.cells import Cells
from setatoms.files.errors import BadCell, FileError, NotNumbersError, located, quoted
from setatoms.files.names import unique_names
from setatoms.files.sources import Source

_BATCH_ROWS = 1 << 16
_BUFFER_BYTES = 1 << 20


class ParquetTable:
    """A table in a Parquet file.

    Parameters
    ----------
    source : Source
        Where it comes from.
    missing : frozenset of str
        What stands for a missing value in columns of text.
    """

    def __init__(self, source: Source, missing: frozenset[str]) -> None:
        self.name = source.name
        self.missing = missing
        self._source = source
        with source.raw() as stream:
            file = self._open(stream)
            schema = file.schema_arrow
            self.n_rows: int | None = file.metadata.num_rows
        self.names, notes = unique_names(schema.names)
        self.notes = [f"renamed {note}" for note in notes]
        self._types = dict(zip(self.names, schema.types, strict=True))
        self.opaque = {n: str(t) for n, t in self._types.items() if not _is_plain(t)}

    def _open(self, stream: object) -> pq.ParquetFile:
        try:
            # otherwise whole row groups, or the whole file, would be read ahead
            return pq.ParquetFile(stream, pre_buffer=False, buffer_size=_BUFFER_BYTES)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> FileError:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        return FileError(f"{self.name} is not a sound Parquet file: {quoted(reason)}")

    def chunks(self, wanted: Sequence[str] | None = None) -> Iterator[ParquetChunk]:
        """Read the table from its start; other columns than `wanted` may be left out."""
        first_row = 0
        with self._source.raw() as stream:
            file = self._open(stream)
            chosen = self._chosen(file.schema_arrow.names, wanted)
            batches = file.iter_batches(_BATCH_ROWS, columns=chosen)
            while True:
                try:
                    batch = next(batches, None)
                except (pa.ArrowException, OSError, ValueError) as error:
                    raise self._damaged(error) from error
                if batch is None:
                    return
                if chosen is None:
                    batch = batch.rename_columns(self.names)
                yield ParquetChunk(self, batch, first_row)
                first_row += batch.num_rows

    def _chosen(self, given: list[str], wanted: Sequence[str] | None) -> list[str] | None:
        # columns are chosen by the names in the file, which may be ambiguous
        return None if wanted is None or given != self.names else list(wanted)


class ParquetChunk:
    """Some rows of a Parquet file."""

    def __init__(self, table: ParquetTable, batch: pa.RecordBatch, first_row: int) -> None:
        self._table = table
        self._batch = batch
        self._first_row = first_row

    def read(self, numbers: Sequence[str], words: Sequence[str]) -> Cells:
        """Return these columns, raising `NotNumbersError` for other things among `numbers`."""
        bad = [name for name in numbers if not _is_number(self._batch[name].type)]
        if bad:
            raise NotNumbersError([self._first_word(name) for name in bad])
        matrix = np.empty((self._batch.num_rows, len(numbers)))
        for j, name in enumerate(numbers):
            matrix[:, j] = floats(self._batch[name].cast(pa.float64(), safe=False))
        return Cells(matrix, {name: self._words(name) for name in words})

    def place(self, row: int) -> str:
        """Return the number of a row in the file."""
        return f"row {self._first_row + row + 1}"

    def _words(self, name: str) -> list[str | None]:
        column = self._batch[name]
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if name in self._table.opaque:
            return [None] * len(column)
        try:
            words: list[str | None] = column.cast(pa.string()).to_pylist()
        except UnicodeDecodeError:
            what = "text that is not UTF-8; write the file again, or leave the column out"
            raise located(self._table.name, what, place=self.place(0), column=name) from None
        return words

    def _first_word(self, name: str) -> BadCell:
        words = self._words(name)
        row = next((i for i, word in enumerate(words) if word is not None), 0)
        return BadCell(row, name, words[row] or "" if words else "")


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return (
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_null(kind)
    )


def _is_plain(kind: pa.DataType) -> bool:
    """Tell whether values can be shown as numbers or words."""
    types = pa.types
    if types.is_dictionary(kind):
        return _is_plain(kind.value_type)
    text = types.is_string(kind) or types.is_large_string(kind)
    return _is_number(kind) or text or types.is_boolean(kind) or types.is_temporal(kind)
