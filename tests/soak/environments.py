"""Combinations of environment variables: the same answer in each of them."""

from __future__ import annotations

import itertools
import os
import subprocess
from pathlib import Path

from scene import COMMAND, Scene, Tally

_NOTICE = "setatoms: compiling kernels"
_CHOICES: list[list[dict[str, str | None]]] = [
    [{"LC_ALL": "C"}, {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}, {"PYTHONIOENCODING": "ascii"}],
    [{"TERM": "dumb", "COLUMNS": "1"}, {"TERM": None, "NO_COLOR": "1", "HOME": "/nonexistent"}],
    [{"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}, {"OPENBLAS_NUM_THREADS": "3"}],
    [
        {"PYTHONHASHSEED": "1", "PYTHONOPTIMIZE": "2"},
        {"PYTHONWARNINGS": "error", "TZ": "Nowhere/X"},
    ],
]


def soak_environments(scene: Scene, n_combinations: int) -> Tally:
    """Detect in each combination and compare the answers, byte by byte."""
    tally = Tally("combinations of environment variables")
    out, answers = scene.folder / "scores.csv", set()
    combinations = itertools.islice(itertools.product(*_CHOICES), n_combinations)
    for combination in combinations:
        chosen: dict[str, str | None] = {}
        for part in combination:
            chosen |= part
        done = subprocess.run(
            [*COMMAND, "detect", str(scene.table), "--method", "cone", "--out", str(out)],
            env=_environment(chosen), capture_output=True, check=False, timeout=300,
        )  # fmt: skip
        tally.n_tried += 1
        err = _without_notice(done.stderr.decode(errors="replace"))
        tally.check(done.returncode == 0, f"{chosen}: status {done.returncode}, {err[-300:]}")
        tally.check(not err, f"{chosen}: {err[-300:]}")
        answers.add((done.stdout, _read(out)))
    tally.check(len(answers) == 1, f"{len(answers)} different answers")
    tally.remark = f"{len(answers)} answer{'s' if len(answers) > 1 else ''}"
    return tally


def _without_notice(err: str) -> str:
    """Leave out that kernels are compiled: without docstrings they are other kernels."""
    return "\n".join(line for line in err.splitlines() if not line.startswith(_NOTICE))


def _environment(chosen: dict[str, str | None]) -> dict[str, str]:
    merged: dict[str, str | None] = {**os.environ, **chosen}
    return {name: value for name, value in merged.items() if value is not None}


def _read(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""
