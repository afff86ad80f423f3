"""The file of scores: a line for every row, in the order of the rows."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from setatoms.cli.models import Model
from setatoms.cli.outputs import opened
from setatoms.cli.scoring import Scored

_COLUMNS = ("row", "score", "flagged", "p_value", "kind", "reason")
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
        self._text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
        self._writer = csv.writer(self._text, lineterminator="\n")
        self._writer.writerow(names)

    def add(self, rows: Scored) -> None:
        """Write further rows."""
        n_rows = len(rows.scores)
        p_values = [""] * n_rows if rows.p_values is None else rows.p_values.tolist()
        columns: list[Any] = [
            range(rows.first_row, rows.first_row + n_rows),
            rows.scores.tolist(),
            rows.flagged.astype(np.int8).tolist(),
            p_values,
            *self._reasons(rows),
        ]
        if rows.labels is not None:
            columns.insert(0, [None if w is None else plain_cell(w) for w in rows.labels])
        self._writer.writerows(zip(*columns, strict=True))

    def close(self) -> None:
        """Write what is left."""
        self._text.flush()
        self._text.detach()

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
