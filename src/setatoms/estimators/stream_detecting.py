"""Detectors that follow a stream: which rows they learn from, and the threshold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setatoms import decisions
from setatoms.estimators.detecting import ErrorDetector
from setatoms.estimators.standardize import Standardizer, reject_overflow
from setatoms.estimators.stream_state import RECENT_SCORES, Reference, Stream
from setatoms.estimators.streaming import LearnsFromStream
from setatoms.rows import MemoryRows, summarise
from setatoms.streams import Moments
from setatoms.views import MOST_OUTCASTS, Reach
from setatoms.views.neighbours import MOST_ROWS

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# The threshold follows once there are so many scores.
_FEWEST_SCORES = 256
# One normal row of so many is taken for clearly abnormal.
_CLEARLY = 1e-3
# A column with fewer values in a sample is one that rows are silent about.
_FEWEST_VALUES = 20


class DetectorFromStream(LearnsFromStream, ErrorDetector):
    """A detector that can go on learning."""

    n_samples_fit_: int
    _judges = True

    def follow(self, X: Any, *, learn: bool = True) -> Array:
        """Score rows as they come, watch for change, and learn from them.

        Each row is scored by the model that all blocks before its own have made, before it is
        learned from; so scores are those of unseen rows. Otherwise it is `partial_fit`.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            Further rows, with the same columns at every call.
        learn : bool, default=True
            False leaves the model as it is, and only watches for change; see `drift_`.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            As `score_samples` returns them; NaN while there are not enough rows to start with.
        """
        return self._follow(X, learn)

    def _score_rows(self, table: Array) -> Array:
        return self._score(table)

    def _known_rows(self) -> tuple[Array, Array]:
        if self.guard_ is None:
            return super()._known_rows()
        kept, outcasts = self.guard_.neighbours.columns, self.guard_.outcasts
        return self.standardizer_.restore(kept.T), self.standardizer_.restore(outcasts.T)

    def _known_moments(self, past: float) -> Moments:
        constant = self.column_quantiles_[:, 0] == self.column_quantiles_[:, -1]
        variance = np.where(constant, 0.0, self.standardizer_.scale**2)
        weight = past * (1.0 - self.missing_shares_)
        return Moments(weight, self.standardizer_.mean, weight * variance)

    def _known_scores(self, rng: np.random.Generator) -> Array:
        known = self.calibration_scores_
        if known is None:
            return np.empty(0)
        return rng.permutation(known)[-RECENT_SCORES:]

    def _learn_block(self, stream: Stream, fade: float) -> Stream:
        rows, first = stream.rows, stream.n_seen - len(stream.rows)
        kept = self._to_learn_from(stream)
        self.n_screened_ += int(len(rows) - kept.sum())
        usual = rows[kept]
        reject_overflow(MemoryRows(usual), self._names())
        stream = replace(
            stream,
            reservoir=stream.reservoir.added(usual, first, self.half_life, stream.seed),
            moments=stream.moments.added(usual, fade),
            recent=np.concatenate([stream.recent, stream.row_scores])[-RECENT_SCORES:],
            outcasts=np.concatenate([stream.outcasts, rows[~kept]])[-MOST_OUTCASTS:],
        )
        stream = self._move_atoms(stream, self.standardizer_.apply(usual), fade)
        self._follow_threshold(stream.recent)
        return stream

    def _to_learn_from(self, stream: Stream) -> Mask:
        """Return which rows (n,) of a block are not clearly abnormal.

        The limit follows the better three quarters of the last scores: what a quarter of the rows
        have in common is not abnormal.
        """
        kept = ~np.isnan(stream.rows).all(axis=1)
        if not self._relation_alone and len(stream.recent) >= _FEWEST_SCORES:
            kept &= stream.row_scores >= decisions.bulk_quantile(stream.recent, _CLEARLY)
        return np.asarray(kept)

    def _follow_threshold(self, recent: Array) -> None:
        """Set the threshold by scores (n,) of rows from before they were learned from."""
        if len(recent) < _FEWEST_SCORES:
            return
        self.calibration_scores_ = np.sort(recent)
        if isinstance(self.contamination, str):
            self.offset_ = self._robust_offset(self.calibration_scores_)
        else:
            self.offset_ = decisions.share_offset(self.calibration_scores_, self.contamination)
        self.training_offset_ = self.offset_
        self.lowest_scores_ = None

    def _refresh(self, stream: Stream, rng: np.random.Generator) -> Stream:
        ratio, ends = None, self._known_ends()
        if self.standardize:
            before, moments = self.standardizer_, stream.moments
            self.standardizer_ = Standardizer(moments.mean, moments.deviation)
            ratio = before.scale / self.standardizer_.scale
        stream = self._refresh_dictionaries(stream, ratio, rng)
        rows = stream.reservoir.rows
        if len(rows):
            self._profile_anew(MemoryRows(rows))
            self._judge_anew(rows, stream.outcasts, rng, ends)
        return stream

    def _profile_anew(self, rows: MemoryRows) -> None:
        """Remember what columns are like now; what was known where nearly all are gaps."""
        known, columns = self.column_quantiles_, summarise(rows)
        self._profile(rows, columns)
        few = rows.n_rows - columns.n_missing < min(_FEWEST_VALUES, rows.n_rows)
        self.column_quantiles_ = np.where(few[:, None], known, self.column_quantiles_)

    def _known_ends(self) -> Array | None:
        """Return the least and the most value of columns (2, n_features), if the views know."""
        if self.guard_ is None:
            return None
        return self.standardizer_.restore(np.stack([self.guard_.least, self.guard_.most]))

    def _reach_with(self, rows: Array, ends: Array | None) -> Reach | None:
        """Return how far rows reach, and those before where nearly all values are missing.

        A sensor that was silent for a while may be as it was when it speaks again. None stands for
        the reach of the rows alone.
        """
        few = (~np.isnan(rows)).sum(axis=0) < min(_FEWEST_VALUES, len(rows))
        if ends is None or not few.any():
            return None
        least, most = np.where(few, self.standardizer_.apply(ends), np.nan)
        return Reach.of(self.standardizer_.apply(rows)).joined(Reach(least, most, 0.0))

    def _judge_anew(
        self, rows: Array, outcasts: Array, rng: np.random.Generator, ends: Array | None
    ) -> None:
        """Learn what the views compare with from rows (n, n_features) of the stream.

        Columns had these `ends` (2, n_features) so far.
        """
        if len(rows) > MOST_ROWS:
            rows = rows[np.sort(rng.choice(len(rows), MOST_ROWS, replace=False))]
        closed = rows if self._relation_alone else self._close_gaps(rows)
        errors = self._errors(closed)
        self._compare(errors)
        if self._relation_alone:
            return
        self._learn_guard(rows, closed, errors, rng, self._reach_with(rows, ends))
        if len(outcasts):
            self.guard_ = self.guard_.remembering(self.standardizer_.apply(outcasts))

    def _refer(self, stream: Stream | None, n_seen: int, n_blocks: int) -> Reference:
        return Reference(
            n_seen=n_seen,
            n_blocks=n_blocks,
            dictionaries=self.dictionaries_,
            used=self._used(stream),
            standardizer=self.standardizer_,
            guard=self.guard_,
            combination=getattr(self, "combination_", None),
        )

    def _with_reference(self, reference: Reference) -> None:
        super()._with_reference(reference)
        if reference.standardizer is not None:
            self.standardizer_ = reference.standardizer
        self.guard_ = reference.guard

    def _move_atoms(self, stream: Stream, signals: Array, fade: float) -> Stream:
        raise NotImplementedError

    def _refresh_dictionaries(
        self, stream: Stream, ratio: Array | None, rng: np.random.Generator
    ) -> Stream:
        raise NotImplementedError
