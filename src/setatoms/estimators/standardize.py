"""Bring every feature to mean 0 and standard deviation 1, as learned from the training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setatoms.estimators.tables import name_columns
from setatoms.estimators.warn import warn_caller

# Far beyond any real value and still inside the float range with room for a row's norm.
_LIMIT = 1e300


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
    def learn(cls, X: NDArray[np.float64], names: Sequence[Any] | None = None) -> Standardizer:
        """Take mean and standard deviation of `X` (n_samples, n_features).

        A constant feature gets scale 1, so that a later deviation counts in its own unit.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            mean, deviation = _moments(X)
            _raise_overflow(~np.isfinite(deviation**2), names)
        return cls(mean, np.where(deviation > 0, deviation, 1.0))

    def apply(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return `X` (n_samples, n_features) standardised and kept within the float range."""
        with np.errstate(over="ignore"):
            Z = (X - self.mean) / self.scale
        return np.clip(Z, -_LIMIT, _LIMIT, out=Z)


def reject_overflow(X: NDArray[np.float64], names: Sequence[Any] | None) -> None:
    """Raise if the squares of a column of `X` (n_samples, n_features) overflow."""
    with np.errstate(over="ignore"):
        _raise_overflow(~np.isfinite(np.einsum("ij,ij->j", X, X)), names)


def warn_constant(X: NDArray[np.float64], names: Sequence[Any] | None) -> None:
    """Warn of columns of `X` (n_samples, n_features) that hold one value only."""
    constant = np.flatnonzero((X == X[0]).all(axis=0))
    if len(constant):
        warn_caller(
            f"X is constant in {name_columns(names, constant)}: nothing is learned there, and a "
            "deviation at scoring time counts in the column's own unit"
        )


def _moments(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation, exact for constant columns, safe from underflow."""
    centred = X - X[0]
    mean = centred.mean(axis=0)
    centred -= mean
    peak = np.abs(centred).max(axis=0)
    peak[peak == 0] = 1.0
    centred /= peak
    return X[0] + mean, peak * np.sqrt(np.einsum("ij,ij->j", centred, centred) / len(X))


def _raise_overflow(overflowing: NDArray[np.bool_], names: Sequence[Any] | None) -> None:
    if overflowing.any():
        raise ValueError(
            f"the variance of X overflows in {name_columns(names, np.flatnonzero(overflowing))}; "
            "rescale these columns (values up to about 1e150 work) or drop them"
        )
