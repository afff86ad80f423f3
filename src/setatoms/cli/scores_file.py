"""The file of scores: a line for every row, in the order of the rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from setatoms.cli.models import Array, Model
from setatoms.cli.outputs import opened
from setatoms.cli.scoring import Scored
from setatoms.files.engine import rewrite_as_parquet
from setatoms.files.names import unique_names
from setatoms.files.sources import temporary

_COLUMNS = {
    "row": "BIGINT", "score": "DOUBLE", "flagged": "TINYINT", "p_value": "DOUBLE",
    "kind": "VARCHAR", "reason": "VARCHAR",
}  # fmt: skip
# Spreadsheets take a cell that starts so for a formula, and may run it.
_FORMULA = re.compile(r"\s*[=+\-@\t\r|%]")
_NUMBER = re.compile(r"\s*[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?\s*", re.A)
_SPECIAL = re.compile(r'[",\r\n]')
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
    own : sequence of str
        The table's own columns, which come first: the index, and those to keep.
    for_people : bool, default=True
        Whether a spreadsheet may open the file, so that text must not look like a formula.
    """

    def __init__(
        self, stream: IO[bytes], model: Model, own: Sequence[str], for_people: bool = True
    ) -> None:
        self._model = model
        self._cell = plain_cell if for_people else str
        self.names = unique_names([*map(self._cell, own), *_COLUMNS])[0]
        self.types = ["VARCHAR"] * len(own) + list(_COLUMNS.values())
        self._stream = stream
        self._write([[_quoted(name)] for name in self.names])

    def add(self, rows: Scored) -> None:
        """Write further rows."""
        n_rows = len(rows.scores)
        own = [*([] if rows.labels is None else [rows.labels]), *rows.kept]
        kinds, reasons = self._reasons(rows)
        # not by a CSV writer, which takes three times as long for numbers
        columns: list[Iterable[str]] = [
            *([_quoted(self._cell(word)) if word else "" for word in words] for words in own),
            map(str, range(rows.first_row, rows.first_row + n_rows)),
            map(repr, rows.scores.tolist()),
            ["1" if flag else "0" for flag in rows.flagged.tolist()],
            [""] * n_rows if rows.p_values is None else _written(rows.p_values),
            kinds,
            map(_quoted, reasons),
        ]
        self._write(columns)

    def _write(self, columns: Sequence[Iterable[str]]) -> None:
        lines = map(",".join, zip(*columns, strict=True))
        self._stream.write(("\n".join(lines) + "\n").encode())

    def _reasons(self, rows: Scored) -> tuple[list[str], list[str]]:
        """Return the kind of each flagged row and a sentence on it, nothing for the others."""
        n_rows = len(rows.scores)
        kinds, reasons = [""] * n_rows, [""] * n_rows
        flagged = np.flatnonzero(rows.flagged)
        # explanations are large: a few rows at a time, even if all are flagged
        for start in range(0, len(flagged), _EXPLAINED_AT_ONCE):
            some = flagged[start : start + _EXPLAINED_AT_ONCE]
            records = self._model.explain(rows.features[some], _REASONS, atoms=False)
            for i, record in zip(some, records, strict=True):
                kinds[i] = record.get("kind", "")
                reasons[i] = self._cell(record["sentence"])
        return kinds, reasons


@contextmanager
def scores_file(
    out: str | None, model: Model, index: str | None, keep: Sequence[str]
) -> Iterator[ScoresFile | None]:
    """Open the file of scores, which replaces an older one when it is complete."""
    if out is None:
        yield None
        return
    own = [*([index] if index else []), *keep]
    with opened(out) as stream:
        if Path(out).suffix.lower() not in (".parquet", ".pq"):
            file = ScoresFile(stream, model, own)
            yield file
        else:
            with temporary() as draft:
                file = ScoresFile(draft, model, own, for_people=False)
                yield file
                rewrite_as_parquet(draft, stream, dict(zip(file.names, file.types, strict=True)))


def _written(numbers: Array) -> list[str]:
    """Return numbers of which many are equal as text."""
    distinct, places = np.unique(numbers, return_inverse=True)
    words = np.array([repr(number) for number in distinct.tolist()], object)
    found: list[str] = words[places].tolist()
    return found


def _quoted(cell: str) -> str:
    """Return a cell of CSV."""
    return '"' + cell.replace('"', '""') + '"' if _SPECIAL.search(cell) else cell


def plain_cell(text: str) -> str:
    """Return text that no spreadsheet takes for a formula, numbers as they are.

    Examples
    --------
    >>> plain_cell("=1+1"), plain_cell("-5"), plain_cell("petal_width 0.2")
    ("'=1+1", '-5', 'petal_width 0.2')
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
