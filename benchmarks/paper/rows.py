"""The rows of a cell, and the AK-SVD starts that cells on the same rows share."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.cache import Arrays, cached
from benchmarks.errors import BenchError
from benchmarks.paper.sources import Array, Labels, Source
from setatoms.datasets import adbench_anomalies
from setatoms.estimators.recipes import AKSVD_ITERATIONS, AKSVD_NONZERO
from setatoms.estimators.standardize import Standardizer
from setatoms.learning import aksvd
from setatoms.rows import MemoryRows

# "real" takes a table with the anomalies it came with.
ANOMALIES = ("dependency", "local", "cluster", "global", "real")
_TEST_SHARE = 0.3


class Start(NamedTuple):
    """Atoms (n_atoms, n_features) that AK-SVD learned, and how long that took."""

    atoms: Array
    seconds: float


@dataclass(frozen=True)
class Rows:
    """Rows to learn from and rows to rank, with the truth about the latter.

    Attributes
    ----------
    train : ndarray of shape (n_train, n_features)
        To learn from, without labels.
    test : ndarray of shape (n_test, n_features)
        To rank.
    truth : ndarray of shape (n_test,)
        1 for the anomalies.
    starts : Path
        Beginning of the names of the files that keep AK-SVD starts.
    """

    train: Array
    test: Array
    truth: Labels
    starts: Path

    def start(self, n_atoms: int, random_state: int) -> Start:
        """Return the AK-SVD start of this size on the standardised training rows."""
        path = self.starts.with_name(f"{self.starts.name}-{n_atoms}-{random_state}.npz")
        arrays = cached(
            path, lambda: self._learn_start(n_atoms, random_state), ("atoms", "seconds")
        )
        return Start(arrays["atoms"].astype(np.float64), float(arrays["seconds"]))

    def _learn_start(self, n_atoms: int, random_state: int) -> Arrays:
        began = time.perf_counter()
        atoms = aksvd(
            Standardizer.learn(MemoryRows(self.train)).apply(self.train),
            n_atoms,
            n_nonzero=min(AKSVD_NONZERO, self.train.shape[1] - 1, n_atoms),
            n_iter=AKSVD_ITERATIONS,
            random_state=random_state,
            n_jobs=1,
        )
        return {"atoms": atoms, "seconds": np.array(time.perf_counter() - began)}


def prepare(source: Source, anomalies: str, seed: int, folder: Path) -> Rows:
    """Return 70 % of a table to learn from and 30 % to rank, with equal shares of anomalies.

    Parameters
    ----------
    source : Source
        Where the table comes from.
    anomalies : str
        What its anomalies are replaced by, see `setatoms.datasets.adbench_anomalies`;
        ``"real"`` leaves them.
    seed : int
        Seed of the anomalies and of the split.
    folder : Path
        Where generated tables and starts are kept.
    """
    X, y = load_table(source, anomalies, seed, folder)
    train, test, _, truth = train_test_split(
        X, y, test_size=_TEST_SHARE, stratify=y, random_state=seed
    )
    name = table_path(source, anomalies, seed, folder).stem
    return Rows(train, test, truth, folder / "starts" / name)


def load_table(source: Source, anomalies: str, seed: int, folder: Path) -> tuple[Array, Labels]:
    """Return a table with such anomalies and its labels, generated at the first call."""
    path = table_path(source, anomalies, seed, folder)
    table = cached(path, lambda: _make_table(source, anomalies, seed), ("X", "y"))
    return cast(Array, table["X"]), cast(Labels, table["y"])


def table_path(source: Source, anomalies: str, seed: int, folder: Path) -> Path:
    """Return the file that keeps a generated table."""
    return folder / "data" / f"{source.name}-{anomalies}-{seed}.npz"


def _make_table(source: Source, anomalies: str, seed: int) -> Arrays:
    try:
        X, y = source.load()
    except OSError as error:
        # a file out of reach says nothing about the method
        raise BenchError(f"cannot read the table {source.name}: {error}") from error
    if anomalies != "real":
        X, y = adbench_anomalies(X, y, kind=anomalies, seed=seed)
    return {"X": X, "y": y}
