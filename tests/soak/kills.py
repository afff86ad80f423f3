"""Kill commands at random moments: every output is as before or complete, every input as it was."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from scene import (
    BEFORE,
    COMMAND,
    HANG_SECONDS,
    Scene,
    Tally,
    bench_words,
    is_whole,
    leftovers,
)

from benchmarks.paper.reading import load_results
from setatoms.persistence.atomic import replacing

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

# From when Python itself has started to when most commands have ended, in seconds.
_MOMENTS = (0.3, 4.0)
_PATIENCE = 2.0
_SAVE = "import sys, setatoms; m = setatoms.load(sys.argv[1])\nwhile True: m.save(sys.argv[2])"


class Work(NamedTuple):
    """A command to kill."""

    name: str
    words: list[str]
    outputs: list[str]
    check: Callable[[Path, Tally], None] | None = None
    # without the command line: Python shows a traceback, and may drop the exception of a signal, so
    # that a person presses Ctrl-C once more
    plain: bool = False


WORKS = ("fit", "score", "save", "report", "benchmark")


def soak_kills(
    scene: Scene, n_kills: int, seed: int, names: Sequence[str] | None
) -> Iterator[Tally]:
    """Kill each kind of work equally often, or those that are named."""
    works = [work for work in _works(scene) if names is None or work.name in names]
    for number, work in enumerate(works):
        tally = Tally(f"kills: {work.name}")
        share = n_kills // len(works) + (number < n_kills % len(works))
        _kill_often(scene, work, share, random.Random(f"{work.name} {seed}"), tally)
        yield tally


def _works(scene: Scene) -> list[Work]:
    table, model = str(scene.table), str(scene.model)
    cone = ["--method", "cone"]
    return [
        Work("fit", [*COMMAND, "fit", table, *cone, "--save", "m.setatoms"], ["m.setatoms"]),
        Work("score", [*COMMAND, "score", model, table, "--out", "s.csv"], ["s.csv"]),
        Work(
            "save", [sys.executable, "-c", _SAVE, model, "m.setatoms"], ["m.setatoms"], plain=True
        ),
        Work("report", [*COMMAND, "detect", table, *cone, "--report", "p.html"], ["p.html"]),
        Work("benchmark", [*bench_words(scene), "store"], [], _check_store),
    ]


def _kill_often(scene: Scene, work: Work, n_kills: int, rng: random.Random, tally: Tally) -> None:
    inputs, slowest, n_interrupted = scene.inputs(), 0.0, 0
    folder = scene.folder / "out"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for _ in range(n_kills):
        for name in work.outputs:
            (folder / name).write_bytes(BEFORE)
        number = rng.choice(SIGNALS)
        status, seconds, err = _kill(work, folder, number, rng.uniform(*_MOMENTS))
        n_interrupted += status not in (0, None)
        slowest = max(slowest, seconds)
        tally.n_tried += 1
        where = f"{number.name}, status {status}: "
        tally.check(status is not None, where + "it went on for 10 s")
        tally.check(not _has_traceback(work, err), where + err)
        tally.check(scene.inputs() == inputs, where + "an input changed")
        for name in work.outputs:
            tally.check(is_whole(folder / name), where + f"{name} is neither old nor complete")
        if number != signal.SIGKILL and not work.plain and status in (129, 130, 143):
            tally.check(not leftovers(folder), where + f"it left {leftovers(folder)}")
        if work.check is not None:
            work.check(folder, tally)
        with replacing(folder / "next") as stream:
            stream.write(b"next")
        tally.check(not leftovers(folder), where + f"still there: {leftovers(folder)}")
    tally.remark = f"{n_interrupted} before the end; the slowest ended {slowest:.1f} s after"


def _has_traceback(work: Work, err: str) -> bool:
    """Tell whether a command showed a traceback, other than Python's own before it started."""
    if "Traceback" not in err or work.plain:
        return False
    interrupted = err.startswith("Traceback") and err.rstrip().endswith("KeyboardInterrupt")
    return not interrupted or ", in main" in err


def _kill(
    work: Work, folder: Path, number: signal.Signals, delay: float
) -> tuple[int | None, float, str]:
    """Run a command and end it; return its status, how long it took to end, and its errors."""
    child = subprocess.Popen(
        work.words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        _, err = child.communicate(timeout=delay)
        return child.returncode, 0.0, err
    except subprocess.TimeoutExpired:
        child.send_signal(number)
    began = time.monotonic()
    while time.monotonic() - began < HANG_SECONDS:
        try:
            _, err = child.communicate(timeout=_PATIENCE if work.plain else HANG_SECONDS)
            return child.returncode, time.monotonic() - began, err
        except subprocess.TimeoutExpired:
            child.send_signal(number)
    child.kill()
    child.communicate()
    return None, HANG_SECONDS, ""


def _check_store(folder: Path, tally: Tally) -> None:
    """Check that a store is sound, however its runner ended."""
    if (folder / "store" / "results.sqlite").exists():
        try:
            load_results(folder / "store", "real")
        except ValueError as error:
            # killed before the first cell, or while it committed: the next runner mends that
            tally.check("no cells" in str(error) or "resume it" in str(error), str(error))
