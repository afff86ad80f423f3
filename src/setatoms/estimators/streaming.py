"""Learn from rows as they come: what all estimators share.

Rows are learned from in blocks of 512. A row that comes before its block is full waits, so that
the model depends on the rows and their order and not on how they are cut into calls.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from setatoms.estimators.base import AtomEstimator
from setatoms.estimators.parameters import check_parameters
from setatoms.estimators.stream_state import BLOCK_ROWS, Reference, Stream
from setatoms.estimators.tables import NamedRows, read_table
from setatoms.learning.dictionary import FittedDictionary
from setatoms.streams import Alarm, Drift, Moments, Reservoir, count_past, fading, measure_moves

Array = NDArray[np.float64]
Places = NDArray[np.int64]
Mask = NDArray[np.bool_]

# After so many blocks units, radii, views and members are renewed.
REFRESH_BLOCKS = 4
# The reference scores one row of so many.
TEST_EVERY = 4
# At least so many rows pass between two false alarms, on average.
ROWS_PER_FALSE_ALARM = 1_000_000


class LearnsFromStream(AtomEstimator):
    """An estimator that can go on learning, with `partial_fit`."""

    stream_: Stream
    n_samples_fit_: int
    half_life: float | None

    # whether rows are scored, beside those that the reference scores
    _judges = False
    _reservoir_rows = 2_000

    @abstractmethod
    def _rows_to_start(self, n_features: int) -> int:
        """Return how many rows a first fit takes."""

    @abstractmethod
    def _score_rows(self, table: Array) -> Array:
        """Return the scores (n,) of rows: the lower, the more abnormal."""

    def _with_reference(self, reference: Reference) -> None:
        """Be the model that a reference is."""
        return

    @property
    @abstractmethod
    def dictionaries_(self) -> tuple[FittedDictionary, ...]:
        """The dictionaries that follow the stream."""

    @abstractmethod
    def _refer(self, stream: Stream | None, n_seen: int, n_blocks: int) -> Reference:
        """Return this model as a reference."""

    @abstractmethod
    def _learn_block(self, stream: Stream, fade: float) -> Stream:
        """Learn from the rows of a full block."""

    @abstractmethod
    def _refresh(self, stream: Stream, rng: np.random.Generator) -> Stream:
        """Renew what is not renewed with every block."""

    @abstractmethod
    def _used(self, stream: Stream | None) -> tuple[Array, ...]:
        """Return the use of the atoms of each dictionary."""

    def partial_fit(self, X: Any, y: object = None) -> Self:
        """Go on learning from further rows.

        A model that is not fitted waits until there are enough rows to start with, and is then
        fitted on them: twelve for each atom (20 for each column of an ensemble), at least 256. From
        then on rows are learned from in blocks of 512; those of a block that is not full wait. The
        model depends on the rows and their order, not on how they are cut into calls. What is
        forgotten when is described in ``docs/streams.md``.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            Further rows, with the same columns at every call.
        y : Ignored
            Present for API consistency.

        Returns
        -------
        self : object
            The estimator. If `partial_fit` fails or is interrupted, it is as it was before.
        """
        self._follow(X, learn=True)
        return self

    @property
    def drift_(self) -> Drift:
        """How far the model has moved, and whether rows have changed, since its reference.

        The reference is the model as it was when the stream began; some time after an alarm it is
        taken anew.
        """
        if "stream_" not in vars(self):
            raise AttributeError("drift_ is there after partial_fit has seen enough rows to start")
        stream, reference = self.stream_, self.stream_.reference
        moves = measure_moves(
            reference.dictionaries, self.dictionaries_, reference.used, self._used(stream)
        )
        alarm = stream.alarm
        row = None if alarm.raised_at is None else alarm.raised_at + 1
        since = reference.n_seen
        return Drift(
            since, stream.n_seen - since, *moves, alarm.total, alarm.limit, row is not None, row
        )

    def _follow(self, X: Any, learn: bool) -> Array:
        """Take in rows, all or none of them; return the score (n,) of each from before."""
        check_parameters(self)
        draft = copy(self)
        table = draft._read(X)
        scores = np.full(len(table), np.nan)
        rest = draft._started(table, learn)
        if len(rest):
            scores[len(table) - len(rest) :] = draft._take_in_all(rest, learn)
        self.__dict__ = draft.__dict__
        return scores

    def _read(self, X: Any) -> Array:
        first = "n_features_in_" not in vars(self)
        return read_table(self, X, fitting=first, least_rows=1)

    def _started(self, table: Array, learn: bool) -> Array:
        """Make sure that there is a model and a stream, if rows are enough; return those left."""
        if "stream_" in vars(self):
            return table
        if not self.__sklearn_is_fitted__():
            if not learn:
                check_is_fitted(self)
            waiting = np.concatenate([*self.__dict__.pop("_waiting", ()), table])
            n_first = self._rows_to_start(table.shape[1])
            if len(waiting) < n_first:
                self._waiting = (waiting,)
                return waiting[:0]
            names = self._names()
            first, table = waiting[:n_first], waiting[n_first:]
            self.fit(first if names is None else NamedRows.of(first, list(names)))
        self._compile_ahead({each.kind.name for each in self.dictionaries_})
        self._begin()
        return table

    def _begin(self) -> None:
        """Start a stream where a fit has ended."""
        seed = int(self._generator().integers(2**62))
        n_seen = self.n_samples_fit_
        past = count_past(n_seen, self.half_life)
        rows, outcasts = self._known_rows()
        self.stream_ = Stream(
            seed=seed,
            n_seen=n_seen,
            n_blocks=0,
            rows=np.empty((0, rows.shape[1])),
            row_scores=np.empty(0),
            reservoir=Reservoir.begin(rows, past, self._count_sample(rows.shape[1]), seed),
            moments=self._known_moments(past),
            sums=None,
            recent=self._known_scores(np.random.default_rng([seed, 0])),
            outcasts=outcasts,
            alarm=Alarm.new(ROWS_PER_FALSE_ALARM / TEST_EVERY),
            reference=self._refer(None, n_seen, 0),
        )

    def _count_sample(self, n_features: int) -> int:
        """Return how many rows of the stream to keep: no more than two half-lives bring.

        A larger sample would hold rows that are to be forgotten.
        """
        if self.half_life is None:
            return self._reservoir_rows
        fewest = self._rows_to_start(n_features)
        return min(self._reservoir_rows, max(fewest, math.ceil(2 * self.half_life)))

    def _known_rows(self) -> tuple[Array, Array]:
        """Return rows (n, n_features) that a fit keeps: some learned from, and others."""
        nothing = np.empty((0, self.n_features_in_))
        return nothing, nothing

    def _known_moments(self, past: float) -> Moments:
        """Return what a fit knows of the columns, with the weight of the past."""
        n_features = self.n_features_in_
        return Moments(*np.zeros((3, n_features)))

    def _known_scores(self, rng: np.random.Generator) -> Array:
        """Return scores of rows outside the fit, in random order."""
        return np.empty(0)

    def _take_in_all(self, table: Array, learn: bool) -> Array:
        """Take in rows and return the score (n,) of each, from before it is learned from."""
        found, start = [], 0
        while start < len(table):
            rows = table[start : start + self._rows_ahead(self.stream_)]
            scores = self._score_rows(rows) if self._judges else np.full(len(rows), np.nan)
            known = self._scores_of_reference(self.stream_, rows, scores)
            for part in self._parts(len(rows)):
                self._take_in(rows[part], scores[part], known[part], learn)
            found.append(scores)
            start += len(rows)
        return np.concatenate(found)

    def _rows_ahead(self, stream: Stream) -> int:
        """Return after how many rows the dictionaries change: at the end of the block."""
        return BLOCK_ROWS - len(stream.rows)

    def _parts(self, n_rows: int) -> Iterator[slice]:
        """Yield so many rows up to the end of each block."""
        start, stop = 0, BLOCK_ROWS - len(self.stream_.rows)
        while start < n_rows:
            yield slice(start, min(stop, n_rows))
            start, stop = stop, stop + BLOCK_ROWS

    def _take_in(self, rows: Array, scores: Array, known: Array, learn: bool) -> None:
        """Take in rows of one block with their scores, and those that the reference gives."""
        stream = self.stream_
        alarm = self._test(stream, known)
        stream = replace(stream, n_seen=stream.n_seen + len(rows), alarm=alarm)
        if learn:
            stream = replace(
                stream,
                rows=np.concatenate([stream.rows, rows]),
                row_scores=np.concatenate([stream.row_scores, scores]),
            )
        if len(stream.rows) == BLOCK_ROWS:
            stream = self._finish_block(stream)
        self.stream_ = stream
        self.n_samples_fit_ += len(rows)

    def _scores_of_reference(self, stream: Stream, rows: Array, scores: Array) -> Array:
        """Return the scores (n,) of the rows that are tested by the reference, NaN for others."""
        known, tested = np.full(len(rows), np.nan), _tested(stream.n_seen, len(rows))
        if stream.alarm.raised_at is None and len(tested):
            if self._judges and stream.n_blocks == stream.reference.n_blocks:
                known[tested] = scores[tested]
            else:
                known[tested] = self._referred(stream.reference)._score_rows(rows[tested])
        return known

    def _test(self, stream: Stream, known: Array) -> Alarm:
        """Return the alarm after scores (n,) of the reference for the next rows."""
        tested = _tested(stream.n_seen, len(known))
        if stream.alarm.raised_at is not None or not len(tested):
            return stream.alarm
        return stream.alarm.tested(known[tested], stream.n_seen + tested, stream.seed)

    def _referred(self, reference: Reference) -> Self:
        frozen = copy(self)
        frozen._with_reference(reference)
        return frozen

    def _finish_block(self, stream: Stream) -> Stream:
        stream = self._learn_block(stream, fading(BLOCK_ROWS, self.half_life))
        stream = replace(
            stream,
            n_blocks=stream.n_blocks + 1,
            rows=stream.rows[:0],
            row_scores=stream.row_scores[:0],
        )
        if stream.n_blocks % REFRESH_BLOCKS == 0:
            stream = self._refresh(stream, np.random.default_rng([stream.seed, stream.n_blocks]))
            stream = self._settle(stream)
        return stream

    def _settle(self, stream: Stream) -> Stream:
        """Return the stream with a new reference, if an alarm lies far enough back."""
        raised_at = stream.alarm.raised_at
        wait = max(REFRESH_BLOCKS * BLOCK_ROWS, self.half_life or 0.0)
        if raised_at is None or stream.n_seen - raised_at < wait:
            return stream
        reference = self._refer(stream, stream.n_seen, stream.n_blocks)
        return replace(stream, alarm=Alarm.new(stream.alarm.limit), reference=reference)


def _tested(n_seen: int, n_rows: int) -> Places:
    """Return which of the next rows, after so many, the reference tests."""
    return np.arange(-n_seen % TEST_EVERY, n_rows, TEST_EVERY)
