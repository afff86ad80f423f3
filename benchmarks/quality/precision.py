"""What it costs that Gauss-L1 looks for codes in single precision where the tolerance is coarse."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple
from unittest.mock import patch

import click
import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from benchmarks import markdown
from benchmarks.quality.options import Options
from benchmarks.quality.splits import Array, Split, clean_split, tables, unwarned
from setatoms import SetAtomEnsemble, aksvd, gauss_l1

SEED = 1
# The tolerance from which single precision is taken; it is the same with both.
TOL = 1e-4
PRECISIONS = {"single": 1e-5, "double": inf}


class Difference(NamedTuple):
    """Single against double precision, on one table."""

    area: float  # ROC AUC of the ensemble
    mean_error: float  # of Gauss-L1, as a share
    median_error: float  # of a row
    far: float  # share of rows whose error differs by more than 1e-4 of it


def study(options: Options) -> str:
    """Run the study."""
    differences = []
    for name in tables(options.quick):
        differences.append(compare(clean_split(name, SEED)))
        click.echo(f"{name} done")
    return page(differences)


def compare(split: Split) -> Difference:
    """Return how both precisions differ, with dictionaries learned in each, and in the errors."""
    scaler = StandardScaler().fit(split.train)
    start = aksvd(scaler.transform(split.train), 3 * split.train.shape[1], random_state=SEED)
    areas, errors = [], []
    for from_tol in PRECISIONS.values():
        with patch("setatoms.coding.gauss.coder._COARSE", from_tol), unwarned():
            detector = SetAtomEnsemble(views=("relation",), random_state=SEED).fit(split.train)
            areas.append(roc_auc_score(split.y_test, -detector.score_samples(split.test)))
            errors.append(_errors(scaler.transform(split.test), start))
    single, double = errors
    apart = np.abs(single - double) / np.maximum(double, np.finfo(float).tiny)
    return Difference(
        area=abs(areas[0] - areas[1]),
        mean_error=abs(single.mean() / double.mean() - 1),
        median_error=float(np.median(apart)),
        far=float(np.mean(apart > 1e-4)),
    )


def page(differences: Sequence[Difference]) -> str:
    """Return means and the largest, with what is held to 1e-4."""
    found = np.array(differences)
    means, largest = found.mean(axis=0), found.max(axis=0)
    held = {
        "AUC of the ensemble": True,
        "mean error of Gauss-L1": True,
        "error of the median row": True,
        "share of rows whose error differs by more than 1e-4": False,
    }
    rows = [
        [name, f"{mean:.1e}", f"{most:.1e}", markdown.verdict(mean <= 1e-4) if is_held else ""]
        for (name, is_held), mean, most in zip(held.items(), means, largest, strict=True)
    ]
    return markdown.table(["difference", "mean", "largest", "at most 1e-4"], rows)


def _errors(X: Array, atoms: Array) -> Array:
    radii = np.full(len(atoms), 0.08)
    return np.asarray(gauss_l1(X, atoms, radii, tol=TOL).errors, np.float64)
