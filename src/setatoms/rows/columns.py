"""What is known of columns, as sums and ends over blocks of rows."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np

from setatoms.rows.base import Array, Mask, Rows


class Columns(NamedTuple):
    """Ends and gaps of columns.

    Attributes
    ----------
    least, most : ndarray of shape (n_features,)
        The smallest and the largest value; NaN where there is none.
    n_missing : ndarray of shape (n_features,)
        How many values are missing.
    """

    least: Array
    most: Array
    n_missing: Array


def summarise(rows: Rows) -> Columns:
    """Return ends and gaps of all columns."""
    return reduce(_join, rows.map(_summarise_block))


def _summarise_block(X: Array) -> Columns:
    return Columns(
        np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0), np.isnan(X).sum(axis=0, dtype=float)
    )


def _join(one: Columns, two: Columns) -> Columns:
    return Columns(
        np.fmin(one.least, two.least),
        np.fmax(one.most, two.most),
        one.n_missing + two.n_missing,
    )


def moments(rows: Rows) -> tuple[Array, Array]:
    """Return mean and standard deviation, exact for constant columns, safe from underflow.

    Those of a column without any value are NaN and 0.
    """
    first = reduce(lambda known, new: np.where(np.isnan(known), new, known), rows.map(first_values))
    sums = rows.map(_sum_of, first)
    n_observed = np.maximum(_add([n for n, _ in sums]), 1)
    mean = _add([total for _, total in sums]) / n_observed
    spreads = rows.map(_spread_of, first, mean)
    peak = np.maximum.reduce([peak for peak, _ in spreads])
    peak[peak == 0] = 1.0
    squares = _add([(own / peak) ** 2 * squares for own, squares in spreads])
    return first + mean, peak * np.sqrt(squares / n_observed)


def overflowing(rows: Rows) -> Mask:
    """Tell in which columns (n_features,) the sum of squares overflows."""
    with np.errstate(over="ignore"):
        return ~np.isfinite(_add(rows.map(_squares_of)))


def first_values(X: Array) -> Array:
    """Return the first observed value of each column, NaN if there is none."""
    observed = ~np.isnan(X)
    return np.asarray(X[observed.argmax(axis=0), np.arange(X.shape[1])])


def _sum_of(X: Array, first: Array) -> tuple[Array, Array]:
    observed = ~np.isnan(X)
    with np.errstate(over="ignore", invalid="ignore"):
        return observed.sum(axis=0, dtype=float), np.where(observed, X - first, 0.0).sum(axis=0)


def _spread_of(X: Array, first: Array, mean: Array) -> tuple[Array, Array]:
    """Return the largest distance from the mean, and the sum of squares in units of it."""
    with np.errstate(over="ignore", invalid="ignore"):
        centred = np.where(np.isnan(X), 0.0, X - first - mean)
        peak = np.abs(centred).max(axis=0)
        peak[peak == 0] = 1.0
        centred /= peak
        return peak, np.einsum("ij,ij->j", centred, centred)


def _squares_of(X: Array) -> Array:
    observed = np.where(np.isnan(X), 0.0, X)
    with np.errstate(over="ignore"):
        return np.einsum("ij,ij->j", observed, observed)


def _add(parts: list[Array]) -> Array:
    """Return the sum of parts, one after the other."""
    return np.asarray(reduce(np.add, parts))
