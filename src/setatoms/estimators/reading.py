"""From what was given to `fit` to rows to learn from."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from setatoms.estimators.lazily import is_dask
from setatoms.estimators.missing import check_observed, keep_observed
from setatoms.estimators.tables import read_table, reject_non_finite
from setatoms.estimators.weights import repeat_rows
from setatoms.rows import MappedRows, MemoryRows, Rows, summarise

_NUMERIC = "biuf"


def read_rows(estimator: Any, X: Any, sample_weight: Any, rng: np.random.Generator) -> Rows:
    """Check `X` and return the rows of it that hold a value, as often as their weights say.

    Writes ``n_features_in_``, ``feature_names_in_`` and ``n_samples_fit_`` to `estimator`.

    Parameters
    ----------
    estimator : estimator
        Who is to learn.
    X : array-like, dataframe or Dask collection of shape (n_samples, n_features)
        The table.
    sample_weight : array-like of shape (n_samples,) or None
        How often each row counts.
    rng : numpy.random.Generator
        Decides on fractions of weights.
    """
    if is_dask(X):
        # imports Dask, which nobody else has to
        from setatoms.estimators.dask_tables import read_collection

        return read_collection(estimator, X, sample_weight)
    if is_mapped(X) and sample_weight is None:
        return _read_mapped(estimator, X)
    table = read_table(estimator, X, fitting=True, widen=False)
    table = repeat_rows(table, sample_weight, rng)
    estimator.n_samples_fit_ = len(table)
    return MemoryRows(keep_observed(table, estimator._names()))


def is_mapped(X: Any) -> bool:
    """Tell whether X is mapped from a file and takes more than scikit-learn's working memory."""
    if not isinstance(X, np.memmap) or X.ndim != 2 or X.dtype.kind not in _NUMERIC:
        return False
    return bool(8 * X.size > _working_memory())


def _working_memory() -> int:
    """Return scikit-learn's working memory, in bytes."""
    return int(get_config()["working_memory"]) << 20


def _read_mapped(estimator: Any, X: np.memmap[Any, Any]) -> MappedRows:
    """Check a mapped array block by block."""
    read_table(estimator, X[:2], fitting=True)
    check = partial(reject_non_finite, names=None, allow_nan=estimator.missing == "fill")
    rows = MappedRows(X, room=_working_memory())
    rows.map(check)
    estimator.n_samples_fit_ = rows.n_rows
    empty = np.concatenate(rows.map(_is_empty))
    check_observed(None, rows.n_rows, int(empty.sum()), summarise(rows).n_missing)
    return rows.choose(np.flatnonzero(~empty)) if empty.any() else rows


def _is_empty(X: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(np.isnan(X).all(axis=1))
