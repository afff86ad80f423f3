"""Are anomalies found among the very rows that were learned from, as `setatoms detect` does?

A benchmark on unseen rows cannot tell: a model that learns its anomalies by heart does well there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import click
import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler

from benchmarks import markdown
from benchmarks.quality.options import Options
from benchmarks.quality.splits import RELATION_DETECTORS, Array, mixed_table, tables, unwarned
from setatoms import SetAtomEnsemble

SEED = 1
ENSEMBLE = "ensemble"

Score = Callable[[Array], Array]  # from rows to how abnormal they are
Areas = dict[str, list[float]]  # ROC AUC on each table


def study(options: Options) -> str:
    """Run the study."""
    areas: Areas = {name: [] for name in METHODS}
    for name in tables(options.quick):
        X, y = mixed_table(name, SEED)
        for method, score in METHODS.items():
            with unwarned():
                areas[method].append(float(roc_auc_score(y, score(X))))
        click.echo(f"{name} done")
    return page(areas)


def page(areas: Mapping[str, Sequence[float]]) -> str:
    """Return the mean of each method, and on how many tables the ensemble is above it."""
    ours = np.array(areas[ENSEMBLE])
    rows = [
        [name, f"{np.mean(found):.4f}", "" if name == ENSEMBLE else _wins(ours, found)]
        for name, found in areas.items()
    ]
    return markdown.table(["", "mean AUC", "the ensemble is above it on"], rows)


def _wins(ours: Array, theirs: Sequence[float]) -> str:
    return f"{np.sum(ours > np.array(theirs))} of {len(ours)}"


def _with_ours(make: Callable[..., Any]) -> Score:
    def score(X: Array) -> Array:
        # ranking needs no threshold
        return -make(contamination=0.1, random_state=SEED).fit(X).score_samples(X)

    return score


def _with_lof(X: Array) -> Array:
    Z = StandardScaler().fit_transform(X)
    return -np.asarray(LocalOutlierFactor().fit(Z).negative_outlier_factor_)


def _with_forest(X: Array) -> Array:
    return -np.asarray(IsolationForest(random_state=SEED).fit(X).score_samples(X))


METHODS: dict[str, Score] = {
    ENSEMBLE: _with_ours(partial(SetAtomEnsemble, views=("relation",))),
    **{name: _with_ours(make) for name, make in RELATION_DETECTORS.items()},
    "LOF": _with_lof,
    "isolation forest": _with_forest,
}
