"""Bring every feature to mean 0 and standard deviation 1, as learned from the training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setatoms.estimators.tables import name_columns
from setatoms.estimators.warn import warn_caller
from setatoms.rows import Columns, Rows, moments, overflowing

# Far beyond any real value and still inside the float range with room for a row's norm.
_LIMIT = 1e300
_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Standardizer:
    """The map ``(x - mean) / scale``, feature by feature.

    Parameters
    ----------
    mean, scale : ndarray of shape (n_features,)
        The centre of each feature and its unit, never zero.
    """

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def identity(cls, n_features: int) -> Standardizer:
        """Return the map that changes nothing."""
        return cls(np.zeros(n_features), np.ones(n_features))

    @classmethod
    def learn(cls, rows: Rows, names: Sequence[Any] | None = None) -> Standardizer:
        """Take mean and standard deviation of what is observed, not NaN, in rows.

        A constant feature gets scale 1, so that a later deviation counts in its own unit; so does
        one that was never observed, whose mean is NaN.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            mean, deviation = moments(rows)
            _raise_overflow(~np.isfinite(deviation**2), names)
        return cls(mean, np.where(deviation > 0, deviation, 1.0))

    def completed(self, other: Standardizer | None) -> Standardizer:
        """Return this map with that of `other` for features that were never observed."""
        unknown = np.isnan(self.mean)
        if other is None or not unknown.any():
            return self
        return Standardizer(
            np.where(unknown, other.mean, self.mean), np.where(unknown, other.scale, self.scale)
        )

    def apply(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return `X` (n_samples, n_features) standardised and kept within the float range."""
        with np.errstate(over="ignore"):
            Z = (X - self.mean) / self.scale
        return np.clip(Z, -_LIMIT, _LIMIT, out=Z)

    def restore(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return standardised rows `Z` (n_samples, n_features) in their own units, finite."""
        with np.errstate(over="ignore"):
            X = self.mean + self.scale * Z
        return np.clip(X, -_LARGEST, _LARGEST, out=X)


def reject_overflow(rows: Rows, names: Sequence[Any] | None) -> None:
    """Raise if the squares of a column overflow."""
    _raise_overflow(overflowing(rows), names)


def warn_constant(columns: Columns, names: Sequence[Any] | None) -> None:
    """Warn of columns that hold one value only."""
    constant = np.flatnonzero(~(columns.least < columns.most))
    if len(constant):
        warn_caller(
            f"X is constant in {name_columns(names, constant)}: nothing is learned there, and a "
            "deviation at scoring time counts in the column's own unit"
        )


def _raise_overflow(overflowing: NDArray[np.bool_], names: Sequence[Any] | None) -> None:
    if overflowing.any():
        raise ValueError(
            f"the variance of X overflows in {name_columns(names, np.flatnonzero(overflowing))}; "
            "rescale these columns (values up to 1e60 work) or drop them"
        )
