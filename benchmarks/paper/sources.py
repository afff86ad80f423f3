"""Where tables come from: ADBench, or a file of one's own."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from setatoms.datasets import fetch_adbench

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


class Source(Protocol):
    """A named table with labels. Worker processes get a copy, so it must be picklable."""

    @property
    def name(self) -> str:
        """The name under which results are stored."""

    def load(self) -> tuple[Array, Labels]:
        """Return the rows (n_samples, n_features) and 0 or 1 (anomaly) for each."""


@dataclass(frozen=True)
class AdbenchTable:
    """One of ADBench's tables.

    Parameters
    ----------
    name : str
        Such as ``"pendigits"``.
    """

    name: str

    def load(self) -> tuple[Array, Labels]:
        """Return rows and labels, see `setatoms.datasets.fetch_adbench`."""
        return fetch_adbench(self.name)


@dataclass(frozen=True)
class CsvTable:
    """A CSV file: a line of column names, then numbers; the last column is 0 or 1 (anomaly).

    Parameters
    ----------
    path : Path
        The file. Its name without ``.csv`` is the name of the table.
    """

    path: Path

    @property
    def name(self) -> str:
        """The name of the file without its ending."""
        return self.path.stem

    def load(self) -> tuple[Array, Labels]:
        """Return rows and labels."""
        with self.path.open(newline="", encoding="utf-8-sig") as file:
            header, *lines = [line for line in csv.reader(file) if line] or [[]]
        table = np.array([self._read(i, line, header) for i, line in enumerate(lines, start=2)])
        if table.ndim != 2 or table.shape[1] < 3:
            raise ValueError(
                f"{self.path} has no table of numbers; it needs a line of column names, then "
                "lines of at least two features and a label"
            )
        labels = table[:, -1]
        if not np.isin(labels, (0, 1)).all():
            raise ValueError(
                f"the last column of {self.path}, {header[-1]!r}, holds {np.unique(labels)[:5]}; "
                "it is the label and must be 0 (normal) or 1 (anomaly)"
            )
        return np.ascontiguousarray(table[:, :-1]), labels.astype(np.int64)

    def _read(self, number: int, line: list[str], header: list[str]) -> list[float]:
        if len(line) != len(header):
            raise ValueError(
                f"line {number} of {self.path} has {len(line)} values, the header {len(header)}"
            )
        try:
            return [float(word) for word in line]
        except ValueError as error:
            raise ValueError(
                f"line {number} of {self.path}: {error}; encode or drop what is not a number"
            ) from error
