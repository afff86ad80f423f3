"""The paper's methods by name, with the configurations of its grid."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from benchmarks.paper.configurations import (
    CONE_GRID,
    GAUSSIAN_GRID,
    VECTOR_GRID,
    AtomConfiguration,
    Grid,
    by_name,
)
from benchmarks.paper.rows import Rows
from benchmarks.paper.sources import Array
from setatoms import estimators
from setatoms.learning import count_atoms

N_STARTS = 5


class Scored(NamedTuple):
    """How abnormal each test row is (n_test,), the error per element, and the time it took."""

    abnormality: Array
    error: float | None
    seconds: float


class Method(Protocol):
    """A way to rank rows. Worker processes get a copy, so it must be picklable."""

    @property
    def name(self) -> str:
        """The name under which results are stored."""

    @property
    def configs(self) -> Mapping[str, Any]:
        """The configurations by name."""

    @property
    def repeated(self) -> tuple[str, ...]:
        """Names of the configurations that the paper's suite repeats with every seed."""

    @property
    def studied(self) -> tuple[str, ...]:
        """Names of the configurations that the paper's suite runs with the first seed."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Packages that must be installed."""

    def score(self, rows: Rows, config: str, seed: int) -> Scored:
        """Learn from ``rows.train`` and rank ``rows.test``."""


@dataclass(frozen=True)
class AtomMethod:
    """One of our detectors, told which of the paper's methods to be.

    Parameters
    ----------
    name : str
        The paper's name.
    detector : str
        Class in `setatoms.estimators`.
    configs : dict
        The configurations by name.
    repeated : tuple of str
        Names of those to repeat with every seed.
    fixed : dict
        Constructor arguments that make it this method.
    shares_start : bool
        Whether atoms start from AK-SVD, computed once for all methods.
    """

    name: str
    detector: str
    configs: Grid
    repeated: tuple[str, ...]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    shares_start: bool = False
    needs: tuple[str, ...] = ()

    @property
    def studied(self) -> tuple[str, ...]:
        """Names of the configurations with the first of several starts."""
        return tuple(name for name, config in self.configs.items() if config.start == 1)

    def score(self, rows: Rows, config: str, seed: int) -> Scored:
        """Learn from ``rows.train`` and rank ``rows.test``."""
        _warm_up(self.detector)
        chosen = self.configs[config]
        random_state = chosen.random_state(seed)
        arguments = chosen.arguments | dict(self.fixed)
        spent = 0.0
        if self.shares_start:
            n_atoms = count_atoms(arguments["n_atoms"], rows.train.shape[1])
            arguments["n_atoms"] = n_atoms  # a count of its own would not fit the start
            arguments["init"], spent = rows.start(n_atoms, random_state)
        detector = _make(self.detector, random_state, arguments)
        began = time.perf_counter()
        errors = -detector.fit(rows.train).score_samples(rows.test)
        spent += time.perf_counter() - began
        return Scored(errors, float(errors.mean()), spent)


def _make(detector: str, random_state: int, arguments: Mapping[str, Any]) -> Any:
    # Ranking needs no threshold, and a given share spares the cross-fitting of "auto".
    # Cells run side by side, each on one core.
    return getattr(estimators, detector)(
        contamination=0.1, n_jobs=1, random_state=random_state, views=("relation",), **arguments
    )


@cache
def _warm_up(detector: str) -> None:
    """Compile, or load from the cache, what `detector` calls: that is not the method's time."""
    X = np.random.default_rng(0).normal(size=(60, 4))
    _make(detector, 0, {"n_atoms": 6}).fit(X).score_samples(X)


def _gaussian(name: str, **fixed: Any) -> AtomMethod:
    best = [c for c in GAUSSIAN_GRID if (c.atoms_per_feature, c.radii) == (3.0, (0.04, 0.12))]
    configs, repeated = _with_starts(GAUSSIAN_GRID, best)
    return AtomMethod(name, "GaussianAtomDetector", configs, repeated, fixed, shares_start=True)


def _cone(name: str, *, shares_start: bool, adapt: str | None) -> AtomMethod:
    best = [c for c in CONE_GRID if (c.atoms_per_feature, c.radii) == (4.0, (0.04, 0.12))]
    configs, repeated = _with_starts(CONE_GRID, best)
    fixed = {"adapt": adapt} if shares_start else {"adapt": adapt, "init": "random"}
    return AtomMethod(name, "ConeAtomDetector", configs, repeated, fixed, shares_start)


def _with_starts(
    grid: list[AtomConfiguration], best: list[AtomConfiguration]
) -> tuple[Grid, tuple[str, ...]]:
    """Return all configurations, the best also from further starts, and the names of the best."""
    further = [config for chosen in best for config in chosen.starts(N_STARTS)]
    return by_name(grid + further), tuple(by_name(best))


_VECTORS, _VECTOR_NAMES = _with_starts(VECTOR_GRID, VECTOR_GRID)

PAPER_METHODS: tuple[AtomMethod, ...] = (
    AtomMethod("AK-SVD + OMP", "VectorAtomDetector", _VECTORS, _VECTOR_NAMES),
    _gaussian("Gauss-L1", learn=False),
    _gaussian("DL-Gauss-L1", adapt=None),
    _gaussian("DLG-L1-adapt (0-norm)", adapt="l0"),
    _gaussian("DLG-L1-adapt (1-norm)", adapt="l1"),
    _cone("Cone-DL", shares_start=False, adapt=None),
    _cone("Cone-DL-D", shares_start=True, adapt=None),
    _cone("DLC-adapt (0-norm)", shares_start=False, adapt="l0"),
    _cone("DLC-adapt (1-norm)", shares_start=False, adapt="l1"),
    _cone("DLC-D-adapt (0-norm)", shares_start=True, adapt="l0"),
    _cone("DLC-D-adapt (1-norm)", shares_start=True, adapt="l1"),
)
