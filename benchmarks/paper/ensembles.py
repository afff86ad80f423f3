"""Ensembles in the benchmark: ours with its ablations, and those of neighbour methods beside it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Self

import numpy as np

from benchmarks.paper.methods import Scored
from benchmarks.paper.peers import Peer
from benchmarks.paper.rows import Rows
from benchmarks.paper.sources import Array
from setatoms.datasets import ADBENCH_DATASETS
from setatoms.estimators import SetAtomEnsemble
from setatoms.views import VIEWS

# The design is chosen on one half of the tables with these seeds, and confirmed on the other half
# with the others.
DESIGN_SEEDS, CONFIRMATION_SEEDS = (1, 2, 3), (4, 5)
# every other one of an alphabetical list: sizes and origins are alike in both
DESIGN_DATASETS, CONFIRMATION_DATASETS = ADBENCH_DATASETS[::2], ADBENCH_DATASETS[1::2]

# All views of a row; the other configurations have the relation alone, as the paper's methods.
ALL_VIEWS: dict[str, dict[str, Any]] = {"all views": {"views": VIEWS}}
BUDGETS: dict[str, dict[str, Any]] = {
    name: {"budget": name} for name in ("balanced", "fast", "best")
}
# What an ensemble is made of.
MEMBERS: dict[str, dict[str, Any]] = {
    f"one {kind}": {"n_members": 1, "kinds": (kind,)} for kind in ("gaussian", "cone")
}
# One thing differs from the balanced budget in each.
ABLATIONS: dict[str, dict[str, Any]] = {
    **{f"members {n}": {"n_members": n} for n in (2, 12, 30)},
    "kinds gaussian": {"kinds": ("gaussian",)},
    "kinds cone": {"kinds": ("cone",)},
    **{f"diversity {name}": {"diversity": name} for name in ("starts", "sizes", "radii")},
    **{f"rule {name}": {"rule": name} for name in ("mean", "median", "upper-half", "least")},
    **{f"iterations {n}": {"n_iter": n} for n in (5, 20)},
    **{f"atoms {n}": {"n_atoms": n} for n in (3.0, 6.0, 10.0)},
    "subsample 0.6": {"subsample": 0.6},
}


@dataclass(frozen=True)
class EnsembleMethod:
    """`SetAtomEnsemble` with the arguments of each configuration.

    Parameters
    ----------
    name : str
        The name under which results are stored.
    configs : dict
        Arguments of the constructor by configuration.
    repeated : tuple of str
        Names of those to repeat with every seed.
    """

    name: str
    configs: Mapping[str, Mapping[str, Any]]
    repeated: tuple[str, ...]
    needs: tuple[str, ...] = ()

    @property
    def studied(self) -> tuple[str, ...]:
        """All configurations."""
        return tuple(self.configs)

    def score(self, rows: Rows, config: str, seed: int) -> Scored:
        """Learn from ``rows.train`` and rank ``rows.test``."""
        _warm_up()
        began = time.perf_counter()
        detector = _make(seed, self.configs[config]).fit(rows.train)
        abnormality = -detector.score_samples(rows.test)
        # relative to training errors, so there is no error per element to report
        return Scored(abnormality, None, time.perf_counter() - began)


class NeighbourEnsemble:
    """The mean of the standardised scores of one of PyOD's detectors over neighbourhood sizes.

    Parameters
    ----------
    detector : str
        ``"module:name"`` of the detector.
    sizes : tuple of int
        Its `n_neighbors`; those not below the number of rows are left out.
    **arguments
        What else it is made with.
    """

    def __init__(self, detector: str, sizes: tuple[int, ...], **arguments: Any) -> None:
        self.detector = detector
        self.sizes = sizes
        self.arguments = arguments

    def fit(self, X: Array) -> Self:
        """Fit one detector for each size to `X` (n_samples, n_features)."""
        module, _, name = self.detector.partition(":")
        make = getattr(import_module(module), name)
        sizes = [size for size in self.sizes if size < len(X)] or [max(1, len(X) - 1)]
        self.members_ = [make(n_neighbors=size, **self.arguments).fit(X) for size in sizes]
        return self

    def decision_function(self, X: Array) -> Array:
        """Return how abnormal rows are, in deviations of the scores of training rows."""
        total = np.zeros(len(X))
        for member in self.members_:
            known = member.decision_scores_
            total += (member.decision_function(X) - known.mean()) / max(known.std(), 1e-12)
        return total / len(self.members_)


def _make(random_state: int, arguments: Mapping[str, Any]) -> SetAtomEnsemble:
    # Ranking needs no threshold, and cells run side by side, each on one core.
    chosen: dict[str, Any] = {"views": ("relation",)} | dict(arguments)
    return SetAtomEnsemble(contamination=0.1, n_jobs=1, random_state=random_state, **chosen)


@cache
def _warm_up() -> None:
    """Compile, or load from the cache, what ensembles call: that is not the method's time."""
    X = np.random.default_rng(0).normal(size=(60, 4))
    _make(0, {"n_members": 2, "n_atoms": 6, "views": VIEWS}).fit(X).score_samples(X)


def _neighbours(name: str, sizes: tuple[int, ...]) -> Peer:
    arguments = {"detector": f"pyod.models.{name.lower()}:{name}", "sizes": sizes}
    return Peer(f"{name} ensemble", NeighbourEnsemble, {"default": arguments}, ("pyod",))


ENSEMBLE = EnsembleMethod(
    "SetAtomEnsemble", BUDGETS | MEMBERS | ABLATIONS | ALL_VIEWS, (*BUDGETS, *MEMBERS)
)
NEIGHBOUR_ENSEMBLES: tuple[Peer, ...] = (
    _neighbours("LOF", (5, 10, 15, 20, 25, 30, 40, 50, 70, 100)),
    _neighbours("COF", (10, 20, 30)),
)
