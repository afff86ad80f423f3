r"""Which training rows look abnormal before anything is learned.

They have no say in learning, so that a fault that is far out, or many rows with the same one, does
not become a pattern. Two things make a row look abnormal, by its *size* (the root mean square of
its standardised values) or its *distance* (to the nearest quarter of a sample of 500 rows), both on
a logarithmic scale.

*Far out*: many robust standard deviations above the median, see `setatoms.views.calibration`; or
one value further from the median of its column than 25 times the outermost but a tenth on its side,
if no more than 5 % of the column are.

*A group apart*: the density of sizes or distances falls from its mode to a valley and rises again.
What lies beyond the valley is a group of its own. The rise must be more than chance: with
:math:`c_1` rows expected in a window at the valley and :math:`c_2` in one at the second mode, it
counts if :math:`c_2 - c_1 > 3 \sqrt{c_1 + c_2}`.

*Edges*: where rows lie evenly, as along one cause that takes all values alike, those at the ends
have neighbours on one side only, up to twice as far as inside. Such a group is not apart.

Standard deviations are taken from the rows that look normal, in a few rounds. A group of more than
40 % of the rows is not apart: it is one of two patterns. What a sample of a table tells holds for
all of its rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.distance import cdist

from setatoms.backends import run_chunks
from setatoms.views.calibration import Calibration
from setatoms.views.nearest import distances_in_place

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_ROUNDS = 2
# Robust standard deviations above the median: by standard and by robust units of the columns.
_FAR, _FAR_ROBUST = 4.0, 5.0
_TENTH, _FAR_VALUE, _MOST_FAR = 0.1, 25.0, 0.05
_MOST_OF_A_GROUP = 0.4
# How sure a second mode must be, in standard deviations: of sizes, and of distances.
_SURE, _SURE_OF_DISTANCES = 3.0, 4.0
# At the edges of an even cloud, of whatever dimension, neighbours are up to twice as far as inside,
# 1.5 times in the middle. Edges are a fifth of the rows or more; 0.69 is the logarithm of 2.
_LEAST_EDGE, _EDGE_MIDDLE, _EDGE_FAR = 0.1, 0.55, 0.9
_SAMPLE_ROWS = 500
_QUARTER = 4
# The distances of so many rows stay in a near cache.
_CHUNK_ROWS = 512
_CLEAR_RISE = 1.5
_LEAST_SIZE, _HUGE = 0.01, 1e100
# A robust unit below this share of the standard deviation is that of a column that hardly varies.
_LEAST_UNIT = 0.05
_BINS_PER_BANDWIDTH, _MOST_BINS = 3, 4000
# Beyond this many times the width of the bulk all rows are equally far.
_FARTHEST = 60.0


@dataclass(frozen=True)
class Screen:
    """What tells rows that look abnormal from the others.

    Parameters
    ----------
    values : FarValues
        Which values are far beyond their column.
    units : Units
        How sizes and distances are measured.
    most : tuple of three floats
        The largest sizes, by standard and robust units, and the largest distance of a row that
        looks normal.
    """

    values: FarValues
    units: Units
    most: tuple[float, float, float]

    @classmethod
    def learn(cls, X: Array, n_jobs: int | None = 1) -> Screen | None:
        """Return what tells abnormal rows of `X` (n_samples, n_features) and of rows like them.

        At least half of the rows remain, and two values of each column; otherwise it is None, and
        all do. NaN is a missing value. `n_jobs` are threads; results do not depend on it.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(200, 4))
        >>> X[7, 2] = -9999
        >>> np.flatnonzero(~Screen.learn(X).keeps(X))
        array([7])
        """
        keep = np.ones(len(X), np.bool_)
        values = FarValues.learn(X)
        far = values.of(X)
        for _ in range(_ROUNDS):
            units = Units.learn(X, keep)
            plain, robust, distances = measured = units.measure(X, n_jobs)
            valley = find_valley(distances, _SURE_OF_DISTANCES)
            most = (
                min(find_valley(plain), _far_out(plain[keep], _FAR)),
                _far_out(robust[keep], _FAR_ROBUST),
                np.inf if is_edge(distances, valley) else valley,
            )
            screen = cls(values, units, most)
            normal = ~(far | screen.beyond(measured))
            if not _enough(X, normal):
                return None
            if np.array_equal(keep, normal):
                break
            keep = normal
        return screen

    def keeps(self, X: Array, n_jobs: int | None = 1) -> Mask:
        """Tell which rows of `X` (n, n_features) look normal."""
        return ~(self.values.of(X) | self.beyond(self.units.measure(X, n_jobs)))

    def beyond(self, measured: tuple[Array, Array, Array]) -> Mask:
        """Tell which rows (n,) are too large or too far."""
        plain, robust, distances = (
            each > most for each, most in zip(measured, self.most, strict=True)
        )
        return plain | robust | distances


class FarValues(NamedTuple):
    """Values beyond which a value is far beyond nine tenths of its column (n_features,)."""

    least: Array
    most: Array

    @classmethod
    def learn(cls, X: Array) -> FarValues:
        """Return them for the columns of X (n_samples, n_features)."""
        low, middle, high = np.nanquantile(X, (_TENTH, 0.5, 1 - _TENTH), axis=0)
        with np.errstate(over="ignore"):
            below = np.where(low < middle, middle - _FAR_VALUE * (middle - low), -np.inf)
            above = np.where(high > middle, middle + _FAR_VALUE * (high - middle), np.inf)
        # many of them are how the column is
        usual = ((X < below) | (X > above)).mean(axis=0) > _MOST_FAR
        return cls(np.where(usual, -np.inf, below), np.where(usual, np.inf, above))

    def of(self, X: Array) -> Mask:
        """Tell which rows (n,) of X (n, n_features) have a far value."""
        return np.asarray(((X < self.least) | (X > self.most)).any(axis=1))


class Units(NamedTuple):
    """How sizes and distances are measured.

    Attributes
    ----------
    mean, deviation, middle, unit : ndarray of shape (n_features,)
        Standard and robust centres and units of the columns.
    columns : ndarray of shape (n_features, n)
        Some of the rows that look normal, in standard units.
    """

    mean: Array
    deviation: Array
    middle: Array
    unit: Array
    columns: Array

    @classmethod
    def learn(cls, X: Array, keep: Mask) -> Units:
        """Take units from the rows of X (n_samples, n_features) that are kept."""
        kept = X[keep]
        # huge values are far out whatever their square
        with np.errstate(over="ignore", invalid="ignore"):
            mean, deviation = np.nanmean(kept, axis=0), np.nanstd(kept, axis=0)
            low, middle, high = np.nanquantile(kept, (0.16, 0.5, 0.84), axis=0)
            deviation = np.where(deviation > 0, deviation, 1.0)
            half = (high - low) / 2
            unit = np.where(half > _LEAST_UNIT * deviation, half, deviation)
            some = np.linspace(0, len(kept) - 1, min(len(kept), _SAMPLE_ROWS)).astype(int)
            columns = _without_gaps((kept[some] - mean) / deviation).T
        return cls(mean, deviation, middle, unit, np.ascontiguousarray(columns))

    def measure(self, X: Array, n_jobs: int | None) -> tuple[Array, Array, Array]:
        """Return logarithms of sizes, by standard and robust units, and of distances."""
        with np.errstate(over="ignore", invalid="ignore"):
            Z = (X - self.mean) / self.deviation
            robust = (X - self.middle) / self.unit
        return _log_size(Z), _log_size(robust), _log_distances(Z, self.columns, n_jobs)


def find_valley(sizes: Array, sure: float = _SURE) -> float:
    """Return where the density of `sizes` (n,) is lowest before it rises again; inf if nowhere.

    The rise counts if it is `sure` standard deviations above chance.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> one, two = rng.normal(0, 1, 900), rng.normal(8, 1, 100)
    >>> find_valley(one), 2 < find_valley(np.concatenate([one, two])) < 6
    (inf, True)
    """
    quarter, middle = np.quantile(sizes, (0.25, 0.5))
    width = 2 * max(float(middle - quarter), 1e-9)
    bandwidth = width / 1.34 * len(sizes) ** -0.2
    low = float(np.quantile(sizes, 0.005))
    high = min(float(sizes.max()), float(middle) + _FARTHEST * width)
    # all the same but for rounding, say: bins would be finer than any bandwidth
    if high - low < bandwidth:
        return np.inf
    n_bins = int(np.clip((high - low) / bandwidth * _BINS_PER_BANDWIDTH, 10, _MOST_BINS))
    counts, edges = np.histogram(np.clip(sizes, low, high), n_bins, (low, high))
    per_bandwidth = bandwidth / (edges[1] - edges[0])
    density = gaussian_filter1d(counts.astype(np.float64), per_bandwidth, mode="constant")
    return _first_valley(density * 3 * per_bandwidth, counts, edges, sure)


def is_edge(distances: Array, valley: float) -> bool:
    """Tell whether the rows beyond a valley of `distances` (n,) are the edge of an even cloud.

    Parameters
    ----------
    distances : ndarray of shape (n,)
        Logarithms of distances.
    valley : float
        Where a group begins; inf if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> inside, twice, far = np.zeros(80), np.linspace(0.2, 0.7, 20), np.full(20, 1.0)
    >>> is_edge(np.append(inside, twice), 0.1), is_edge(np.append(inside, far), 0.1)
    (True, False)
    """
    beyond = distances > valley
    if beyond.mean() < _LEAST_EDGE:
        return False
    middle, far = np.quantile(distances[beyond], (0.5, 0.9)) - np.median(distances[~beyond])
    return bool(middle < _EDGE_MIDDLE and far < _EDGE_FAR)


def _first_valley(expected: Array, counts: NDArray[np.intp], edges: Array, sure: float) -> float:
    """Return the first valley after the mode that is followed by a sure rise.

    `expected` (n_bins,) are the rows of a window around each bin of the histogram.
    """
    beyond = counts[::-1].cumsum()[::-1] / counts.sum()
    lowest = int(np.argmax(np.where(beyond > _MOST_OF_A_GROUP, expected, 0.0)))
    for i in range(lowest, len(expected)):
        here, there = expected[lowest], expected[i]
        if there < here:
            lowest = i
        elif (
            there - here > sure * np.sqrt(here + there)
            and there > _CLEAR_RISE * here
            and beyond[lowest] <= _MOST_OF_A_GROUP
        ):
            return float(edges[lowest] + edges[lowest + 1]) / 2
    return np.inf


def _far_out(sizes: Array, limit: float) -> float:
    """Return what is so many robust standard deviations above the median of sizes (n,)."""
    scale = Calibration.learn(sizes[None])
    return float(scale.middle[0] + limit * scale.spread[0])


def _without_gaps(Z: Array) -> Array:
    return np.clip(np.nan_to_num(Z), -_HUGE, _HUGE)


def _log_distances(Z: Array, columns: Array, n_jobs: int | None) -> Array:
    """Return logarithms of the distances (n,) to the nearest quarter of a few other rows."""
    rows = _without_gaps(Z)
    place = columns.shape[1] // _QUARTER
    distances = np.empty(len(rows))

    def measure(start: int, stop: int) -> None:
        distances[start:stop] = distances_in_place(rows[start:stop], columns, place)
        if len(hidden := start + np.flatnonzero(np.isnan(distances[start:stop]))):
            of_rows = cdist(rows[hidden], columns.T)
            of_rows.partition(place, axis=1)
            distances[hidden] = of_rows[:, place]

    run_chunks(measure, len(rows), n_jobs=n_jobs, chunk_rows=_CHUNK_ROWS)
    return np.asarray(np.log(np.maximum(distances, _LEAST_SIZE)))


def _log_size(Z: Array) -> Array:
    mean_square = np.nanmean(np.minimum(np.abs(Z), _HUGE) ** 2, axis=1)
    return np.asarray(np.log(np.maximum(np.sqrt(mean_square), _LEAST_SIZE)))


def _enough(X: Array, keep: Mask) -> bool:
    if 2 * keep.sum() < len(X) or keep.sum() < 2:
        return False
    return bool((np.isfinite(X[keep]).sum(axis=0) >= min(2, len(X))).all())
