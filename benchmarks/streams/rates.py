"""Learning from batches beside learning from a table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

import setatoms
from benchmarks.figures import Figure

_ROWS, _BATCH, _HALF_LIFE = 8_192, 1_000, 5_000
_DETECTORS = (
    "SetAtomEnsemble",
    "GaussianAtomDetector",
    "ConeAtomDetector",
    "VectorAtomDetector",
)


def rates(rounds: int) -> Iterator[Figure]:
    """Time `partial_fit`, in batches, and `fit` on the same rows, in turn."""
    for table, X in (("10 columns", plain_rows(_ROWS)), ("digits, 64 columns", _digits())):
        for name in _DETECTORS:
            seconds = np.array([_time_both(name, X, seed) for seed in range(rounds)])
            batch, stream = len(X) / np.median(seconds, axis=0)
            yield Figure(
                f"`partial_fit` / `fit`, {table}, `{name}`",
                f"{stream:,.0f} / {batch:,.0f} rows/s = {stream / batch:.2f}",
                "at least 0.5",
                bool(stream >= 0.5 * batch),
            )


def plain_rows(n_rows: int, seed: int = 0) -> NDArray[np.float64]:
    """Return rows (n_rows, 10) with three causes, the same for all seeds."""
    mix = np.random.default_rng(0).normal(size=(3, 10))
    rng = np.random.default_rng([1, seed])
    return np.asarray(rng.normal(size=(n_rows, 3)) @ mix + 0.2 * rng.normal(size=(n_rows, 10)))


def _digits() -> NDArray[np.float64]:
    X = load_digits().data
    return np.asarray(X[np.random.default_rng(0).integers(len(X), size=_ROWS)])


def _time_both(name: str, X: NDArray[np.float64], seed: int) -> tuple[float, float]:
    """Return the seconds of `fit`, and of `partial_fit` from the first row on."""
    make = getattr(setatoms, name)
    stream = make(half_life=_HALF_LIFE, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        batches = [X[i : i + _BATCH] for i in range(0, len(X), _BATCH)]
        return (
            _time(lambda: make(random_state=seed).fit(X)),
            _time(lambda: [stream.partial_fit(batch) for batch in batches]),
        )


def _time(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
