"""How time and memory grow with the rows, and what the first call costs."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from benchmarks.speed.child import FEATURES, GROWTH_ITERATIONS, in_child
from benchmarks.speed.lines import Line
from benchmarks.speed.settings import Settings

ROWS = (10_000, 100_000, 1_000_000)
TASKS = {"score": "score", "fit": f"fit, {GROWTH_ITERATIONS} iterations"}


def growth_lines(settings: Settings) -> Iterator[Line]:
    """Fit and score tables, each ten times as long as the one before, in processes of their own."""
    for task, case in TASKS.items():
        before: float | None = None
        for full in ROWS:
            rows = settings.rows(full)
            found = in_child(task, rows, settings.few_rounds(), settings.threads)
            name, shape = f"{rows:,} rows", f"{rows:,} x {FEATURES}"
            growth = {} if before is None else {"growth": found["seconds"] / before}
            before = found["seconds"]
            yield Line("growth", case, name, shape=shape, rows=rows, seconds=before, results=growth)
            memory = {
                "MB beyond input": found["beyond"] / 1e6,
                "of input": found["beyond"] / found["input"],
            }
            yield Line("memory", case, name, shape=shape, rows=rows, results=memory)


def first_call_lines(settings: Settings) -> Iterator[Line]:
    """Time the first call of new processes, after one that leaves its kernels on disk."""
    in_child("first_call", settings.threads)
    found = [in_child("first_call", settings.threads) for _ in range(settings.rounds)]
    seconds = {key: median(one[key] for one in found) for key in found[0]}
    imports = {f"import {name} s": seconds[name] for name in ("scikit-learn", "setatoms")}
    theirs = median(one["all"] / one["scikit-learn"] for one in found)
    imports |= {"times the import of scikit-learn": theirs}
    for name, key, results in (("fit, score", "call", {}), ("imports, fit, score", "all", imports)):
        yield Line(
            "first call", "new process", name,
            shape="500 x 8", seconds=seconds[key], rounds=tuple(one[key] for one in found),
            results=results,
        )  # fmt: skip
