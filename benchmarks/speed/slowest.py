"""How much longer than others a single row may take in Gauss-L1: on real tables, and far out."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np

from benchmarks.speed.lines import Line
from benchmarks.speed.settings import Settings
from benchmarks.speed.shapes import ATOMS_PER_FEATURE, Array, missing_tables, spread_radii, z_scored
from setatoms import aksvd
from setatoms.coding.batch import errors
from setatoms.coding.gauss.coder import GaussCoder
from setatoms.datasets import ADBENCH_DATASETS, fetch_adbench

# How many times as far from the mean rows are moved.
MOVES = (1, 2, 10, 30, 100, 1_000, 1_000_000)
# Rows of a table that are timed; those that groups do not solve are, above that.
PICKED, PICKED_FAR = 200, 20
# A row's time is that of a table that consists of copies of it, fewer where they may take long.
COPIES, COPIES_FAR = 128, 16
TOLERANCE = 1e-7
CASE = f"{len(ADBENCH_DATASETS)} tables"


def slowest_lines(settings: Settings) -> Iterator[Line]:
    """Time single rows of all tables: the slowest one against the median of its table."""
    missing = missing_tables(ADBENCH_DATASETS)
    if missing:
        name, why = next(iter(missing.items()))
        reason = f"{len(missing)} of {len(ADBENCH_DATASETS)} tables cannot be had, {name}: {why}"
        yield Line("slowest", CASE, "as they are", skipped=reason)
        return
    worst = dict.fromkeys(MOVES, 0.0)
    usual = dict.fromkeys(MOVES, 0.0)
    for name in ADBENCH_DATASETS:
        ordinary = 0.0
        for move, seconds in _times(name, settings):
            median = float(np.median(seconds))
            ordinary = ordinary or median
            worst[move] = max(worst[move], seconds.max() / median)
            usual[move] = max(usual[move], seconds.max() / ordinary)
    for move in MOVES:
        where = "as they are" if move == 1 else f"{move:,} times as far out"
        results = {"times the median": worst[move], "times the median as they are": usual[move]}
        yield Line("slowest", CASE, where, results=results)


def _times(name: str, settings: Settings) -> Iterator[tuple[int, Array]]:
    """Yield how far rows are moved, and the seconds of each."""
    X = z_scored(fetch_adbench(name)[0])
    atoms = aksvd(X[:5_000], min(ATOMS_PER_FEATURE * X.shape[1], len(X)), random_state=0)
    coder = GaussCoder(atoms, spread_radii(len(atoms)), 1.0, 1.0, 1_000, TOLERANCE)
    rng = np.random.default_rng(0)
    picked = rng.permutation(len(X))[: settings.rows(PICKED)]
    special = np.flatnonzero(np.array(coder.solvers(X)) != "groups")
    errors(coder, 1e3 * X[:10], n_jobs=1)  # so that all is loaded
    for move in MOVES:
        rows = np.union1d(picked, special) if move == 1 else picked[: settings.rows(PICKED_FAR)]
        copies = COPIES if move == 1 else COPIES_FAR
        yield move, np.array([_seconds(coder, move * X[row], copies) for row in rows])


def _seconds(coder: GaussCoder, row: Array, n_copies: int) -> float:
    """Return the seconds for one row, the best of three."""
    copies = np.tile(row, (n_copies, 1))
    found = []
    for _ in range(3):
        start = perf_counter()
        errors(coder, copies, n_jobs=1)
        found.append(perf_counter() - start)
    return min(found) / n_copies
