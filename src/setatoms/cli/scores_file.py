"""The file of scores: a line for every row, in the order of the rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from setatoms.cli.models import Model
from setatoms.cli.outputs import opened
from setatoms.cli.scoring import Scored
from setatoms.files.engine import rewrite_as_parquet
from setatoms.files.names import unique_names
from setatoms.files.sources import temporary
from setatoms.files.writing import LineWriter

_COLUMNS = {
    "row": "BIGINT", "score": "DOUBLE", "flagged": "TINYINT", "p_value": "DOUBLE",
    "kind": "VARCHAR", "reason": "VARCHAR",
}  # fmt: skip
# Spreadsheets take a cell that starts so for a formula, and may run it.
_FORMULA = re.compile(r"\s*[=+\-@\t\r|%]")
_NUMBER = re.compile(r"\s*[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?\s*", re.A)
# What stands behind the numbers of a row that is not flagged: without and with a p-value.
_EMPTY = {False: ",,,", True: ",,"}
_LAST = ",\n"
# With semicolons, tabs and bars other programs end a cell.
_SPECIAL = re.compile(r'[",;|\t\r\n]')
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
    header : bool, default=True
        Whether to write the names.
    """

    def __init__(
        self,
        stream: IO[bytes],
        model: Model,
        own: Sequence[str],
        for_people: bool = True,
        header: bool = True,
    ) -> None:
        self._model, self.for_people = model, for_people
        self._cell = plain_cell if for_people else str
        # DuckDB takes capitals for small letters
        self.names = unique_names([*map(self._cell, own), *_COLUMNS], str.casefold)[0]
        self.types = ["VARCHAR"] * len(own) + list(_COLUMNS.values())
        self._stream = stream
        self._numbers = LineWriter()
        if header:
            stream.write(",".join(map(_quoted, self.names)).encode() + b"\n")

    def add(self, rows: Scored) -> None:
        """Write further rows."""
        n_rows = len(rows.scores)
        numbers = [
            np.arange(rows.first_row, rows.first_row + n_rows),
            rows.scores,
            rows.flagged.astype(np.int64),
            *([] if rows.p_values is None else [rows.p_values]),
        ]
        # without a kind and a reason, which the lines of flagged rows get
        text, starts = self._numbers.write(numbers, tail=_EMPTY[rows.p_values is not None])
        cuts, reasons = starts.tolist(), self._reasons(rows)
        own = [*([] if rows.labels is None else [rows.labels]), *rows.kept]
        lines, done = [], 0
        for i in range(n_rows) if own else reasons:
            begin, end = cuts[i], cuts[i + 1]
            lines.append(text[done:begin])
            lines += [f"{_quoted(self._cell(words[i] or ''))},".encode() for words in own]
            if i in reasons:
                kind, reason = reasons[i]
                lines.append(text[begin : end - len(_LAST)])
                lines.append(f"{kind},{_quoted(reason)}\n".encode())
            else:
                lines.append(text[begin:end])
            done = end
        self._stream.write(b"".join([*lines, text[done:]]))

    def add_lines(self, lines: bytes) -> None:
        """Write further rows that another such file made lines of."""
        self._stream.write(lines)

    def _reasons(self, rows: Scored) -> dict[int, tuple[str, str]]:
        """Return the kind of each flagged row and a sentence on it, by the place of the row."""
        found: dict[int, tuple[str, str]] = {}
        flagged = np.flatnonzero(rows.flagged)
        # explanations are large: a few rows at a time, even if all are flagged
        for start in range(0, len(flagged), _EXPLAINED_AT_ONCE):
            some = flagged[start : start + _EXPLAINED_AT_ONCE]
            records = self._model.explain(rows.features[some], _REASONS, atoms=False)
            for i, record in zip(some.tolist(), records, strict=True):
                found[i] = record.get("kind", ""), self._cell(record["sentence"])
        return found


@contextmanager
def scores_file(out: str | None, model: Model, own: Sequence[str]) -> Iterator[ScoresFile | None]:
    """Open the file of scores, which replaces an older one when it is complete."""
    if out is None:
        yield None
        return
    with opened(out) as stream:
        if Path(out).suffix.lower() not in (".parquet", ".pq"):
            file = ScoresFile(stream, model, own)
            yield file
        else:
            with temporary() as draft:
                file = ScoresFile(draft, model, own, for_people=False)
                yield file
                rewrite_as_parquet(draft, stream, dict(zip(file.names, file.types, strict=True)))


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
