"""The file of scores: a line for every row, in the order of the rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from setatoms.cli.models import Model
from setatoms.cli.outputs import opened
from setatoms.cli.scoring import Scored

_COLUMNS = {
    "row": pa.int64(),
    "score": pa.float64(),
    "flagged": pa.int8(),
    "p_value": pa.float64(),
    "kind": pa.string(),
    "reason": pa.string(),
}
# Spreadsheets take a cell that starts so for a formula, and may run it.
_FORMULA = re.compile(r"\s*[=+\-@\t\r|%]")
_NUMBER = re.compile(r"\s*[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?\s*", re.A)
_REASONS = 3
_EXPLAINED_AT_ONCE = 2048


class ScoresFile:
    """Write rows and their scores as CSV.

    Parameters
    ----------
    stream : binary file object
        Where to write.
    model : Model
        Gives the reasons.
    index : str, optional
        The name of the index column, the first one if given.
    """

    def __init__(self, stream: IO[bytes], model: Model, index: str | None) -> None:
        self._model = model
        self._index = index
        names = [*([plain_cell(index)] if index else []), *_COLUMNS]
        types = [*([pa.string()] if index else []), *_COLUMNS.values()]
        self._types = types
        stream.write(",".join(map(_quoted, names)).encode() + b"\n")
        self._schema = pa.schema(list(zip(map(str, range(len(names))), types, strict=True)))
        self._writer = pa.csv.CSVWriter(
            stream, self._schema, write_options=pa.csv.WriteOptions(include_header=False)
        )

    def add(self, rows: Scored) -> None:
        """Write further rows."""
        n_rows = len(rows.scores)
        p_values = [None] * n_rows if rows.p_values is None else rows.p_values
        columns: list[Any] = [
            np.arange(rows.first_row, rows.first_row + n_rows),
            rows.scores,
            rows.flagged.astype(np.int8),
            p_values,
            *self._reasons(rows),
        ]
        if rows.labels is not None:
            columns.insert(0, [None if w is None else plain_cell(w) for w in rows.labels])
        arrays = [pa.array(c, t) for c, t in zip(columns, self._types, strict=True)]
        self._writer.write(pa.RecordBatch.from_arrays(arrays, schema=self._schema))

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()

    def _reasons(self, rows: Scored) -> tuple[list[str | None], list[str | None]]:
        """Return the kind of each flagged row and a sentence on it, nothing for the others."""
        n_rows = len(rows.scores)
        kinds: list[str | None] = [None] * n_rows
        reasons: list[str | None] = [None] * n_rows
        flagged = np.flatnonzero(rows.flagged)
        # explanations are large: a few rows at a time, even if all are flagged
        for start in range(0, len(flagged), _EXPLAINED_AT_ONCE):
            some = flagged[start : start + _EXPLAINED_AT_ONCE]
            records = self._model.explain(rows.features[some], top=_REASONS)
            for i, record in zip(some, records, strict=True):
                kinds[i] = record.get("kind")
                reasons[i] = plain_cell(record["sentence"])
        return kinds, reasons


@contextmanager
def scores_file(out: str | None, model: Model, index: str | None) -> Iterator[ScoresFile | None]:
    """Open the file of scores, which replaces an older one when it is complete."""
    if out is None:
        yield None
        return
    with opened(out) as stream:
        file = ScoresFile(stream, model, index)
        yield file
        file.close()


def plain_cell(text: str) -> str:
    """Return text that no spreadsheet takes for a formula, numbers as they are.

    Examples
    --------
    >>> plain_cell("=1+1"), plain_cell("-5"), plain_cell("petal_width 0.2")
    ("'=1+1", '-5', 'petal_width 0.2')
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def _quoted(name: str) -> str:
    plain = re.fullmatch(r"[^\",\r\n]*", name)
    return name if plain else '"' + name.replace('"', '""') + '"'
