"""The paper's grid of 27,000 fits, extrapolated from a random sample of its cells."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.paper.configurations import CONE_GRID, GAUSSIAN_GRID, AtomConfiguration
from benchmarks.paper.methods import PAPER_METHODS
from benchmarks.paper.published import CONE_METHODS, GAUSSIAN_METHODS
from benchmarks.speed.lines import Line
from benchmarks.speed.settings import Settings
from benchmarks.speed.shapes import Array, missing_tables, split_table
from setatoms import estimators
from setatoms.datasets import ADBENCH_DATASETS
from setatoms.geometry import InfeasibleConesError

SHARE = 0.02
RUNS = 5
METHODS = {method.name: method for method in PAPER_METHODS}


class Cell(NamedTuple):
    """One fit of the grid."""

    dataset: str
    method: str
    config: AtomConfiguration
    run: int

    def detector(self) -> Any:
        """Return the detector to fit."""
        method = METHODS[self.method]
        return getattr(estimators, method.detector)(
            contamination=0.1, n_jobs=1, random_state=self.run,
            **self.config.arguments, **method.fixed,
        )  # fmt: skip


def all_cells(datasets: tuple[str, ...] = ADBENCH_DATASETS) -> list[Cell]:
    """Return the whole grid: 900 fits a dataset."""
    kinds = ((GAUSSIAN_METHODS, GAUSSIAN_GRID), (CONE_METHODS, CONE_GRID))
    return [
        Cell(*cell)
        for methods, grid in kinds
        for cell in product(datasets, methods, grid, range(1, RUNS + 1))
    ]


def paper_lines(settings: Settings) -> Iterator[Line]:
    """Fit and score a random sample, as many cells at a time as there are threads.

    A run differs from another of the same dataset by its seed, not by its size, so all use the rows
    of seed 1: making the tables is not part of the time.
    """
    cells = all_cells()
    case = f"{len(cells):,} fits"
    missing = missing_tables(ADBENCH_DATASETS)
    if missing:
        reason = "; ".join(f"{name}: {why}" for name, why in missing.items())
        yield Line("paper", case, "all methods", skipped=reason)
        return
    rng = np.random.default_rng(0)
    size = round(SHARE * len(cells) / settings.shrink)
    chosen = [cells[k] for k in rng.choice(len(cells), size, replace=False)]
    splits = {name: split_table(name) for name in dict.fromkeys(cell.dataset for cell in chosen)}
    tables = [(splits[cell.dataset].train, splits[cell.dataset].test) for cell in chosen]
    wall, seconds = _run(chosen, tables, settings.threads)
    fitted = seconds[np.isfinite(seconds)]
    each = wall / len(chosen)
    yield Line(
        "paper", case, "all methods",
        shape=f"{len(chosen)} cells at random", seconds=wall,
        results={
            "minutes": each * len(cells) / 60,
            "± %": 100 * float(fitted.std() / np.sqrt(len(fitted)) / fitted.mean()),
            "infeasible": float(len(seconds) - len(fitted)),
        },
    )  # fmt: skip


def _run(cells: list[Cell], tables: list[tuple[Array, Array]], workers: int) -> tuple[float, Array]:
    """Return the wall time of all cells and the seconds of each."""
    spawn = get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=spawn, initializer=_warm_up) as pool:
        # one waiting task each, so that both processes stand ready before the clock starts
        list(pool.map(time.sleep, [0.5] * workers))
        start = time.perf_counter()
        seconds = list(pool.map(_fit_and_score, cells, tables))
        return time.perf_counter() - start, np.array(seconds)


def _warm_up() -> None:
    """Load the kernels of a new worker and hold BLAS to one thread."""
    threadpool_limits(limits=1)
    warnings.simplefilter("ignore", UserWarning)  # small tables have few rows for their atoms
    X = np.random.default_rng(0).normal(size=(200, 6))
    for method, grid in (
        ("DLG-L1-adapt (1-norm)", GAUSSIAN_GRID),
        ("DLC-D-adapt (1-norm)", CONE_GRID),
    ):
        _fit_and_score(Cell("", method, grid[0], 1), (X, X))


def _fit_and_score(cell: Cell, tables: tuple[Array, Array]) -> float:
    """Return the seconds of one cell; NaN where its cones do not fit."""
    train, test = tables
    start = time.perf_counter()
    try:
        cell.detector().fit(train).score_samples(test)
    except InfeasibleConesError:
        return float("nan")
    return time.perf_counter() - start
