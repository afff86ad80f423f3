"""What the library is for, shown on two real tables."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from setatoms.datasets import make_dependency_anomalies
from setatoms.estimators import (
    ConeAtomDetector,
    GaussianAtomDetector,
    SetAtomEnsemble,
    VectorAtomDetector,
)
from setatoms.progress import Progress

Array = NDArray[np.float64]

INTRODUCTION = """\
setatoms demo: rows whose values are normal one by one, but do not belong together

Two real tables come with scikit-learn. Into each we mix one anomalous row for every ten
normal ones: every value of such a row occurs in its column, but each is taken from another
row, so that nothing but the relations between the columns is broken.
Every detector is fitted, without labels, on 70 % of the rows and ranks the other 30 %.

The very first run also compiles the library, which takes most of its time.
"""


@dataclass(frozen=True)
class DemoTable:
    """A real table: its rows are normal."""

    name: str
    X: Array
    columns: list[str]


@dataclass(frozen=True)
class Split:
    """Rows to learn from, and rows to rank with the truth about them (1: injected)."""

    train: Array
    test: Array
    truth: NDArray[np.int64]


class PCAError(BaseEstimator):
    """Score rows by the distance to their projection on the leading principal components."""

    def fit(self, X: Array, y: None = None) -> PCAError:
        """Find the components that hold 90 % of the variance of `X`."""
        self.pca_ = PCA(0.9).fit(X)
        return self

    def score_samples(self, X: Array) -> Array:
        """Return minus the distance of each row of `X`, so that higher means more normal."""
        projected = self.pca_.inverse_transform(self.pca_.transform(X))
        return -np.asarray(np.linalg.norm(X - projected, axis=1))


def make(detector: type[Any], seed: int) -> Any:
    """Return one of our detectors with its defaults."""
    # Ranking needs no threshold, and a given share spares the cross-fitting of "auto".
    return detector(contamination=0.1, random_state=seed)


# Name -> how to make it from a seed. Ours standardise inside, the others are given z-scores.
OURS: dict[str, Callable[[int], Any]] = {
    "SetAtomEnsemble": lambda seed: make(SetAtomEnsemble, seed),
    "GaussianAtomDetector": lambda seed: make(GaussianAtomDetector, seed),
    "ConeAtomDetector": lambda seed: make(ConeAtomDetector, seed),
    "VectorAtomDetector": lambda seed: make(VectorAtomDetector, seed),
}
OTHERS: dict[str, Callable[[int], Any]] = {
    "IsolationForest": lambda seed: IsolationForest(random_state=seed),
    "LocalOutlierFactor": lambda _: LocalOutlierFactor(novelty=True),
    "OneClassSVM": lambda _: OneClassSVM(),
    "PCA error (90 % variance)": lambda _: PCAError(),
}


def run(n_seeds: int = 5) -> None:
    """Print what the demo does, the table of ROC AUC, and the five most anomalous rows.

    Parameters
    ----------
    n_seeds : int, default=5
        Over how many injections, splits and starts the figures are averaged.
    """
    started = time.perf_counter()
    print(INTRODUCTION, flush=True, end="")
    tables = load_tables()
    methods = OURS | OTHERS
    with (
        warnings.catch_warnings(),
        Progress(len(tables) * n_seeds * len(methods), "fitting") as progress,
    ):
        # small tables have few rows per atom, which the detectors rightly remark on
        warnings.simplefilter("ignore", UserWarning)
        areas = {table.name: compare(table, methods, range(n_seeds), progress) for table in tables}
        examples = most_anomalous(tables[0])
    print("", *auc_lines(tables, areas, n_seeds), "", *examples, "", sep="\n")
    print(f"That took {time.perf_counter() - started:.0f} s.")


def load_tables() -> list[DemoTable]:
    """Return the two tables."""
    sources = {"breast cancer": load_breast_cancer(), "wine": load_wine()}
    return [DemoTable(name, data.data, list(data.feature_names)) for name, data in sources.items()]


def size(table: DemoTable) -> str:
    """Return the shape of a table in words."""
    return " x ".join(map(str, table.X.shape))


def split(table: DemoTable, seed: int) -> Split:
    """Inject anomalies and set 30 % of the rows aside."""
    X, y = make_dependency_anomalies(table.X, fraction=0.1, random_state=seed)
    train, test, _, truth = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    return Split(train, test, truth)


def compare(
    table: DemoTable,
    methods: dict[str, Callable[[int], Any]],
    seeds: Iterable[int],
    progress: Progress,
) -> dict[str, float]:
    """Return the ROC AUC of each method on unseen rows of `table`, averaged over `seeds`."""
    areas: dict[str, list[float]] = {name: [] for name in methods}
    for seed in seeds:
        rows = split(table, seed)
        for name, method in methods.items():
            note = f"{table.name}, {name}"
            progress.advance(0, note)
            detector = method(seed)
            if name in OTHERS:
                detector = make_pipeline(StandardScaler(), detector)
            scores = detector.fit(rows.train).score_samples(rows.test)
            areas[name].append(float(roc_auc_score(rows.truth, -scores)))
            progress.advance(1, note)
    return {name: float(np.mean(values)) for name, values in areas.items()}


def auc_lines(
    tables: Sequence[DemoTable], areas: dict[str, dict[str, float]], n_seeds: int
) -> Iterator[str]:
    """Yield the lines of the table of ROC AUC."""
    yield "ROC AUC on the unseen rows: 1 if every anomaly is ranked before every normal row, 0.5 by"
    yield f"chance; mean of {n_seeds} random injections and splits"
    yield ""
    yield " " * 28 + "".join(f"{table.name:>16}" for table in tables)
    yield " " * 28 + "".join(f"{size(table):>16}" for table in tables)
    for group in (OURS, OTHERS):
        for name in group:
            yield f"  {name:26}" + "".join(f"{areas[table.name][name]:16.3f}" for table in tables)
        yield "" if group is OURS else "  (the last four are scikit-learn's, on z-scores)"


def most_anomalous(
    table: DemoTable, n_rows: int = 5, n_columns: int = 2, seed: int = 0
) -> list[str]:
    """Return lines on the unseen rows that score lowest, with the columns that deviate most."""
    rows = split(table, seed)
    detector = make(SetAtomEnsemble, seed).fit(rows.train)
    scores = detector.score_samples(rows.test)
    worst = np.argsort(scores)[:n_rows]
    records = detector.explain(rows.test[worst], top=n_columns).records
    lines = [
        f"The {n_rows} most anomalous of the {len(scores)} unseen rows of {table.name}, and where "
        "they deviate most",
        "",
        "   row   score   in truth   observed (expected)",
    ]
    for row, record in zip(worst, records, strict=True):
        # the detector was fitted on an array, whose columns have numbers
        reasons = ", ".join(
            f"{table.columns[int(part['column'][1:])]} {part['observed']:.3g} "
            f"({part['expected']:.3g})"
            for part in record["columns"]
        )
        truth = "injected" if rows.truth[row] else "normal"
        lines.append(f"  {row:4d} {scores[row]:7.3f}   {truth:8}   {reasons}")
    return lines
