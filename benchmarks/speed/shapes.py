"""The data: random signals in three shapes, real tables, and made ones of any length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from benchmarks.speed.settings import Settings
from setatoms import aksvd
from setatoms.datasets import adbench_anomalies, fetch_adbench, make_dependency_anomalies
from setatoms.learning.start import random_atoms

Array = NDArray[np.float64]

# rows, features, atoms, and the sparsities at which greedy coders run
SHAPES = {
    "A": (7_000, 27, 81, (2, 5)),
    "B": (50_000, 64, 256, (2, 5)),
    "C": (1_000_000, 16, 48, (2,)),
}
RADII = (0.04, 0.12)
ATOMS_PER_FEATURE = 3


@dataclass(frozen=True)
class Problem:
    """Signals to be coded with a dictionary."""

    name: str
    X: Array  # (n_samples, n_features)
    atoms: Array  # (n_atoms, n_features), unit rows
    radii: Array  # (n_atoms,)
    sparsities: tuple[int, ...] = (2,)

    @property
    def shape(self) -> str:
        """Describe the sizes."""
        return f"{len(self.X):,} x {self.X.shape[1]}, n={len(self.atoms)}"

    def head(self, rows: int | None) -> Problem:
        """Return the problem of the first rows alone."""
        return Problem(self.name, self.X[:rows], self.atoms, self.radii, self.sparsities)


@dataclass(frozen=True)
class Split:
    """A table to fit on and one to score, both z-scored by the first."""

    name: str
    train: Array
    test: Array
    y_test: NDArray[np.int64]

    @property
    def shape(self) -> str:
        """Describe the sizes."""
        return f"{len(self.train):,} + {len(self.test):,} x {self.train.shape[1]}"


def random_problems(settings: Settings) -> Iterator[Problem]:
    """Yield Gaussian signals and random atoms in shapes A, B and C."""
    for name, (rows, n_features, n_atoms, sparsities) in SHAPES.items():
        X = np.random.default_rng(0).standard_normal((settings.rows(rows), n_features))
        yield random_problem(X, n_atoms, name, sparsities)


def random_problem(
    X: Array, n_atoms: int, name: str = "", sparsities: tuple[int, ...] = (2,)
) -> Problem:
    """Return signals with atoms in random directions."""
    atoms = random_atoms(n_atoms, X.shape[1], np.random.default_rng(1))
    return Problem(name, X, atoms, spread_radii(n_atoms), sparsities)


def table_problems(settings: Settings) -> Iterator[Problem]:
    """Yield real tables with dependency anomalies, z-scored, with dictionaries by AK-SVD."""
    for name in settings.tables:
        table = dependency_table(name)[0]
        X = z_scored(table)
        atoms = aksvd(X, ATOMS_PER_FEATURE * X.shape[1], random_state=0)
        yield Problem(name, X, atoms, spread_radii(len(atoms)))


def missing_tables(names: Iterable[str]) -> dict[str, str]:
    """Return the tables that cannot be had here, and why."""
    missing = {}
    for name in names:
        try:
            fetch_adbench(name)
        except (ImportError, OSError) as error:
            missing[name] = str(error)
    return missing


@cache
def dependency_table(name: str) -> tuple[Array, NDArray[np.int64]]:
    """Return one of ADBench's tables with dependency anomalies of seed 1, made once a run."""
    return adbench_anomalies(*fetch_adbench(name), kind="dependency", seed=1)


def split_table(name: str) -> Split:
    """Return 70 % of a table with dependency anomalies to fit on, the rest to score."""
    return _split(name, *dependency_table(name))


def made_split(rows: int, n_features: int) -> Split:
    """Return a made table of ``rows`` rows, one in twenty a dependency anomaly, split the same."""
    n_anomalies = max(2, rows // 20)
    normal = dependent_rows(rows - n_anomalies, n_features)
    X, y = make_dependency_anomalies(normal, n_anomalies=n_anomalies, random_state=0)
    return _split(f"made, {rows:,} x {n_features}", X, y)


def dependent_rows(rows: int, n_features: int) -> Array:
    """Return rows whose features follow a third as many hidden causes, plus noise.

    Filled piece by piece, so that memory never exceeds the result's.
    """
    rng = np.random.default_rng(0)
    loadings = rng.standard_normal((max(1, n_features // 3), n_features))
    X = np.empty((rows, n_features))
    for start in range(0, rows, 10_000):
        part = X[start : start + 10_000]
        part[:] = rng.standard_normal((len(part), len(loadings))) @ loadings
        part += 0.3 * rng.standard_normal(part.shape)
    return X


def _split(name: str, X: Array, y: NDArray[np.int64]) -> Split:
    train, test, _, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=1)
    mean, scale = train.mean(axis=0), _scale(train)
    return Split(name, (train - mean) / scale, (test - mean) / scale, y_test)


def z_scored(table: Array) -> Array:
    """Return a table of mean 0 and standard deviation 1."""
    scored: Array = (table - table.mean(axis=0)) / _scale(table)
    return scored


def _scale(table: Array) -> Array:
    """Return standard deviations, 1 for constant features."""
    deviations: Array = table.std(axis=0)
    return np.where(deviations > 0, deviations, 1.0)


def spread_radii(n_atoms: int) -> Array:
    """Return radii for so many atoms, evenly between the least and the largest."""
    return np.random.default_rng(1).permutation(np.linspace(*RADII, n_atoms))
