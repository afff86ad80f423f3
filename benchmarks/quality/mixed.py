"""How many anomalies of a mixed table the decision rule finds, and at what price."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks import markdown
from benchmarks.paper.rows import ANOMALIES, load_table
from benchmarks.paper.sources import AdbenchTable
from benchmarks.quality.halves import kept
from benchmarks.quality.options import Options
from benchmarks.quality.splits import QUICK_TABLES, unwarned
from setatoms import SetAtomEnsemble
from setatoms.datasets import ADBENCH_DATASETS

Array = NDArray[np.float64]

SHARES = (0.01, 0.05, 0.1)
SYNTHETIC = tuple(kind for kind in ANOMALIES if kind != "real")
SEED = 1
MOST_NORMAL = 500
LEAST_FOUND, MOST_FALSE = 0.6, 0.05
DEPENDENCY = "dependency"


def study(options: Options) -> str:
    """Run the study."""
    names = QUICK_TABLES if options.quick else ADBENCH_DATASETS
    found: dict[tuple[str, float], list[list[float]]] = defaultdict(list)
    for kind in SYNTHETIC:
        for name in names:
            for share in SHARES:
                figures = kept(
                    options.keep / "mixed" / f"{name}-{kind}-{share}",
                    SetAtomEnsemble().get_params(),
                    partial(_judge_case, name, kind, share, options),
                )
                found[kind, share].append(list(figures.values()))
        click.echo(f"{kind} done")
    return page(found)


def _judge_case(name: str, kind: str, share: float, options: Options) -> dict[str, float]:
    return judge(*mix(name, kind, share, options.keep), options.jobs)


def mix(name: str, kind: str, share: float, folder: Path) -> tuple[Array, NDArray[np.bool_]]:
    """Return rows of a table of the benchmark with a share of anomalies, and which they are."""
    X, y = load_table(AdbenchTable(name), kind, SEED, folder)
    rng = np.random.default_rng(SEED)
    normal = rng.permutation(X[y == 0])[:MOST_NORMAL]
    n_wanted = max(1, round(share * len(normal) / (1 - share)))
    odd = rng.permutation(X[y == 1])[:n_wanted]
    return np.vstack([normal, odd]), np.arange(len(normal) + len(odd)) >= len(normal)


def judge(X: Array, truth: NDArray[np.bool_], n_jobs: int) -> dict[str, float]:
    """Return shares found and falsely flagged: of the rows learned from, and of unseen ones."""
    with unwarned():
        whole = SetAtomEnsemble(random_state=SEED, n_jobs=n_jobs).fit(X)
    own = whole.score_samples(X) < whole.training_offset_
    # every other row to learn from; anomalies come last, so both halves have as many
    with unwarned():
        half = SetAtomEnsemble(random_state=SEED, n_jobs=n_jobs).fit(X[::2])
    new, new_truth = half.predict(X[1::2]) == -1, truth[1::2]
    return {
        "found": float(own[truth].mean()),
        "false": float(own[~truth].mean()),
        "found of new": float(new[new_truth].mean()) if new_truth.any() else float("nan"),
        "false of new": float(new[~new_truth].mean()),
    }


def page(found: dict[tuple[str, float], list[list[float]]]) -> str:
    """Return the table, and the verdict on dependency anomalies."""
    titles = ["anomalies", "share", "found", "false alarms", "new rows: found", "false alarms"]
    rows = [
        [kind, f"{share:.0%}", *(f"{mean:.1%}" for mean in np.nanmean(figures, axis=0))]
        for (kind, share), figures in found.items()
    ]
    broken = np.concatenate([figures for (kind, _), figures in found.items() if kind == DEPENDENCY])
    share, false = np.mean(broken[:, :2], axis=0)
    verdict = markdown.verdict(share >= LEAST_FOUND and false <= MOST_FALSE)
    words = (
        f"- Of dependency anomalies, all shares together, at least {LEAST_FOUND:.0%} are found at "
        f"no more than {MOST_FALSE:.0%} false alarms: {share:.1%} at {false:.1%}, {verdict}."
    )
    return f"{markdown.table(titles, rows)}\n\n{words}"
