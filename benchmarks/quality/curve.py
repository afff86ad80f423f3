"""What accuracy costs: mean AUC against the time to fit and to score, beside other detectors.

Broken relations alone are ranked, as in the paper. Methods take turns on each table, so that a
machine that slows down for a while slows all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from benchmarks import markdown
from benchmarks.quality.options import Options
from benchmarks.quality.splits import RELATION_DETECTORS, Split, mixed_split, tables, unwarned
from setatoms import SetAtomEnsemble
from setatoms.estimators.members import BUDGETS

SEED = 1
OURS = "SetAtomEnsemble"
RELATION = ("relation",)


@dataclass
class Cost:
    """What a method took and gave, table by table."""

    seconds: list[float] = field(default_factory=list)
    areas: list[float] = field(default_factory=list)


def study(options: Options) -> str:
    """Run the study; the picture goes into the folder of figures."""
    methods = make_methods(options.jobs)
    costs = {name: Cost() for name in methods}
    for table in tables(options.quick):
        split = mixed_split(table, SEED)
        for name, make in methods.items():
            with unwarned():
                _run(make, split)  # what is compiled or loaded the first time is not counted
                seconds, area = _run(make, split)
            costs[name].seconds.append(seconds)
            costs[name].areas.append(area)
        click.echo(f"{table} done")
    options.keep.mkdir(parents=True, exist_ok=True)
    draw(costs, options.keep / "curve.svg")
    return page(costs)


def make_methods(jobs: int) -> dict[str, Callable[[], Any]]:
    """Return what makes each detector, by name."""
    from pyod.models.cof import COF
    from pyod.models.knn import KNN

    shared: dict[str, Any] = {"random_state": SEED, "n_jobs": jobs}
    ensembles = {
        f"{OURS}, {budget}": lambda budget=budget: SetAtomEnsemble(
            budget=budget, views=RELATION, **shared
        )
        for budget in BUDGETS
    }
    single = {
        f"{name}, one dictionary": lambda make=make: make(**shared)
        for name, make in RELATION_DETECTORS.items()
    }
    return {
        **ensembles,
        **single,
        "LOF": lambda: LocalOutlierFactor(novelty=True, n_jobs=jobs),
        "nearest neighbours": lambda: KNN(n_jobs=jobs),
        "COF": COF,
        "isolation forest": lambda: IsolationForest(**shared),
    }


def page(costs: Mapping[str, Cost]) -> str:
    """Return mean AUC and mean seconds of each method."""
    rows = [
        [name, f"{np.mean(cost.areas):.4f}", f"{np.mean(cost.seconds):.3f}"]
        for name, cost in costs.items()
    ]
    return markdown.table(["", "mean AUC", "seconds for a table"], rows)


def draw(costs: Mapping[str, Cost], path: Path) -> None:
    """Draw a point for each method, and a line through the budgets of the ensemble."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "setatoms", "svg.fonttype": "none", "font.size": 11}):
        figure = Figure(figsize=(7.5, 4.5), facecolor="white", layout="constrained")
        ax = figure.subplots()
        for name, cost in costs.items():
            at = (float(np.mean(cost.seconds)), float(np.mean(cost.areas)))
            ax.plot(*at, "o", color="tab:blue" if _is_ours(name) else "tab:gray")
            ax.annotate(name.removeprefix(f"{OURS}, "), at, **_label(name))
        curve = [cost for name, cost in costs.items() if name.startswith(OURS)]
        ax.plot(
            [np.mean(cost.seconds) for cost in curve],
            [np.mean(cost.areas) for cost in curve],
            color="tab:blue",
            label=f"{OURS}, by budget",
        )
        ax.legend(loc="lower right")
        ax.set_xscale("log")
        ax.margins(x=0.3, y=0.15)
        ax.set_xlabel("seconds to fit and to score, mean of the tables")
        ax.set_ylabel("mean ROC AUC")
        figure.savefig(path, metadata={"Date": None})


def _label(name: str) -> dict[str, Any]:
    """Return where the name of a method stands: above the curve, or to the right of its point."""
    if name.startswith(OURS):
        return {"xytext": (0, 8), "textcoords": "offset points", "ha": "center"}
    # neighbour methods are about equally fast and good
    return {"xytext": (8, -13 if name == "LOF" else -3), "textcoords": "offset points"}


def _is_ours(name: str) -> bool:
    return name.startswith(OURS) or name.endswith("one dictionary")


def _run(make: Callable[[], Any], split: Split) -> tuple[float, float]:
    """Return the seconds to fit and to score, and ROC AUC."""
    start = time.perf_counter()
    detector = make().fit(split.train)
    if hasattr(detector, "score_samples"):
        abnormal = -detector.score_samples(split.test)
    else:
        abnormal = detector.decision_function(split.test)
    seconds = time.perf_counter() - start
    return seconds, float(roc_auc_score(split.y_test, abnormal))
