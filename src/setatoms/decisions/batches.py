"""Whether a batch of rows is like those that were learned from, as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Shares of training rows below the values that are kept of each column.
LEVELS = np.array([0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0])
_MIDDLE = 5
# How far a share may be from what was learned without a word, beside what chance explains.
_SLACK = 0.1
_CHANCE = 0.01
_NAMED = 5
_SAMPLED, _MOST_SAMPLED = 200, 1 << 20
# How many rows of a chunk are compared with the quantiles.
_MEASURED = 10_000


class Moved(NamedTuple):
    """A column whose values are others than in training."""

    column: str
    was: float  # the median
    now: float
    outside: float  # share of values beyond all that were learned from


class Gaps(NamedTuple):
    """A column that has more gaps than in training."""

    column: str
    was: float  # share of rows
    now: float


@dataclass(frozen=True)
class BatchComparison:
    """How a batch of rows differs from those that were learned from.

    Attributes
    ----------
    n_rows : int
        How many rows it has.
    flagged, expected : float
        The share of rows that are flagged, and that of rows like those learned from.
    moved : tuple of Moved
        Columns whose values are others, the furthest first.
    gaps : tuple of Gaps
        Columns with more gaps.
    """

    n_rows: int
    flagged: float
    expected: float
    moved: tuple[Moved, ...]
    gaps: tuple[Gaps, ...]

    @property
    def fits(self) -> bool:
        """Whether the batch is like the rows learned from."""
        return not (self.moved or self.gaps or self._too_many)

    @property
    def _too_many(self) -> bool:
        # one row may be flagged without a word on all
        chance = 3.0 * np.sqrt(self.expected * (1 - self.expected) / max(self.n_rows, 1))
        chance += 1.0 / max(self.n_rows, 1)
        return self.flagged > self.expected + chance + 0.5 * _SLACK

    @property
    def sentence(self) -> str:
        """What is different, in words; empty if nothing is."""
        if self.fits:
            return ""
        parts = []
        if self._too_many:
            parts.append(
                f"{self.flagged:.0%} of the rows flagged where {self.expected:.0%} are usual"
            )
        for column, was, now, outside in self.moved[:_NAMED]:
            beyond = f", {outside:.0%} beyond all learned from" if outside >= 0.01 else ""
            parts.append(f"{column!r} moved (median {now:.4g} where {was:.4g} is usual{beyond})")
        parts += [
            f"{column!r} has gaps in {now:.0%} of the rows where {was:.0%} are usual"
            for column, was, now in self.gaps[:_NAMED]
        ]
        hidden = max(len(self.moved) - _NAMED, 0) + max(len(self.gaps) - _NAMED, 0)
        more = f", and {hidden} more" if hidden else ""
        return f"not like the rows learned from: {'; '.join(parts)}{more}"


def profile(some: Array, least: Array, most: Array) -> Array:
    """Return quantiles (n_features, n_levels) of columns.

    Parameters
    ----------
    some : ndarray of shape (n, n_features)
        Rows that tell what is between the ends; NaN is a gap.
    least, most : ndarray of shape (n_features,)
        The ends of all rows.
    """
    quantiles = np.full((some.shape[1], len(LEVELS)), np.nan)
    for j, column in enumerate(some.T):
        values = column[~np.isnan(column)]
        # a column may have a value, and none among some rows
        quantiles[j] = np.quantile(values if len(values) else [least[j], most[j]], LEVELS)
        quantiles[j, [0, -1]] = least[j], most[j]
    return quantiles


def _count_below(values: Array, limits: Array) -> tuple[Array, Array]:
    """Return how many values are below each of some sorted limits, and how many up to it."""
    places = np.searchsorted(limits, values)
    up_to = np.bincount(places, minlength=len(limits) + 1)[: len(limits)].cumsum()
    # of equal limits, values are at the first
    at_limit = places[values == np.append(limits, np.nan)[places]]
    at = np.bincount(at_limit, minlength=len(limits))
    return up_to - at[np.searchsorted(limits, limits)], up_to


@dataclass
class BatchCounts:
    """What is counted of a batch, chunk by chunk.

    Parameters
    ----------
    names : sequence of str
        The columns.
    quantiles : ndarray of shape (n_features, n_levels)
        Of the rows that were learned from.
    missing : ndarray of shape (n_features,)
        The share of gaps among them.
    expected : float
        The share of such rows that are flagged.
    n_rows, n_flagged : int, default=0
        Rows counted so far, and those of them that are flagged.
    """

    names: Sequence[str]
    quantiles: Array
    missing: Array
    expected: float
    n_rows: int = 0
    n_flagged: int = 0
    _sample: list[Array] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(0)
        self._gaps, self._measured = np.zeros((2, len(self.names)))
        self._below, self._up_to = np.zeros((2, len(self.names), len(LEVELS)))

    def add(self, rows: Array, n_flagged: int) -> None:
        """Take in rows.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_features)
            In the columns' own units, NaN where missing.
        n_flagged : int
            How many of them are flagged.
        """
        self._gaps += np.isnan(rows).sum(axis=0)
        self.n_rows += len(rows)
        self.n_flagged += n_flagged
        some = rows
        if len(rows) > _MEASURED:
            # at random: what comes every so many rows must not be met by steps
            some = rows[self._rng.integers(len(rows), size=_MEASURED)]
        for j, column in enumerate(some.T):
            values = column[~np.isnan(column)]
            below, up_to = _count_below(values, self.quantiles[j])
            self._measured[j] += len(values)
            self._below[j] += below
            self._up_to[j] += up_to
        self._sample.append(rows[:: max(1, len(rows) // _SAMPLED)].copy())
        self._thin_out()

    def merge(self, others: BatchCounts) -> None:
        """Take in what was counted of further rows of the batch."""
        self.n_rows += others.n_rows
        self.n_flagged += others.n_flagged
        self._gaps += others._gaps
        self._measured += others._measured
        self._below += others._below
        self._up_to += others._up_to
        self._sample += others._sample
        self._thin_out()

    def _thin_out(self) -> None:
        if sum(map(np.size, self._sample)) > _MOST_SAMPLED and len(self._sample) > 1:
            self._sample = self._sample[::2]

    def compare(self) -> BatchComparison:
        """Return how the batch differs."""
        if not self.n_rows:
            return BatchComparison(0, 0.0, self.expected, (), ())
        gaps = self._gaps / self.n_rows
        present = np.maximum(self._measured, 1)[:, None]
        below, up_to = self._below / present, self._up_to / present
        # where many values are equal, a share of rows lies at a quantile: both sides may hold it
        off = np.maximum(np.maximum(below - LEVELS, LEVELS - up_to), 0.0)[:, 1:-1].max(axis=1)
        chance = np.sqrt(np.log(2 * len(self.names) / _CHANCE) / (2 * present[:, 0]))
        known = np.isfinite(np.sum(self.quantiles, axis=1))
        sample = np.concatenate(self._sample)
        # a column without any value has no median
        sample[0, np.isnan(sample).all(axis=0)] = 0.0
        medians = np.nanmedian(sample, axis=0)
        by_chance = np.sqrt(np.log(2 * len(self.names) / _CHANCE) / (2 * self.n_rows))
        outside = below[:, 0] + 1.0 - up_to[:, -1]
        moved = [
            Moved(
                self.names[j],
                float(self.quantiles[j, _MIDDLE]),
                float(medians[j]),
                float(outside[j]),
            )
            for j in np.argsort(-off, kind="stable")
            if known[j] and off[j] > _SLACK + chance[j]
        ]
        more = [
            Gaps(self.names[j], float(self.missing[j]), float(gaps[j]))
            for j in np.argsort(self.missing - gaps, kind="stable")
            if gaps[j] > self.missing[j] + _SLACK + by_chance
        ]
        share = self.n_flagged / self.n_rows
        return BatchComparison(self.n_rows, share, self.expected, tuple(moved), tuple(more))
