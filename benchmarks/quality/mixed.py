"""How many anomalies of a mixed table the decision rule finds, and at what price."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality import pages
from benchmarks.quality.halves import kept
from benchmarks.quality.splits import QUICK_TABLES, unwarned
from setatoms import SetAtomEnsemble
from setatoms.bench.cache import cached
from setatoms.bench.rows import ANOMALIES, table_path
from setatoms.bench.sources import AdbenchTable
from setatoms.datasets import ADBENCH_DATASETS, adbench_anomalies

Array = NDArray[np.float64]

SHARES = (0.01, 0.05, 0.1)
SYNTHETIC = tuple(kind for kind in ANOMALIES if kind != "real")
SEED = 1
MOST_NORMAL = 500
LEAST_FOUND, MOST_FALSE = 0.6, 0.05
DEPENDENCY = "dependency"


def main(arguments: Sequence[str]) -> int:
    """Run the study."""
    options = pages.parse("mixed", __doc__, arguments, keeps=True)
    names = QUICK_TABLES if options.quick else ADBENCH_DATASETS
    found: dict[tuple[str, float], list[tuple[float, float, float, float]]] = defaultdict(list)
    for kind in SYNTHETIC:
        for name in names:
            for share in SHARES:
                figures = kept(
                    options.keep / "mixed" / f"{name}-{kind}-{share}",
                    SetAtomEnsemble().get_params(),
                    lambda name=name, kind=kind, share=share: judge(
                        *mix(name, kind, share, options.keep), options.jobs
                    ),
                )
                found[kind, share].append(tuple(figures.values()))
        print(f"{kind} done", flush=True)
    pages.publish("mixed", page(found), options.write)
    return 0


def mix(name: str, kind: str, share: float, folder: Path) -> tuple[Array, NDArray[np.bool_]]:
    """Return rows of a table of the benchmark with a share of anomalies, and which they are."""
    source = AdbenchTable(name)

    def make() -> dict[str, Array]:
        X, y = adbench_anomalies(*source.load(), kind=kind, seed=SEED)
        return {"X": X, "y": y}

    table = cached(table_path(source, kind, SEED, folder), make)
    X, y = table["X"], table["y"]
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


def page(found: dict[tuple[str, float], list[tuple[float, float, float, float]]]) -> str:
    """Return the table, and the verdict on dependency anomalies."""
    titles = ["anomalies", "share", "found", "false alarms", "new rows: found", "false alarms"]
    rows = [
        [kind, f"{share:.0%}", *(f"{mean:.1%}" for mean in np.nanmean(figures, axis=0))]
        for (kind, share), figures in found.items()
    ]
    broken = np.concatenate([figures for (kind, _), figures in found.items() if kind == DEPENDENCY])
    share, false = np.mean(broken[:, :2], axis=0)
    verdict = pages.verdict(share >= LEAST_FOUND and false <= MOST_FALSE)
    words = (
        f"- Of dependency anomalies, all shares together, at least {LEAST_FOUND:.0%} are found at "
        f"no more than {MOST_FALSE:.0%} false alarms: {share:.1%} at {false:.1%}, {verdict}."
    )
    return f"{pages.table(titles, rows)}\n\n{words}"
