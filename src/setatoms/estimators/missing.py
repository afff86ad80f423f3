"""Tables with missing values: what may be missing, and how rows are completed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms.estimators.tables import name_columns
from setatoms.estimators.warn import warn_caller
from setatoms.learning.dictionary import FittedDictionary
from setatoms.learning.missing import row_norms

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Completed(NamedTuple):
    """Standardised rows without gaps.

    Attributes
    ----------
    signals : ndarray of shape (n_samples, n_features)
        What to code: observed entries as given, the others filled.
    values : ndarray of shape (n_samples, n_features)
        The same with the best values for the missing entries, given the codes of `signals`.
    errors : ndarray of shape (n_samples,)
        Representation errors of the observed entries, as large as if all had been observed: times
        the root of the share of features over observed ones. NaN for rows that had no gaps.
    """

    signals: Array
    values: Array
    errors: Array


def complete(dictionary: FittedDictionary, Z: Array, n_jobs: int | None) -> Completed:
    """Fill what is NaN in standardised rows `Z` (n_samples, n_features) by a fitted dictionary.

    Other rows are not touched. A row without any observed entry becomes the mean row, which has no
    error.
    """
    missing = np.isnan(Z)
    rows = np.flatnonzero(missing.any(axis=1))
    completed = Completed(Z, Z, np.full(len(Z), np.nan))
    if len(rows):
        gaps = missing[rows]
        start = np.where(gaps, 0.0, Z[rows])
        filled = dictionary.fill(start, gaps, n_jobs=n_jobs)
        n_observed = np.maximum((~gaps).sum(axis=1), 1)
        completed.errors[rows] = row_norms(filled.residuals) * np.sqrt(Z.shape[1] / n_observed)
        completed = completed._replace(
            signals=_with_rows(Z, rows, filled.rows), values=_with_rows(Z, rows, filled.values)
        )
    return completed


def measure_all(
    dictionaries: Sequence[FittedDictionary], Z: Array, n_jobs: int | None
) -> Iterator[Array]:
    """Yield the representation errors (n_samples,) of rows `Z`, NaN where missing, by each."""
    # looking for gaps takes as long as coding a few rows
    has_gaps = bool(np.isnan(Z).any())
    for each in dictionaries:
        yield measure(each, Z, n_jobs) if has_gaps else each.errors(Z, n_jobs=n_jobs)


def measure(dictionary: FittedDictionary, Z: Array, n_jobs: int | None) -> Array:
    """Return the representation errors (n_samples,) of rows `Z`, NaN where missing.

    Those of rows with gaps are scaled to the full width.
    """
    signals, _, errors = complete(dictionary, Z, n_jobs)
    whole = np.isnan(errors)
    # a slab without gaps is not copied
    signals = signals if whole.all() else signals[whole]
    errors[whole] = dictionary.errors(signals, n_jobs=n_jobs)
    return errors


def keep_observed(table: Array, names: Sequence[Any] | None) -> Array:
    """Return the rows of `table` (n_samples, n_features) to learn from: those that hold a value."""
    missing = np.isnan(table)
    if not missing.any():
        return table
    empty = missing.all(axis=1)
    check_observed(names, len(table), int(empty.sum()), missing.sum(axis=0))
    return table[~empty]


def check_observed(
    names: Sequence[Any] | None, n_rows: int, n_empty: int, n_missing: NDArray[Any]
) -> None:
    """Raise if a column has no value or fewer than two rows have any; warn of rows without.

    Parameters
    ----------
    names : sequence or None
        Those of the columns.
    n_rows, n_empty : int
        How many rows there are, and how many of them have no value at all.
    n_missing : ndarray of shape (n_features,)
        In how many rows each column has no value.
    """
    unseen = np.flatnonzero(n_missing == n_rows)
    if len(unseen):
        raise ValueError(
            f"X has no value at all in {name_columns(names, unseen)}; drop what was never observed"
        )
    if n_rows - n_empty < 2:
        raise ValueError(
            f"X has no value at all in {n_empty} of {n_rows} rows, and fit takes two rows that "
            "have; give more rows"
        )
    if n_empty:
        warn_caller(f"X has no value at all in {n_empty} of {n_rows} rows, which fit ignores")


def _with_rows(Z: Array, rows: NDArray[np.intp], new: Array) -> Array:
    result = Z.copy()
    result[rows] = new
    return result
