"""Open the data and show how far it has been read."""

from __future__ import annotations

import glob
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType

import click

from setatoms.cli.options import Reading
from setatoms.files import Encoding, ReadOptions, Source, Table, open_table
from setatoms.progress import Progress

# Seconds without a word.
_LONG = 0.5


@dataclass(frozen=True)
class Data:
    """The data, ready to be read again and again."""

    source: Source | None
    table: Table

    @property
    def size(self) -> int:
        """How many bytes there are to read."""
        return 0 if self.source is None else self.source.size

    @property
    def inputs(self) -> list[Path]:
        """The files that are read."""
        if self.source is not None:
            return self.source.paths
        named = self.table.engine.paths
        found = [glob.glob(path, recursive=True) or [path] for path in named]  # noqa: PTH207
        return [Path(path) for paths in found for path in paths]

    def check_unchanged(self) -> None:
        """Raise an error if a file was changed since it was opened."""
        if self.source is not None:
            self.source.check_unchanged()


def open_data(path: str | None, reading: Reading, known: Encoding | None = None) -> Data:
    """Open the table that a command was given, to be read as a model knows it."""
    if (path is None) == (reading.query is None):
        raise click.UsageError("give DATA or --query, one of them")
    with Progress(1.0, "opening") as progress:
        opening = _Opening(progress)
        source = None if path is None else Source(path, reading.encoding, opening.advance)
        options = ReadOptions(**asdict(reading))
        return Data(source, open_table(source, known.options(options) if known else options))


def as_columns(words: Sequence[str], table: Table) -> list[str]:
    """Return the columns of ``--drop a,b --drop c``; a name that has a comma counts as a whole."""
    columns: list[str] = []
    for word in words:
        columns += [word] if word in table.names else [part.strip() for part in word.split(",")]
    return [column for column in columns if column]


class _Opening:
    """A progress bar over the bytes that are fetched or looked through, where that takes long."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._began = time.monotonic()
        self._n_bytes, self._share = 0, 0.0

    def advance(self, n_bytes: int, total: int | None) -> None:
        """Count so many bytes more as done, of so many where that is known."""
        self._n_bytes += n_bytes
        self._share += n_bytes / total if total else 0.0
        if time.monotonic() - self._began > _LONG:
            note = f"{self._n_bytes / 1e6:,.0f} MB"
            self._progress.advance(self._share - self._progress.share, note)


class ReadProgress:
    """A progress bar over the rows of a table, with their rate.

    Parameters
    ----------
    label : str
        What is going on.
    data : Data
        What is read.
    n_rows : int, optional
        How many rows there are; by default about as many as the first lines say.
    """

    def __init__(self, label: str, data: Data, n_rows: int | None = None) -> None:
        self._n_rows = n_rows or data.table.n_rows or data.table.about_rows
        self._progress = Progress(1.0, label)
        self._rows = 0
        self._started = time.monotonic()

    def advance(self, n_rows: int) -> None:
        """Count `n_rows` more rows as done."""
        self._rows += n_rows
        share = min(1.0, self._rows / max(1, self._n_rows))
        rate = self._rows / max(time.monotonic() - self._started, 1e-9)
        note = f"{self._rows:,} rows, {rate:,.0f} rows/s"
        self._progress.advance(share - self._progress.share, note)

    def __enter__(self) -> ReadProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._progress.__exit__(kind, error, traceback)
