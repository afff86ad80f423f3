"""How much each view of a row counts: chosen on half of the tables, confirmed on the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from benchmarks import markdown
from benchmarks.cache import Arrays, cached, file_of
from benchmarks.paper.rows import ANOMALIES
from benchmarks.quality.halves import CONFIRMATION, DESIGN, Case
from benchmarks.quality.options import Options
from benchmarks.quality.splits import unwarned
from setatoms import SetAtomEnsemble
from setatoms.views import VIEWS, WEIGHTS, combine_views, raise_outside

Array = NDArray[np.float64]
Weights = Mapping[str, float]
Measured = Mapping[Case, Arrays]

HALVES = {"design half": DESIGN, "confirmation half": CONFIRMATION}
# Of relation, size and rarity; only their ratios count.
GRID = [
    dict(zip(VIEWS, weights, strict=True))
    for weights in product((1.0, 2.0, 4.0, 8.0), (0.5, 1.0, 2.0), (0.5, 1.0, 2.0))
]
# The least mean AUC of broken relations that weights may be chosen with: they come first.
WANTED_DEPENDENCY = 0.955
# What must hold on either half: of broken relations, and of all kinds together.
LEAST_DEPENDENCY, LEAST = 0.93, 0.905


def study(options: Options) -> str:
    """Run the study."""
    parts: dict[str, Measured] = {}
    for name, half in HALVES.items():
        cases = product(half.cases(options.quick), ANOMALIES)
        parts[name] = measure_all(
            (case._replace(anomalies=kind) for case, kind in cases), options.keep, options.jobs
        )
        click.echo(f"{name} done")
    return page(parts)


def measure_all(cases: Iterable[Case], folder: Path, n_jobs: int) -> Measured:
    """Return what the views say of the rows of each case; what is in `folder` is kept."""
    return {case: measure(case, folder, n_jobs) for case in cases}


def measure(case: Case, folder: Path, n_jobs: int) -> Arrays:
    """Return what the views say of the rows to rank, how far these are outside, and the truth."""
    detector = SetAtomEnsemble(contamination=0.1, random_state=case.seed, n_jobs=n_jobs)

    def compute() -> Arrays:
        rows = case.rows(folder)
        with unwarned():
            inside, judged = detector.fit(rows.train)._judge(rows.test)
        outside = inside.excess.sum(axis=1)
        return {"measures": judged.measures, "outside": outside, "truth": rows.truth}

    return cached(file_of(folder / "weights" / str(case), detector.get_params()), compute)


def mean_auc(measured: Measured, weights: Weights) -> dict[str, float]:
    """Return the mean AUC of each kind of anomalies with such weights."""
    found: dict[str, list[float]] = {kind: [] for kind in ANOMALIES}
    for case, arrays in measured.items():
        within = combine_views(arrays["measures"].astype(np.float64), weights)
        numbers = raise_outside(within, arrays["outside"].astype(np.float64))
        found[case.anomalies].append(roc_auc_score(arrays["truth"], numbers))
    return {kind: float(np.mean(aucs)) for kind, aucs in found.items()}


def choose(measured: Measured) -> Weights:
    """Return the weights with the best mean over kinds among those that find broken relations."""
    found = [(weights, mean_auc(measured, weights)) for weights in GRID]
    good = [pair for pair in found if pair[1]["dependency"] >= WANTED_DEPENDENCY] or found
    return max(good, key=lambda pair: np.mean(list(pair[1].values())))[0]


def page(parts: Mapping[str, Measured]) -> str:
    """Return the means of several weights on both halves, and the verdict on those in use."""
    design, *_ = parts
    chosen = choose(parts[design])
    alone = [{view: 1.0} for view in VIEWS]
    rows, means = [], {}
    for half, measured in parts.items():
        for name, weights in (("in use", WEIGHTS), ("best of the grid", chosen), *_named(alone)):
            aucs = mean_auc(measured, weights)
            means[half, name] = float(np.mean(list(aucs.values())))
            figures = [*aucs.values(), means[half, name]]
            words = ", ".join(f"{weights.get(view, 0.0):g}" for view in VIEWS)
            rows.append([half, name, words, *(f"{figure:.4f}" for figure in figures)])
    titles = ["half", "weights", "relation, size, rarity", *ANOMALIES, "mean"]
    return f"{markdown.table(titles, rows)}\n\n{_verdicts(parts, means)}"


def _named(alone: Sequence[Weights]) -> list[tuple[str, Weights]]:
    return [(f"{next(iter(weights))} alone", weights) for weights in alone]


def _verdicts(parts: Mapping[str, Measured], means: Mapping[tuple[str, str], float]) -> str:
    lines = []
    for half, measured in parts.items():
        broken, mean = mean_auc(measured, WEIGHTS)["dependency"], means[half, "in use"]
        holds = broken >= LEAST_DEPENDENCY and mean >= LEAST
        lines.append(
            f"- {half.capitalize()}: dependency at least {LEAST_DEPENDENCY} and the mean of kinds "
            f"at least {LEAST}: {broken:.4f} and {mean:.4f}, {markdown.verdict(holds)}. The best "
            f"weights of the grid gain {means[half, 'best of the grid'] - mean:+.4f}."
        )
    return "\n".join(lines)
