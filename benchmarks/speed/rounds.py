"""Time contenders in turn: one round is every contender once; medians are over rounds."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["ours", "peer", "machine"]
Call = Callable[[], Any]
PerRow = NDArray[np.floating]

# A timed sample lasts at least this long: fast calls are repeated within it.
SHORTEST_SAMPLE = 0.05
# Threads of OpenMP and BLAS spin after their work, those of OpenBLAS for 2^28 ticks or 0.1 s; the
# next contender waits it out.
PAUSE = 0.15
# Calls that tell how often to repeat a fast one.
TRIALS = 3


@dataclass(frozen=True)
class Contender:
    """One way to do the work."""

    name: str
    kind: Kind
    call: Call
    rows: int  # how many signals a call handles
    read: Callable[[Any], PerRow]  # from what a call returns to one number per row
    warm_up: Call | None = None  # where a whole call would take too long


@dataclass(frozen=True)
class Skipped:
    """A contender that cannot run, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Timing:
    """What the rounds gave for a contender."""

    contender: Contender
    seconds: float  # median over the rounds, of one call
    rounds: tuple[float, ...]
    result: Any  # of the last call

    @property
    def rate(self) -> float:
        """Signals a second."""
        return self.contender.rows / self.seconds

    def times_as_fast(self, other: Timing) -> float:
        """Return the median ratio of both rates: a machine that slows down slows a whole round."""
        seconds = zip(self.rounds, other.rounds, strict=True)
        return self.contender.rows / other.contender.rows * median(b / a for a, b in seconds)


def alternate(contenders: Sequence[Contender], rounds: int) -> list[Timing]:
    """Warm all contenders up, then time them in turn, round after round."""
    repeats = [_warm_up(contender) for contender in contenders]
    samples: list[list[float]] = [[] for _ in contenders]
    results: list[Any] = [None] * len(contenders)
    for _ in range(rounds):
        for k, contender in enumerate(contenders):
            time.sleep(PAUSE)
            seconds, results[k] = _sample(contender.call, repeats[k])
            samples[k].append(seconds)
    return [
        Timing(contender, median(seconds), tuple(seconds), result)
        for contender, seconds, result in zip(contenders, samples, results, strict=True)
    ]


def fastest(*calls: Call) -> Call:
    """Return the fastest of several ways to do the same: each peer shows its best."""
    if len(calls) == 1:
        return calls[0]
    for call in calls:
        call()
    return min(calls, key=lambda call: _sample(call, 1)[0])


def _warm_up(contender: Contender) -> int:
    """Run once so that all is loaded and compiled; return how many calls make a sample."""
    if contender.warm_up is not None:
        contender.warm_up()
        return 1
    first, _ = _sample(contender.call, 1)
    if first > 20 * SHORTEST_SAMPLE:
        return 1
    # the fastest of some: a single one may have been held up
    seconds = min(_sample(contender.call, 1)[0] for _ in range(TRIALS))
    return max(1, math.ceil(SHORTEST_SAMPLE / seconds))


def _sample(call: Call, repeats: int) -> tuple[float, Any]:
    """Return the seconds of one call, the mean over ``repeats``, and what the last returned.

    As in `timeit`, no garbage is collected meanwhile: that takes as long as a hundred fast calls.
    """
    result = None
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        for _ in range(repeats):
            result = call()
        return (time.perf_counter() - start) / repeats, result
    finally:
        gc.enable()
