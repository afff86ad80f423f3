"""Whether anomalies are found among the very rows learned from, as `setatoms detect` does.

A benchmark on unseen rows cannot tell: a model that learns its anomalies by heart does well there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import click
import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks import markdown
from benchmarks.quality.options import Options
from benchmarks.quality.rankings import Score, forest, lof, ours
from benchmarks.quality.splits import RELATION_DETECTORS, Array, mixed_table, tables, unwarned
from setatoms import SetAtomEnsemble

SEED = 1
ENSEMBLE = "ensemble"

Areas = dict[str, list[float]]  # ROC AUC on each table


def study(options: Options) -> str:
    """Run the study."""
    areas: Areas = {name: [] for name in METHODS}
    for name in tables(options.quick):
        X, y = mixed_table(name, SEED)
        for method, score in METHODS.items():
            with unwarned():
                areas[method].append(float(roc_auc_score(y, score(X, SEED))))
        click.echo(f"{name} done")
    return page(areas)


def page(areas: Mapping[str, Sequence[float]]) -> str:
    """Return the mean of each method, and on how many tables the ensemble is above it."""
    of_ensemble = np.array(areas[ENSEMBLE])
    rows = [
        [name, f"{np.mean(found):.4f}", "" if name == ENSEMBLE else _wins(of_ensemble, found)]
        for name, found in areas.items()
    ]
    return markdown.table(["", "mean AUC", "the ensemble is above it on"], rows)


def _wins(ours: Array, theirs: Sequence[float]) -> str:
    return f"{np.sum(ours > np.array(theirs))} of {len(ours)}"


METHODS: dict[str, Score] = {
    ENSEMBLE: ours(partial(SetAtomEnsemble, views=("relation",))),
    **{name: ours(make) for name, make in RELATION_DETECTORS.items()},
    "LOF": lof,
    "isolation forest": forest,
}
