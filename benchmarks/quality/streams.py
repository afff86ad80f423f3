"""How well anomalies are found in streams that change, beside two detectors made for streams."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler

from benchmarks import markdown
from benchmarks.quality.options import Options
from benchmarks.quality.splits import unwarned
from setatoms import GaussianAtomDetector, SetAtomEnsemble
from setatoms.datasets import make_dependency_anomalies

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

HALF_LIFE = 2_000
N_ROWS = 6_000  # of each of the two parts
WINDOW = 1_000
SHARE = 0.05
SEEDS = (0, 1, 2)
_LOF_ROWS, _LOF_EVERY = 1_000, 250
# The first rows teach: they are not judged.
_FIRST = 3 * WINDOW
_COLOURS = ("#0072b2", "#009e73", "#8a8a8a", "#e69f00", "#d55e00")


def study(options: Options) -> str:
    """Run the study; the picture goes into the folder of figures."""
    seeds = SEEDS[:1] if options.quick else SEEDS
    courses: dict[tuple[str, str], Array] = {}
    for stream, make in STREAMS.items():
        for method, run in METHODS.items():
            each = [follow_auc(run, *make(np.random.default_rng(seed)), seed) for seed in seeds]
            courses[stream, method] = np.mean(each, axis=0)
            click.echo(f"{stream}, {method}: {np.round(courses[stream, method], 3)}")
    options.keep.mkdir(parents=True, exist_ok=True)
    draw(courses, options.keep / "streams.svg")
    return page(courses)


def follow_auc(run: Callable[[Array, int], Array], X: Array, y: Labels, seed: int) -> Array:
    """Return the AUC of each window of a stream, of scores from before rows were learned from."""
    with unwarned():
        scores = run(X, seed)
    parts = [slice(start, start + WINDOW) for start in range(_FIRST, len(X), WINDOW)]
    return np.array([roc_auc_score(y[part], scores[part]) for part in parts])


def digits(rng: np.random.Generator) -> tuple[Array, Labels]:
    """Return the digits 0 to 4, then 5 to 9."""
    X, digit = load_digits(return_X_y=True)
    return two_parts(X[digit < 5], X[digit >= 5], rng)


def cells(rng: np.random.Generator) -> tuple[Array, Labels]:
    """Return measurements of benign cells, then of malignant ones."""
    X, benign = load_breast_cancer(return_X_y=True)
    return two_parts(X[benign == 1], X[benign == 0], rng)


def turning(rng: np.random.Generator) -> tuple[Array, Labels]:
    """Return rows of ten columns whose relations turn slowly, from the middle on."""
    n_rows, old, new = 2 * N_ROWS, *rng.normal(size=(2, 3, 10))
    share = np.clip(np.arange(n_rows) / N_ROWS - 1.0, 0.0, 1.0)[:, None]
    causes = rng.laplace(size=(n_rows, 3))
    X = (1 - share) * (causes @ old) + share * (causes @ new)
    X += 0.3 * rng.normal(size=X.shape)
    # an anomaly has the values of rows that came at about the same time
    parts = [with_anomalies(part, rng) for part in np.split(X, n_rows // WINDOW)]
    return np.concatenate([x for x, _ in parts]), np.concatenate([y for _, y in parts])


def two_parts(before: Array, after: Array, rng: np.random.Generator) -> tuple[Array, Labels]:
    """Return rows drawn from one table, then from another, with anomalies of each."""
    parts = [
        with_anomalies(table[rng.integers(len(table), size=N_ROWS)], rng)
        for table in (before, after)
    ]
    return np.concatenate([x for x, _ in parts]), np.concatenate([y for _, y in parts])


def with_anomalies(rows: Array, rng: np.random.Generator) -> tuple[Array, Labels]:
    """Return as many rows, some of them with broken relations."""
    n_odd = round(SHARE * len(rows))
    return make_dependency_anomalies(rows[n_odd:], n_anomalies=n_odd, random_state=rng)


def run_ensemble(X: Array, seed: int) -> Array:
    """Return minus the scores of an ensemble that follows."""
    return _followed(SetAtomEnsemble(half_life=HALF_LIFE, random_state=seed), X)


def run_gaussian(X: Array, seed: int) -> Array:
    """Return minus the scores of one dictionary that follows."""
    return _followed(GaussianAtomDetector(half_life=HALF_LIFE, random_state=seed), X)


def run_fixed(X: Array, seed: int) -> Array:
    """Return minus the scores of an ensemble that knows the first rows alone."""
    return -SetAtomEnsemble(random_state=seed).fit(X[:_FIRST]).score_samples(X)


def _followed(detector: Any, X: Array) -> Array:
    parts = [-detector.follow(X[start : start + 100]) for start in range(0, len(X), 100)]
    return np.concatenate(parts)


def run_trees(X: Array, seed: int) -> Array:
    """Return the scores of river's half-space trees, on values scaled as they come."""
    from river.anomaly import HalfSpaceTrees
    from river.preprocessing import MinMaxScaler

    model = MinMaxScaler() | HalfSpaceTrees(seed=seed)
    scores = np.empty(len(X))
    for i, row in enumerate(X):
        values = dict(enumerate(row.tolist()))
        scores[i] = model.score_one(values)
        model.learn_one(values)
    return scores


