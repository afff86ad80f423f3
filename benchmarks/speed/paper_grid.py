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

from benchmarks.speed.lines import Line
from benchmarks.speed.settings import Settings
from benchmarks.speed.shapes import Array, missing_tables, split_table
from setatoms import ConeAtomDetector, GaussianAtomDetector
from setatoms.datasets import ADBENCH_DATASETS
from setatoms.geometry import InfeasibleConesError

SHARE = 0.02
RUNS = 5
RADII = ((0.01, 0.1), (0.04, 0.12))
DISTRIBUTIONS = ("linear", "50-50", "80-20")
GAUSSIAN_RATIOS, CONE_RATIOS = (2.0, 2.5, 3.0), (2.0, 3.0, 4.0)
GAUSSIAN_METHODS: dict[str, dict[str, Any]] = {
    "Gauss-L1": {"learn": False},
    "DL-Gauss-L1": {"adapt": None},
    "DLG-L1-adapt 0": {"adapt": "l0"},
    "DLG-L1-adapt 1": {"adapt": "l1"},
}
CONE_METHODS: dict[str, dict[str, Any]] = {
    "Cone-DL": {"adapt": None, "init": "random"},
    "Cone-DL-D": {"adapt": None},
    "DLC-adapt 0": {"adapt": "l0", "init": "random"},
    "DLC-adapt 1": {"adapt": "l1", "init": "random"},
    "DLC-D-adapt 0": {"adapt": "l0"},
    "DLC-D-adapt 1": {"adapt": "l1"},
}


class Cell(NamedTuple):
    """One fit of the grid."""

    dataset: str
    method: str
    ratio: float
    radii: tuple[float, float]
    distribution: str
    run: int

    def detector(self) -> GaussianAtomDetector | ConeAtomDetector:
        """Return the detector to fit."""
        cone = self.method in CONE_METHODS
        kind = ConeAtomDetector if cone else GaussianAtomDetector
        return kind(
            n_atoms=self.ratio, radii=self.radii, radii_distribution=self.distribution,
            contamination=0.1, n_jobs=1, random_state=self.run,
            **(CONE_METHODS if cone else GAUSSIAN_METHODS)[self.method],
        )  # fmt: skip


def all_cells(datasets: tuple[str, ...] = ADBENCH_DATASETS) -> list[Cell]:
    """Return the whole grid: 900 fits a dataset."""
    kinds = ((GAUSSIAN_METHODS, GAUSSIAN_RATIOS), (CONE_METHODS, CONE_RATIOS))
    return [
        Cell(*cell)
        for methods, ratios in kinds
        for cell in product(datasets, methods, ratios, RADII, DISTRIBUTIONS, range(1, RUNS + 1))
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
    for method in ("DLG-L1-adapt 1", "DLC-D-adapt 1"):
        _fit_and_score(Cell("", method, 2.0, RADII[0], "linear", 1), (X, X))


def _fit_and_score(cell: Cell, tables: tuple[Array, Array]) -> float:
    """Return the seconds of one cell; NaN where its cones do not fit."""
    train, test = tables
    start = time.perf_counter()
    try:
        cell.detector().fit(train).score_samples(test)
    except InfeasibleConesError:
        return float("nan")
    return time.perf_counter() - start
