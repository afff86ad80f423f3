"""Measure in a process of its own, where nothing else has used memory or loaded code.

``python -m benchmarks.speed.child TASK ARGUMENTS`` prints one JSON object. Imports wait inside the
tasks, so that the clock of `first_call` sees them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FEATURES = 27
GROWTH_ITERATIONS = 10


def in_child(task: str, *arguments: int) -> dict[str, float]:
    """Run a task of this module in a new process and return what it printed."""
    command = [sys.executable, "-m", "benchmarks.speed.child", task, *map(str, arguments)]
    root = Path(__file__).resolve().parents[2]
    # modules are kept compiled, as pip leaves them
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=False, env=environment
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def first_call(threads: int) -> dict[str, float]:
    """Time imports, of scikit-learn and then of this library, and the first fit and score."""
    start = time.perf_counter()
    import numpy as np
    import sklearn.base  # noqa: F401

    theirs = time.perf_counter()
    from setatoms import GaussianAtomDetector

    imported = time.perf_counter()
    X = np.random.default_rng(0).normal(size=(500, 8))
    detector = GaussianAtomDetector(contamination=0.1, n_jobs=threads, random_state=0)
    detector.fit(X).score_samples(X)
    end = time.perf_counter()
    return {
        "scikit-learn": theirs - start,
        "setatoms": imported - theirs,
        "call": end - imported,
        "all": end - start,
    }


def fit(rows: int, rounds: int, threads: int) -> dict[str, float]:
    """Fit a detector to ``rows`` rows: median seconds, bytes of the input, peak bytes beyond it."""
    X = _table(rows)
    _detector(threads).fit(X[:1_000])
    return _measure(lambda: _detector(threads).fit(X), X, rounds)


def score(rows: int, rounds: int, threads: int) -> dict[str, float]:
    """Score ``rows`` rows: median seconds, bytes of the input, peak bytes beyond it."""
    X = _table(rows)
    detector = _detector(threads).fit(X[:1_000])
    detector.score_samples(X[:1_000])
    return _measure(lambda: detector.score_samples(X), X, rounds)


def _table(rows: int) -> Any:
    from benchmarks.speed.shapes import dependent_rows

    return dependent_rows(rows, FEATURES)


def _detector(threads: int) -> Any:
    from setatoms import GaussianAtomDetector

    return GaussianAtomDetector(
        n_iter=GROWTH_ITERATIONS, contamination=0.1, n_jobs=threads, random_state=0
    )


def _measure(call: Any, X: Any, rounds: int) -> dict[str, float]:
    from statistics import median

    before = _forget_peak()
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    beyond = max(0, _status("VmHWM") - before)
    return {"seconds": median(seconds), "input": X.nbytes, "beyond": beyond}


def _forget_peak() -> int:
    """Set the peak of resident memory back to its present value, and return that in bytes.

    The kernel keeps both; `resource.getrusage` would start from the peak of the parent.
    """
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _status("VmRSS")


def _status(name: str) -> int:
    """Return a figure of the kernel about this process, in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    raise RuntimeError(f"/proc/self/status has no {name}; memory is measured on Linux only")


if __name__ == "__main__":
    _TASKS: dict[str, Callable[..., dict[str, float]]] = {
        "first_call": first_call,
        "fit": fit,
        "score": score,
    }
    print(json.dumps(_TASKS[sys.argv[1]](*map(int, sys.argv[2:]))))
