"""The default detector, as people run it, beside what they are used to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

from benchmarks.speed.lines import Line
from benchmarks.speed.rounds import Call, Contender, alternate
from benchmarks.speed.settings import Settings
from benchmarks.speed.shapes import Split, made_split, split_table
from setatoms import SetAtomEnsemble

LARGE, SMALL = (100_000, 27), (7_000, 16)
TABLE = "pendigits"

Array = NDArray[np.float64]


def default_lines(settings: Settings) -> Iterator[Line]:
    """Compare with a forest and with LOF: the same rows, all parameters left as they are."""
    for shape in (LARGE, SMALL):
        X = _all_rows(made_split(settings.rows(shape[0]), shape[1]))
        yield from _fits(X, settings)
        if shape == LARGE:
            yield from _scores(X, settings)
    if TABLE in settings.tables:
        yield from _fits_and_scores(split_table(TABLE), settings)


def _all_rows(split: Split) -> Array:
    return np.concatenate([split.train, split.test])


def _fits(X: Array, settings: Settings) -> list[Line]:
    ours, forest = _ours(settings), _forest(settings)
    calls = {"setatoms": lambda: ours.fit(X), "isolation forest": lambda: forest.fit(X)}
    return _contest(f"fit, {_shape(X)}", calls, len(X), settings)


def _scores(X: Array, settings: Settings) -> list[Line]:
    ours, forest = _ours(settings).fit(X), _forest(settings).fit(X)
    calls = {
        "setatoms": lambda: ours.score_samples(X),
        "isolation forest": lambda: forest.score_samples(X),
    }
    return _contest(f"score, {_shape(X)}", calls, len(X), settings)


def _fits_and_scores(split: Split, settings: Settings) -> list[Line]:
    ours, lof = _ours(settings), LocalOutlierFactor(novelty=True, n_jobs=settings.threads)
    calls = {
        "setatoms": lambda: ours.fit(split.train).score_samples(split.test),
        "LOF": lambda: lof.fit(split.train).score_samples(split.test),
    }
    return _contest(f"fit and score, {split.name}", calls, len(_all_rows(split)), settings)


def _contest(case: str, calls: dict[str, Call], rows: int, settings: Settings) -> list[Line]:
    contenders = [
        Contender(name, "peer" if i else "ours", call, rows, lambda result: result)
        for i, (name, call) in enumerate(calls.items())
    ]
    ours, peer = alternate(contenders, settings.few_rounds())
    lines = []
    for timing, ratio in ((ours, None), (peer, ours.times_as_fast(peer))):
        contender = timing.contender
        results = {} if ratio is None else {"default takes, times as long": 1.0 / ratio}
        line = Line(
            "default", case, contender.name, kind=contender.kind, rows=rows,
            seconds=timing.seconds, rounds=timing.rounds, ratio=ratio, results=results,
        )  # fmt: skip
        lines.append(line)
    return lines


def _ours(settings: Settings) -> SetAtomEnsemble:
    return SetAtomEnsemble(n_jobs=settings.threads, random_state=0)


def _forest(settings: Settings) -> Any:
    return IsolationForest(n_jobs=settings.threads, random_state=0)


def _shape(X: Array) -> str:
    return f"{len(X):,} x {X.shape[1]}"
