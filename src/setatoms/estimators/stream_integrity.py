"""Whether what an estimator keeps of a stream fits the rest of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from setatoms.estimators.array_checks import between, floats
from setatoms.estimators.stream_state import (
    BLOCK_ROWS,
    RECENT_SCORES,
    Reference,
    Stream,
)
from setatoms.learning.dictionary import FittedDictionary
from setatoms.persistence.errors import FlawError, shown
from setatoms.streams import Alarm, Moments, Reservoir, RunningSums
from setatoms.streams.alarm import MOST_EVIDENCE, MOST_SCORES, N_BETS
from setatoms.views import MOST_OUTCASTS

_LARGEST = float(np.finfo(np.float64).max)
_SUMS = ("weight", "n_users", "abs_sum", "sq_sum")
_MOST_ROWS = 2**62


def check_stream(estimator: Any) -> None:
    """Raise a FlawError on the first part of `stream_` that cannot belong to an `estimator`.

    The dictionaries of the reference, and what scores need beside them, are checked elsewhere.
    """
    stream, n_features = estimator.stream_, estimator.n_features_in_
    if not isinstance(stream, Stream):
        raise FlawError("stream_ is not a Stream")
    for name in ("seed", "n_seen", "n_blocks"):
        _whole(f"stream_.{name}", getattr(stream, name))
    _check_rows("stream_.rows", stream.rows, n_features, BLOCK_ROWS - 1)
    _check_rows("stream_.outcasts", stream.outcasts, n_features, MOST_OUTCASTS)
    _check_scores(estimator, stream)
    _check_reservoir(estimator, stream.reservoir)
    _check_moments(stream.moments, n_features)
    if stream.sums is not None:
        _check_sums(estimator, stream.sums)
    _check_alarm(stream)
    _check_reference(stream, len(estimator.dictionaries_))


def _whole(name: str, value: Any, least: int = 0) -> None:
    if type(value) is not int or not least <= value < _MOST_ROWS:
        raise FlawError(f"{name}={shown(value)} must be a whole number, at least {least}")


def _check_rows(name: str, rows: Any, n_features: int, most: int) -> None:
    """Check rows (n, n_features) of a stream, which may have gaps."""
    known = isinstance(rows, np.ndarray) and rows.dtype == np.float64 and rows.ndim == 2
    if not known or rows.shape[1] != n_features or len(rows) > most:
        raise FlawError(f"{name} is not an array of at most {most} rows of {n_features} numbers")
    if np.isinf(rows).any():
        raise FlawError(f"{name} has values that are not finite")


def _check_scores(estimator: Any, stream: Stream) -> None:
    waiting = stream.row_scores
    if hasattr(type(estimator), "score_samples"):
        floats("stream_.row_scores", waiting, (len(stream.rows),))
    elif not isinstance(waiting, np.ndarray) or waiting.shape != (len(stream.rows),):
        raise FlawError("stream_.row_scores are not as many as stream_.rows")
    if len(floats("stream_.recent", stream.recent, (-1,))) > RECENT_SCORES:
        raise FlawError(f"stream_.recent has more than {RECENT_SCORES} scores")


def _check_reservoir(estimator: Any, reservoir: Any) -> None:
    if not isinstance(reservoir, Reservoir):
        raise FlawError("stream_.reservoir is not a Reservoir")
    capacity, most = reservoir.capacity, estimator._reservoir_rows
    _whole("stream_.reservoir.capacity", capacity, least=1)
    if capacity > most:
        raise FlawError(f"stream_.reservoir.capacity={capacity} is above {most}")
    _check_rows("stream_.reservoir.rows", reservoir.rows, estimator.n_features_in_, capacity)
    floats("stream_.reservoir.keys", reservoir.keys, (len(reservoir.rows),))


def _check_moments(moments: Any, n_features: int) -> None:
    if not isinstance(moments, Moments):
        raise FlawError("stream_.moments is not a Moments")
    between("stream_.moments.weight", moments.weight, (n_features,), 0.0, _LARGEST)
    floats("stream_.moments.mean", moments.mean, (n_features,))
    between("stream_.moments.squares", moments.squares, (n_features,), 0.0, _LARGEST)


def _check_sums(estimator: Any, sums: Any) -> None:
    if not isinstance(sums, RunningSums):
        raise FlawError("stream_.sums is not a RunningSums")
    if len(estimator.dictionaries_) != 1:
        raise FlawError("stream_.sums is there, and an ensemble has none")
    n_atoms, n_features = estimator.dictionaries_[0].atoms.shape
    floats("stream_.sums.pull", sums.pull, (n_atoms, n_features))
    for name in _SUMS:
        between(f"stream_.sums.{name}", getattr(sums, name), (n_atoms,), 0.0, _LARGEST)


def _check_alarm(stream: Stream) -> None:
    alarm = stream.alarm
    if not isinstance(alarm, Alarm):
        raise FlawError("stream_.alarm is not an Alarm")
    if not isinstance(alarm.limit, float) or not 1.0 <= alarm.limit < math.inf:
        raise FlawError(f"stream_.alarm.limit={shown(alarm.limit)} must be a number from 1")
    scores = floats("stream_.alarm.scores", alarm.scores, (-1,))
    if len(scores) > MOST_SCORES or (np.diff(scores) < 0).any():
        raise FlawError(f"stream_.alarm.scores are not sorted, or more than {MOST_SCORES}")
    between("stream_.alarm.evidence", alarm.evidence, (N_BETS,), 0.0, MOST_EVIDENCE)
    _whole("stream_.alarm.n_tests", alarm.n_tests)
    if alarm.raised_at is not None:
        _whole("stream_.alarm.raised_at", alarm.raised_at)


def _check_reference(stream: Stream, n_dictionaries: int) -> None:
    reference = stream.reference
    if not isinstance(reference, Reference):
        raise FlawError("stream_.reference is not a Reference")
    for name in ("n_seen", "n_blocks"):
        _whole(f"stream_.reference.{name}", getattr(reference, name))
    dictionaries, used = reference.dictionaries, reference.used
    known = type(dictionaries) is tuple and all(type(d) is FittedDictionary for d in dictionaries)
    if not known or len(dictionaries) != n_dictionaries:
        raise FlawError(f"stream_.reference does not have {n_dictionaries} dictionaries")
    if type(used) is not tuple or len(used) != n_dictionaries:
        raise FlawError("stream_.reference.used is not there for each dictionary")
    for i, (dictionary, each) in enumerate(zip(dictionaries, used, strict=True)):
        between(f"stream_.reference.used[{i}]", each, (len(dictionary.atoms),), 0.0, _LARGEST)
