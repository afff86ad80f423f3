"""The scores in bins: one edge at the threshold, and a long tail drawn in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_FEWEST_BINS, _MOST_BINS = 16, 56
# A tail this many times as long as all that comes before it is drawn in.
_LONG_TAIL = 1.5
# Differences that are no more than the smallest numbers there are.
_NOTHING = 1e-290


@dataclass(frozen=True)
class Axis:
    """Where a score lies on the axis: in line, or drawn in like a logarithm beyond `unit`.

    Parameters
    ----------
    unit : float or None
        None for a linear axis.
    """

    unit: float | None

    def forward(self, scores: Array) -> Array:
        """Return positions of scores."""
        return scores if self.unit is None else np.arcsinh(scores / self.unit)

    def backward(self, positions: Array) -> Array:
        """Return scores at positions."""
        return positions if self.unit is None else np.sinh(positions) * self.unit


@dataclass(frozen=True)
class Histogram:
    """Counts of rows by score.

    Parameters
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Rising, in units of the score.
    quiet, flagged : int ndarray of shape (n_bins,)
        Rows in each bin, the anomalies apart.
    axis : Axis
        The axis on which the bins are equally wide.
    """

    edges: Array
    quiet: NDArray[np.int64]
    flagged: NDArray[np.int64]
    axis: Axis

    def bins(self) -> Iterator[tuple[float, float, int, int]]:
        """Yield the edges and the counts of each bin that has rows."""
        edges = self.edges.tolist()
        columns = edges[:-1], edges[1:], self.quiet.tolist(), self.flagged.tolist()
        return (each for each in zip(*columns, strict=True) if each[2] or each[3])

    def round_scores(self) -> list[float]:
        """Return round scores between the first and the last edge, rising, for ticks."""
        low, high = float(self.edges[0]), float(self.edges[-1])
        if self.axis.unit is None:
            power = 10.0 ** np.floor(np.log10(high - low))
            share = (high - low) / power
            step = power * (0.1 if share < 2 else 0.2 if share < 5 else 0.5)
            scores = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
        else:
            decades = 10.0 ** (np.floor(np.log10(high)) + np.arange(-6, 1))
            scores = np.append(0.0, np.outer(decades, [1, 2, 3, 4, 5, 7]))
        return [float(f"{score:.10g}") for score in scores if low <= score <= high]


def bin_scores(scores: Array, flagged: NDArray[np.bool_], threshold: float | None) -> Histogram:
    """Sort scores into bins, with an edge at the threshold where it lies near them.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        Those not finite are left out; one at least must be finite.
    flagged : bool ndarray of shape (n_rows,)
        Which rows are anomalies.
    threshold : float or None
        The score above which rows are anomalies.

    Examples
    --------
    >>> histogram = bin_scores(np.array([1.0, 2.0, 3.0, 9.0]), np.arange(4) > 2, 5.0)
    >>> int(histogram.quiet.sum()), int(histogram.flagged.sum())
    (3, 1)
    """
    finite = np.isfinite(scores)
    shown, marked = scores[finite], flagged[finite].astype(bool)
    axis = _choose_axis(shown)
    anchor = _anchor(axis, shown, threshold)
    edges = axis.backward(_edges(axis.forward(shown), anchor))
    # what rounding on the way there and back has moved or cut off
    if anchor is not None and threshold is not None:
        edges[np.argmin(np.abs(edges - threshold))] = threshold
    edges[0] = min(edges[0], shown.min())
    if edges[0] < 0 <= shown.min() and edges[1] > 0:
        edges[0] = 0.0  # no score is below it
    edges[-1] = max(edges[-1], shown.max())
    bins = np.clip(_bin_of(shown, edges), 0, len(edges) - 2)
    n_bins = len(edges) - 1
    return Histogram(
        edges=edges,
        quiet=np.bincount(bins[~marked], minlength=n_bins),
        flagged=np.bincount(bins[marked], minlength=n_bins),
        axis=axis,
    )


def _choose_axis(scores: Array) -> Axis:
    low, middle, high = np.quantile(scores, [0.0, 0.5, 0.95])
    top = scores.max()
    if middle > _NOTHING * max(top, 1.0) and top - high > _LONG_TAIL * (high - low):
        return Axis(unit=float(middle))
    return Axis(unit=None)


def _anchor(axis: Axis, scores: Array, threshold: float | None) -> float | None:
    """Return where the threshold is, unless it lies so far off that scores would look crowded."""
    if threshold is None or not np.isfinite(threshold):
        return None
    low, high = scores.min(), scores.max()
    if not low - (high - low) <= threshold <= high + (high - low):
        return None
    return float(axis.forward(np.array([threshold]))[0])


def _edges(positions: Array, anchor: float | None) -> Array:
    """Return the edges of equally wide bins over the positions and the anchor, which is an edge."""
    low, high = float(positions.min()), float(positions.max())
    if not high - low > _NOTHING:
        margin = max(abs(low), 1.0) / 20
        return np.array([low - margin, high + margin])
    width = (high - low) / _bin_count(positions, high - low)
    start = low if anchor is None else anchor
    before = max(0, int(np.ceil((start - low) / width)))
    after = max(0 if start > low else 1, int(np.ceil((high - start) / width)))
    return start + width * np.arange(-before, after + 1, dtype=np.float64)


def _bin_count(positions: Array, span: float) -> int:
    """Return the number of bins by the rule of Freedman and Diaconis, within bounds."""
    quarter, three_quarters = np.quantile(positions, [0.25, 0.75])
    width = 2 * (three_quarters - quarter) / np.cbrt(len(positions))
    # divided by a width that cannot vanish
    wanted = span / max(width, span / _MOST_BINS)
    return max(int(np.ceil(wanted)), _FEWEST_BINS)


def _bin_of(scores: Array, edges: Array) -> NDArray[np.intp]:
    """Return the bin of each score; a score at an edge lies below it, as at the threshold."""
    return np.searchsorted(edges, scores, side="left") - 1
