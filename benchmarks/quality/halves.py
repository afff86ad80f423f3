"""Half of the tables to choose by, the other half to confirm on, and figures that are kept.

Rows are those of the cells of ``paper run``: the same anomalies, the same split. Half of
the tables with seeds 1 to 3 is for choosing; the other half with seeds 4 and 5 has no part in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.cache import Arrays, cached, file_of
from benchmarks.paper.ensembles import (
    CONFIRMATION_DATASETS,
    CONFIRMATION_SEEDS,
    DESIGN_DATASETS,
    DESIGN_SEEDS,
)
from benchmarks.paper.rows import Rows, prepare
from benchmarks.paper.sources import AdbenchTable
from benchmarks.quality.splits import QUICK_TABLES

Figures = dict[str, float]


class Case(NamedTuple):
    """A table with anomalies of one kind, made and split by a seed."""

    name: str
    seed: int
    anomalies: str = "dependency"

    def rows(self, folder: Path) -> Rows:
        """Return the rows of the benchmark's cells; the table is kept in `folder`."""
        return prepare(AdbenchTable(self.name), self.anomalies, self.seed, folder)

    def __str__(self) -> str:
        return f"{self.name}-{self.anomalies}-{self.seed}"


@dataclass(frozen=True)
class Half:
    """Some tables with some seeds."""

    datasets: Sequence[str]
    seeds: Sequence[int]

    def cases(self, quick: bool) -> list[Case]:
        """Return every table with every seed, or small tables with the first."""
        if quick:
            small = [name for name in self.datasets if name in QUICK_TABLES]
            return [Case(name, self.seeds[0]) for name in small]
        return [Case(*case) for case in product(self.datasets, self.seeds)]


DESIGN = Half(DESIGN_DATASETS, DESIGN_SEEDS)
CONFIRMATION = Half(CONFIRMATION_DATASETS, CONFIRMATION_SEEDS)


def kept(path: Path, settings: object, compute: Callable[[], Mapping[str, float]]) -> Figures:
    """Return the figures in a file beside `path`, after computing and writing them if need be.

    Other `settings` have a file of their own.
    """
    arrays = cached(file_of(path, settings), lambda: _arrays(compute()))
    return dict(zip(arrays["names"].tolist(), arrays["figures"].tolist(), strict=True))


def _arrays(figures: Mapping[str, float]) -> Arrays:
    return {"names": np.array(list(figures)), "figures": np.array(list(figures.values()))}
