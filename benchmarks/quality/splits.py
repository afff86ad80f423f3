"""Tables with dependency anomalies, split for fitting on normal rows alone or on mixed rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from setatoms import ConeAtomDetector, GaussianAtomDetector, VectorAtomDetector
from setatoms.datasets import ADBENCH_DATASETS, adbench_anomalies, fetch_adbench

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

DETECTORS = {
    "Gaussian": GaussianAtomDetector,
    "cone": ConeAtomDetector,
    "vector": VectorAtomDetector,
}
# As in the paper: the representation error and nothing else.
RELATION_DETECTORS = {
    name: partial(detector, views=("relation",)) for name, detector in DETECTORS.items()
}
QUICK_TABLES = ("wine", "glass", "WPBC")
# enough to know a share of 5 % to half a per cent, and few enough for 30 tables and three seeds
MOST_ROWS = 3_000


@dataclass(frozen=True)
class Split:
    """Rows to fit on, and rows to judge with their labels (1 for an anomaly)."""

    train: Array
    test: Array
    y_test: Labels


@contextmanager
def unwarned() -> Iterator[None]:
    """Silence warnings: small tables and constant columns are part of the studies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def tables(quick: bool) -> tuple[str, ...]:
    """Return the names of the tables to study."""
    return QUICK_TABLES if quick else ADBENCH_DATASETS


def clean_split(name: str, seed: int) -> Split:
    """Return half the normal rows to fit on; the other half and all anomalies to judge."""
    X, y = mixed_table(name, seed)
    normal = np.random.default_rng(seed).permutation(X[y == 0])
    train, held_out = np.split(normal, [len(normal) // 2])
    labels = np.repeat([0, 1], [len(held_out), np.sum(y == 1)])
    return Split(train, np.concatenate([held_out, X[y == 1]]), labels)


def mixed_split(name: str, seed: int) -> Split:
    """Return 70 % of the rows, anomalies among them, to fit on; the rest to judge."""
    X, y = mixed_table(name, seed)
    train, test, _, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    return Split(train, test, y_test)


def cases(quick: bool, seeds: tuple[int, ...]) -> Iterator[tuple[str, int]]:
    """Yield each table with each seed."""
    for name in tables(quick):
        for seed in seeds[:1] if quick else seeds:
            yield name, seed


@cache
def mixed_table(name: str, seed: int) -> tuple[Array, Labels]:
    """Return the rows of a table, some thousand at most, and which are anomalies."""
    X, y = adbench_anomalies(*fetch_adbench(name), kind="dependency", seed=seed)
    if len(X) > MOST_ROWS:
        X, _, y, _ = train_test_split(X, y, train_size=MOST_ROWS, stratify=y, random_state=seed)
    return X, y
