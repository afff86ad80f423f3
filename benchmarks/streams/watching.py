"""``setatoms watch`` on many rows: its rate, its memory, and what kills do to it."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import setatoms
from benchmarks.figures import Figure
from benchmarks.streams.rates import plain_rows

_WANTED_RATE = 5_000
_BLOCK = 50_000
# Allocators vary by some megabytes.
_MOST_GROWTH_MB = 20
_LEARNING = ("--learn", "--half-life", "5000")


def watching(folder: Path, n_rows: int, n_kills: int) -> Iterator[Figure]:
    """Run a stream as it is, then once more with kills, and compare all answers."""
    import pandas as pd

    names = [f"c{j}" for j in range(10)]
    model, rows = folder / "model.setatoms", folder / "rows.csv"
    train = pd.DataFrame(plain_rows(4_000), columns=names)
    setatoms.SetAtomEnsemble(random_state=0).fit(train).save(model)
    for seed, first in enumerate(range(0, n_rows, _BLOCK), start=1):
        block = pd.DataFrame(plain_rows(min(_BLOCK, n_rows - first), seed), columns=names)
        block.to_csv(rows, mode="a", header=seed == 1, index=False, float_format="%.5f")
    calm = _Stream(model, rows, folder / "calm")
    start = time.perf_counter()
    calm.run()
    rate = n_rows / (time.perf_counter() - start)
    yield Figure(
        f"`watch --learn --state`, ensemble, {n_rows:,} rows",
        f"{rate:,.0f} rows/s",
        f"at least {_WANTED_RATE:,}",
        rate >= _WANTED_RATE,
    )
    early, late = calm.megabytes()
    yield Figure(
        "its memory at most, in the first half of the time and in the second",
        f"{early:.0f} and {late:.0f} MB",
        f"at most {_MOST_GROWTH_MB} MB more",
        late <= early + _MOST_GROWTH_MB,
    )
    killed = _Stream(model, rows, folder / "killed")
    moments, each = random.Random(0), n_rows / rate / (n_kills + 1)
    for _ in range(n_kills):
        killed.run(kill_after=2.0 + moments.uniform(0.3, 1.1) * each)
    killed.run()
    same = killed.answers() == calm.answers()
    yield Figure(
        f"killed {killed.n_killed} times, gone on with `--replay`",
        "the same answers" if same else "other answers",
        "the same answers",
        same and killed.n_killed == n_kills,
    )


class _Stream:
    """A stream of rows through `setatoms watch`, which may be killed and begun again."""

    def __init__(self, model: Path, rows: Path, place: Path) -> None:
        self._rows, self._out = rows, place.with_suffix(".jsonl")
        state = place.with_suffix(".state")
        self._command = [sys.executable, "-m", "setatoms", "watch", str(model), *_LEARNING]
        self._command += ["--state", str(state), "--replay"]
        self._resident: list[float] = []
        self.n_killed = 0

    def run(self, kill_after: float | None = None) -> None:
        """Let it run to the end of the rows, or kill it after so many seconds."""
        import psutil

        start = time.monotonic()
        with (
            self._rows.open("rb") as stdin,
            self._out.open("ab") as stdout,
            subprocess.Popen(self._command, stdin=stdin, stdout=stdout) as process,
        ):
            watched = psutil.Process(process.pid)
            while process.poll() is None:
                self._resident.append(watched.memory_info().rss / 1e6)
                if kill_after is not None and time.monotonic() - start > kill_after:
                    process.kill()
                    self.n_killed += 1
                    break
                time.sleep(0.1)
        with self._out.open("ab") as stdout:
            stdout.write(b"\n")  # ends a line that was cut short

    def megabytes(self) -> tuple[float, float]:
        """Return the most memory in the first half of the time, and in the second."""
        first, second = np.array_split(self._resident, 2)
        return float(first.max()), float(second.max())

    def answers(self) -> dict[int, str]:
        """Return the line on each row, the last one where there are several."""
        found: dict[int, str] = {}
        with self._out.open(encoding="utf-8") as lines:
            for line in lines:
                try:
                    answer = json.loads(line)
                except ValueError:
                    continue
                if "score" in answer:
                    found[answer["row"]] = line
        return found
