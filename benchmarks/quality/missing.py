"""Missing values: what they cost in AUC, and how good filled values are beside other imputers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.impute import KNNImputer
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from benchmarks import markdown
from benchmarks.quality.options import Options
from benchmarks.quality.splits import RELATION_DETECTORS, Split, cases, mixed_split, unwarned

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

SEEDS = (1,)
SHARE = 0.1
MOST_LOST = 0.03
# of 30 tables; a quick run asks for the same share
LEAST_WINS = 27 / 30

DETECTION = (
    "detector",
    "AUC, all values",
    "AUC, 10 % missing",
    "lost",
    "lost at most",
    "AUC, mean-filled",
)
IMPUTATION = (
    "filled by",
    "mean RMSE",
    "below the mean's",
    "below KNN's",
    "mean RMSE, normal rows",
    "below the mean's, normal rows",
    "below KNN's, normal rows",
)
MEAN, KNN = "mean", "KNN (5 neighbours)"


class Detection(NamedTuple):
    """AUC of one detector on one table."""

    whole: float
    filled: float
    mean_filled: float


class Imputation(NamedTuple):
    """RMSE of hidden test entries on one table, in standard deviations of their columns."""

    every_row: float
    normal_rows: float


Detections = Mapping[str, list[Detection]]
Imputations = Mapping[str, list[Imputation]]


def study(options: Options) -> str:
    """Run the study."""
    detections: dict[str, list[Detection]] = defaultdict(list)
    imputations: dict[str, list[Imputation]] = defaultdict(list)
    names = []
    for name, seed in cases(options.quick, SEEDS):
        names.append(name)
        with unwarned():
            _study(_standardised(mixed_split(name, seed)), seed, detections, imputations)
        latest = (f"{kind} {found[-1]}" for kind, found in detections.items())
        click.echo(" ".join([name, *latest]))
    return "\n\n".join(
        (
            _goals(detections, imputations),
            markdown.table(DETECTION, [_detection_row(*item) for item in detections.items()]),
            markdown.table(
                IMPUTATION, [_imputation_row(kind, imputations) for kind in imputations]
            ),
            "AUC lost and RMSE of each table:",
            _each_table(names, detections, imputations),
        )
    )


def _standardised(split: Split) -> Split:
    """Return the split in standard deviations of the training rows, so that RMSE compares."""
    scaler = StandardScaler().fit(split.train)
    return Split(scaler.transform(split.train), scaler.transform(split.test), split.y_test)


def _study(
    split: Split,
    seed: int,
    detections: dict[str, list[Detection]],
    imputations: dict[str, list[Imputation]],
) -> None:
    rng = np.random.default_rng(seed)
    train, test = _hide(split.train, rng), _hide(split.test, rng)
    means = np.nanmean(train, axis=0)
    filled = {
        MEAN: np.where(np.isnan(test), means, test),
        KNN: KNNImputer().fit(train).transform(test),
    }
    for kind, detector in RELATION_DETECTORS.items():
        plain = detector(contamination=0.1, random_state=seed)
        whole = _auc(plain.fit(split.train).score_samples(split.test), split)
        plain.fit(np.where(np.isnan(train), means, train))
        mean_filled = _auc(plain.score_samples(filled[MEAN]), split)
        filling = detector(contamination=0.1, random_state=seed, missing="fill").fit(train)
        found = Detection(whole, _auc(filling.score_samples(test), split), mean_filled)
        detections[kind].append(found)
        filled[kind] = filling.impute(test)
    for kind, table in filled.items():
        imputations[kind].append(_rmse(table, np.isnan(test), split))


def _hide(X: Array, rng: np.random.Generator) -> Array:
    return np.where(rng.random(X.shape) < SHARE, np.nan, X)


def _auc(scores: Array, split: Split) -> float:
    return float(roc_auc_score(split.y_test, -scores))


def _rmse(table: Array, hidden: Mask, split: Split) -> Imputation:
    squares = (table - split.test) ** 2
    normal = hidden & (split.y_test == 0)[:, None]
    return Imputation(*(float(np.sqrt(squares[where].mean())) for where in (hidden, normal)))


def _lost(found: Sequence[Detection]) -> Array:
    return np.array([each.whole - each.filled for each in found])


def _wins(kind: str, rival: str, imputations: Imputations) -> list[int]:
    ours, theirs = np.array(imputations[kind]), np.array(imputations[rival])
    return (ours < theirs).sum(axis=0).tolist()


def _goals(detections: Detections, imputations: Imputations) -> str:
    lines = []
    for kind, found in detections.items():
        lost, n = float(_lost(found).mean()), len(found)
        wins = _wins(kind, MEAN, imputations)[0]
        least = int(np.ceil(LEAST_WINS * n))
        lines += [
            f"- {kind}: AUC falls by less than {MOST_LOST} on average: {lost:.4f}, "
            f"{markdown.verdict(lost < MOST_LOST)}.",
            f"- {kind}: filled values are nearer than the mean on at least {least} of {n} tables: "
            f"{wins}, {markdown.verdict(wins >= least)}; nearer than KNN's on "
            f"{_wins(kind, KNN, imputations)[0]}.",
        ]
    return "\n".join(lines)


def _detection_row(kind: str, found: Sequence[Detection]) -> list[str]:
    whole, filled, mean_filled = np.mean(found, axis=0)
    lost = _lost(found)
    numbers = whole, filled, lost.mean(), lost.max(), mean_filled
    return [kind, *(f"{number:.4f}" for number in numbers)]


def _imputation_row(kind: str, imputations: Imputations) -> list[str]:
    means = np.mean(imputations[kind], axis=0)
    below = [_wins(kind, rival, imputations) for rival in (MEAN, KNN)]
    n = len(imputations[kind])
    cells = [kind]
    for rows, mean in enumerate(means):
        wins = [
            "" if rival == kind else f"{won[rows]} of {n}"
            for rival, won in zip((MEAN, KNN), below, strict=True)
        ]
        cells += [f"{mean:.3f}", *wins]
    return cells


def _each_table(names: Sequence[str], detections: Detections, imputations: Imputations) -> str:
    titles = ["table", *(f"lost, {kind}" for kind in detections)]
    titles += [f"RMSE, {kind}" for kind in imputations]
    rows = [
        [name]
        + [f"{_lost(found)[i]:.4f}" for found in detections.values()]
        + [f"{found[i].every_row:.3f}" for found in imputations.values()]
        for i, name in enumerate(names)
    ]
    return markdown.table(titles, rows)