def run_lof(X: Array, _: int) -> Array:
    """Return the scores of LOF on the last rows, refitted now and then."""
    scores = np.zeros(len(X))
    for start in range(_LOF_ROWS, len(X), _LOF_EVERY):
        known, rows = X[start - _LOF_ROWS : start], X[start : start + _LOF_EVERY]
        scale = StandardScaler().fit(known)
        lof = LocalOutlierFactor(novelty=True).fit(scale.transform(known))
        scores[start : start + _LOF_EVERY] = -lof.score_samples(scale.transform(rows))
    return scores


STREAMS: dict[str, Callable[[np.random.Generator], tuple[Array, Labels]]] = {
    "digits 0-4, then 5-9": digits,
    "benign cells, then malignant": cells,
    "relations that turn slowly": turning,
}
METHODS: dict[str, Callable[[Array, int], Array]] = {
    "SetAtomEnsemble": run_ensemble,
    "GaussianAtomDetector": run_gaussian,
    "the ensemble without partial_fit": run_fixed,
    "sliding LOF": run_lof,
    "HalfSpaceTrees": run_trees,
}


def page(courses: dict[tuple[str, str], Array]) -> str:
    """Return a table of means before and after the change, and at the end."""
    n_before = (N_ROWS - _FIRST) // WINDOW
    rows = [
        [stream, method, *(f"{mean:.3f}" for mean in _means(course, n_before))]
        for (stream, method), course in courses.items()
    ]
    titles = ["stream", "detector", "before", "first 1,000 rows after", "last 2,000 rows"]
    return markdown.table(titles, rows)


def _means(course: Array, n_before: int) -> tuple[float, float, float]:
    return float(course[:n_before].mean()), float(course[n_before]), float(course[-2:].mean())


def draw(courses: dict[tuple[str, str], Array], path: Path) -> None:
    """Draw AUC over time, a panel for each stream."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "setatoms", "svg.fonttype": "none", "font.size": 11}):
        figure = Figure(figsize=(10, 3.6), facecolor="white", layout="constrained")
        for ax, stream in zip(figure.subplots(1, len(STREAMS), sharey=True), STREAMS, strict=True):
            for method, colour in zip(METHODS, _COLOURS, strict=True):
                course = courses[stream, method]
                ends = _FIRST + WINDOW * (np.arange(len(course)) + 1)
                ax.plot(ends, course, color=colour, label=method, marker=".")
            ax.axvline(N_ROWS, color="#cccccc", zorder=0)
            ax.set(title=stream, xlabel="row", ylim=(0.4, 1.01))
            ax.spines[["top", "right"]].set_visible(False)
        figure.axes[0].set_ylabel("AUC of the last 1,000 rows")
        lines = figure.axes[0].get_legend_handles_labels()
        figure.legend(*lines, loc="outside lower center", ncols=5, fontsize=9, columnspacing=1.5)
        figure.savefig(path, metadata={"Date": None})
