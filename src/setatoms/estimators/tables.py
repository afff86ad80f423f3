"""Read a table of numbers, and say precisely which columns are wrong when it is not one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from setatoms.estimators.lazily import is_dask
from setatoms.masked import gaps_as_nan

_NAMED_AT_MOST = 5
_NUMERIC = "biufc"
_TEXT_OR_TIME = (str, bytes, date, timedelta)


class NamedRows(np.ndarray[Any, Any]):
    """Rows of numbers (n_samples, n_features) with the names of their columns, without a frame."""

    columns: list[str] | None = None

    @classmethod
    def of(cls, rows: NDArray[np.float64], columns: Sequence[str]) -> NamedRows:
        """Return `rows`, not copied, with the names of their columns."""
        named = rows.view(cls)
        named.columns = list(columns)
        return named


def read_table(
    estimator: Any, X: Any, *, fitting: bool, least_rows: int = 2, widen: bool = True
) -> NDArray[np.float64]:
    """Check `X` against `estimator` and return it as finite numbers, or NaN where it may be.

    In `fit` this writes ``n_features_in_`` and ``feature_names_in_`` to `estimator`; when scoring
    it compares with them.

    Parameters
    ----------
    estimator : estimator
        Whose table it is.
    X : array-like or dataframe of shape (n_samples, n_features)
        Numbers; object columns are accepted when they hold numbers only. What is masked in a
        masked array is missing, as NaN.
    fitting : bool
        Whether `X` is being learned from, which takes two features.
    least_rows : int, default=2
        How many rows that takes.
    widen : bool, default=True
        Whether float32 becomes float64 as well; otherwise it stays, exact and half as large.

    Returns
    -------
    table : ndarray of shape (n_samples, n_features)
        Row-major float64 or float32; shares memory with `X` where possible, not to be written to.
    """
    if is_dask(X):
        raise TypeError(
            "X is a collection of Dask, and this method takes a table in memory; compute a part of "
            "it, as X.partitions[0].compute()"
        )
    names = _column_names(X)
    X = gaps_as_nan(X)
    _reject_text_and_times(X, names)
    minima = {"ensure_min_samples": least_rows, "ensure_min_features": 2} if fitting else {}
    try:
        table: NDArray[np.float64] = validate_data(
            estimator,
            X,
            reset=fitting,
            dtype=np.float64 if widen else [np.float64, np.float32],
            order="C",
            ensure_all_finite=False,
            **minima,
        )
    except (TypeError, ValueError) as error:
        _name_unconvertible(X, names, error)
        raise
    if fitting and names is not None and isinstance(X, NamedRows):
        estimator.feature_names_in_ = np.array(names, dtype=object)
    reject_non_finite(table, names, allow_nan=estimator.missing == "fill")
    return table


def row_labels(X: Any, n_samples: int) -> Any:
    """Return the labels of rows: the index of a pandas frame, otherwise their numbers (n,)."""
    return X.index if hasattr(X, "iloc") else np.arange(n_samples)


def name_columns(names: Sequence[Any] | None, indices: Iterable[int]) -> str:
    """Write a list of columns for a message: by name if they have one, otherwise by number."""
    chosen = [repr(str(names[i])) if names is not None else str(i) for i in map(int, indices)]
    hidden = len(chosen) - _NAMED_AT_MOST
    listed = ", ".join(chosen[:_NAMED_AT_MOST]) + (f" and {hidden} more" if hidden > 0 else "")
    listed += "" if names is not None else ", counted from 0"
    return f"column{'s' if len(chosen) > 1 else ''} {listed}"


def _column_names(X: Any) -> list[Any] | None:
    columns = getattr(X, "columns", None)
    return None if columns is None else list(columns)


def _doubtful_columns(X: Any) -> list[Any]:
    """Return the columns of `X`, or none when their common type is numeric already."""
    if hasattr(X, "columns") and not isinstance(X, NamedRows):
        at = X.iloc if hasattr(X, "iloc") else X
        return [at[:, j] for j in range(len(X.columns))]
    try:
        table = np.asarray(X)
        if table.ndim != 2 or table.dtype.kind in _NUMERIC:
            return []
        # a list of mixed rows became text as a whole: look at its own values
        return list(np.asarray(X, dtype=object).T if table.dtype.kind in "US" else table.T)
    except (TypeError, ValueError):
        return []  # ragged lists, foreign objects: validate_data explains those


def _reject_text_and_times(X: Any, names: list[Any] | None) -> None:
    """Raise where numpy would make numbers of something else: digits in text, dates."""
    blamed = [j for j, column in enumerate(_doubtful_columns(X)) if _holds_text_or_times(column)]
    if blamed:
        raise ValueError(
            f"X has text or times in {name_columns(names, blamed)}; "
            "drop these columns, or let TableEncoder make numbers of the table"
        )


def _name_unconvertible(X: Any, names: list[Any] | None, error: Exception) -> None:
    """Raise `error` again with the columns that are to blame, if there are any."""
    blamed = [j for j, column in enumerate(_doubtful_columns(X)) if not _holds_numbers(column)]
    if blamed:
        raise type(error)(
            f"X has values that are not numbers in {name_columns(names, blamed)} ({error}); "
            "drop these columns, or let TableEncoder make numbers of the table"
        ) from error


def _holds_text_or_times(column: Any) -> bool:
    values = np.asarray(column)
    if values.dtype.kind == "O":
        return any(isinstance(value, _TEXT_OR_TIME) for value in values)
    return values.dtype.kind in "USmM"


def _holds_numbers(column: Any) -> bool:
    try:
        np.asarray(column).astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def reject_non_finite(
    table: NDArray[np.float64], names: list[Any] | None, *, allow_nan: bool
) -> None:
    """Raise on values that are not finite, and name their columns."""
    if np.isfinite(table).all() or (allow_nan and not np.isinf(table).any()):
        return
    found = []
    nowhere = np.zeros_like(table, dtype=np.bool_)
    for what, where in (
        ("NaN", nowhere if allow_nan else np.isnan(table)),
        (f"infinity or a value too large for {table.dtype!r}", np.isinf(table)),
    ):
        n_rows = int(where.any(axis=1).sum())
        if n_rows:
            columns = name_columns(names, np.flatnonzero(where.any(axis=0)))
            found.append(f"{what} in {columns} ({n_rows} row{'s' if n_rows > 1 else ''})")
    remedy = "drop or impute these values"
    if not allow_nan and np.isnan(table).any():
        remedy += ", or let missing='fill' treat NaN as missing"
    raise ValueError(f"Input X contains {' and '.join(found)}; {remedy}")
