"""Running mean and variance of columns, with old rows counting less and less."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# A column that varies by less than this share of its mean is constant but for rounding.
_CONSTANT, _TINY = 1e-9, 1e-150
# Less of the past is not forgotten any further.
_LEAST_WEIGHT = 1e-9


@dataclass(frozen=True)
class Moments:
    """Sums over the observed values of each column.

    Parameters
    ----------
    weight : ndarray of shape (n_features,)
        How many values there were, old ones counted by what is left of them.
    mean : ndarray of shape (n_features,)
        Their mean.
    squares : ndarray of shape (n_features,)
        Sum of the squared distances from the mean.
    """

    weight: Array
    mean: Array
    squares: Array

    @property
    def deviation(self) -> Array:
        """Standard deviation (n_features,) of each column; 1 for one that is constant."""
        found = np.sqrt(self.squares / np.maximum(self.weight, _TINY))
        varies = found > np.maximum(_CONSTANT * np.abs(self.mean), _TINY)
        return np.where(varies, found, 1.0)

    def added(self, rows: Array, fade: float) -> Moments:
        """Return the moments with rows (n, n_features) added and the past times `fade`.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(9, 2))
        >>> nothing = Moments(*np.zeros((3, 2)))
        >>> parts = nothing.added(X[:4], 1.0).added(X[4:], 1.0)
        >>> bool(np.allclose(parts.deviation, X.std(axis=0)))
        True
        """
        # a column that has had no value for long keeps its unit
        fades = np.where(fade * self.weight < _LEAST_WEIGHT, 1.0, fade)
        if not len(rows):
            return Moments(fades * self.weight, self.mean, fades * self.squares)
        observed = ~np.isnan(rows)
        count = observed.sum(axis=0).astype(np.float64)
        # from the first value on, so that a constant column has no variance at all
        first = rows[observed.argmax(axis=0), np.arange(rows.shape[1])]
        first = np.where(count > 0, first, self.mean)
        centred = np.where(observed, rows - first, 0.0)
        shift = centred.sum(axis=0) / np.maximum(count, 1.0)
        centred = np.where(observed, centred - shift, 0.0)
        past = fades * self.weight
        total = np.maximum(past + count, _TINY)
        step = first + shift - self.mean
        squares = fades * self.squares + (centred**2).sum(axis=0) + step**2 * past * count / total
        return Moments(past + count, self.mean + step * count / total, squares)
