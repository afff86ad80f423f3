"""Tables of Dask: learn from them where they are, and answer lazily, partition by partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import partial
from typing import Any, NamedTuple

import dask
import numpy as np
from numpy.typing import NDArray

from setatoms.backends import at_most_jobs
from setatoms.estimators.missing import check_observed
from setatoms.estimators.tables import read_table
from setatoms.rows.dask import DaskRows
from setatoms.rows.delayed import Later, hold, later

Ask = Callable[[Any, Any], Any]

_FEWEST_ROWS = 2


class Part(NamedTuple):
    """A partition as rows of numbers.

    Attributes
    ----------
    rows : ndarray of shape (n, n_features)
        Those that hold a value; float32 where the table is.
    n_given : int
        How many rows it had.
    n_missing : ndarray of shape (n_features,)
        How many values are missing in them.
    """

    rows: NDArray[Any]
    n_given: int
    n_missing: NDArray[Any]


def read_collection(estimator: Any, X: Any, sample_weight: Any) -> DaskRows:
    """Check a Dask array or frame and return the rows of it that hold a value.

    Writes ``n_features_in_``, ``feature_names_in_`` and ``n_samples_fit_`` to `estimator`.
    """
    if sample_weight is not None:
        raise ValueError(
            "sample_weight needs a table in memory; repeat the rows of a Dask collection instead"
        )
    read_table(estimator, example(X), fitting=True)
    partitions = _partitions(X)
    reader = later(copy(estimator))
    parts = hold([later(_read)(part, reader, i) for i, part in enumerate(partitions)])
    counts = dask.compute(*(later(_count)(part) for part in parts))
    n_given = sum(given for given, _, _ in counts)
    if n_given < _FEWEST_ROWS:
        raise ValueError(f"X has {n_given} rows in {len(parts)} partitions; fit takes at least two")
    lengths = [kept for _, kept, _ in counts]
    n_missing = np.sum([missing for _, _, missing in counts], axis=0)
    check_observed(estimator._names(), n_given, n_given - sum(lengths), n_missing)
    estimator.n_samples_fit_ = n_given
    arrays = [later(_rows)(part) for part in parts]
    return DaskRows.of_partitions(arrays, lengths, estimator.n_features_in_)


def example(X: Any) -> Any:
    """Return two rows as X has them: names and types, made-up values."""
    if hasattr(X, "_meta_nonempty"):
        # Dask's own made-up rows have gaps where the type allows them
        return X._meta_nonempty.ffill().bfill()
    # of the class: a Delayed has whatever it is asked for
    if not hasattr(type(X), "ndim"):
        raise TypeError(
            f"X is a {type(X).__name__} of Dask, and rows are in an array or a frame; make one of "
            "it first, as to_dataframe() of a bag or dask.dataframe.from_delayed do"
        )
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead; give one row per sample")
    return np.ones((_FEWEST_ROWS, X.shape[1]), dtype=X.dtype)


def map_rows(
    model: Any, method: str, X: Any, arguments: tuple[Any, ...], named: dict[str, Any]
) -> Any:
    """Return what a method says of the rows of a Dask collection, lazily.

    The answer to an array is an array, that to a frame has its index. The model goes to each worker
    once.
    """
    ask = partial(_ask, method=method, arguments=arguments, named=named)
    said = ask(example(X), model)
    model = later(model)
    if hasattr(X, "_meta_nonempty"):
        meta = _framed(said, X._meta_nonempty.index).iloc[:0]
        return X.map_partitions(_answer_partition, model, ask, meta=meta)
    if not isinstance(said, np.ndarray):
        import dask.dataframe as dd

        meta = _framed(said, None).iloc[:0]
        parts = [later(_answer_frame)(part, model, ask, i) for i, part in enumerate(_partitions(X))]
        return dd.from_delayed(parts, meta=meta)
    return X.rechunk({1: -1}).map_blocks(
        _answer, model=model, ask=ask, drop_axis=1, dtype=said.dtype, meta=said[:0]
    )


def _partitions(X: Any) -> list[Later]:
    """Return the partitions of X, later, each with all columns."""
    if hasattr(X, "_meta_nonempty"):
        return list(X.to_delayed())
    return [part for (part,) in X.rechunk({1: -1}).to_delayed()]


def _read(part: Any, reader: Any, number: int) -> Part:
    """Return a partition as rows of numbers, or say what is wrong with which."""
    if not part.shape[0]:  # a sparse one has no length
        _check_width(part, reader, number)
        n_features = reader.n_features_in_
        return Part(np.empty((0, n_features), np.float32), 0, np.zeros(n_features))
    with _naming(number):
        table = read_table(reader, part, fitting=False)
    missing = np.isnan(table)
    rows = table[~missing.all(axis=1)] if missing.any() else table
    return Part(rows.astype(_narrow(part), copy=False), len(table), missing.sum(axis=0))


def _check_width(part: Any, reader: Any, number: int) -> None:
    if part.shape[1:] != (reader.n_features_in_,):
        raise ValueError(
            f"partition {number} (from 0): X has {part.shape[1]} features, but "
            f"{type(reader).__name__} is expecting {reader.n_features_in_} features as input"
        )


def _narrow(part: Any) -> Any:
    """Return float32 if that holds all values exactly, otherwise float64."""
    types = part.dtypes.to_list() if hasattr(part, "dtypes") else [part.dtype]
    try:
        exact = np.result_type(np.float32, *types) == np.float32
    except TypeError:  # types of pandas alone
        exact = False
    return np.float32 if exact else np.float64


def _count(part: Part) -> tuple[int, int, NDArray[Any]]:
    return part.n_given, len(part.rows), part.n_missing


def _rows(part: Part) -> NDArray[Any]:
    return part.rows


def _ask(X: Any, model: Any, method: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    # a worker does as many things at once as it has threads
    with at_most_jobs(1):
        return getattr(model, method)(X, *arguments, **named)


def _answer(block: NDArray[Any], model: Any, ask: Ask, block_info: Any = None) -> Any:
    if not block.shape[0]:
        return ask(example_of(block), model)[:0]
    with _naming(block_info[0]["chunk-location"][0] if block_info else None):
        return ask(block, model)


def _answer_partition(part: Any, model: Any, ask: Ask, partition_info: Any = None) -> Any:
    return _answer_frame(part, model, ask, partition_info["number"] if partition_info else None)


def _answer_frame(part: Any, model: Any, ask: Ask, number: int | None) -> Any:
    if not len(part):
        return _framed(ask(example_of(part), model), None).iloc[:0]
    with _naming(number):
        return _framed(ask(part, model), getattr(part, "index", None))


@contextmanager
def _naming(number: int | None) -> Iterator[None]:
    """Say in which partition an error was, if its number is known."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if number is None:
            raise
        raise type(error)(f"partition {number} (from 0): {error}") from error


def example_of(part: Any) -> Any:
    """Return a row of ones with the names of an empty partition."""
    ones = np.ones((1, part.shape[1]))
    return type(part)(ones, columns=part.columns) if hasattr(part, "columns") else ones


def _framed(said: Any, index: Any) -> Any:
    """Return answers as a series with an index, or explanations as a frame, lines by label."""
    import pandas as pd

    if isinstance(said, np.ndarray):
        return pd.Series(said, index=index)
    # which would count rows anew in each partition
    return said.frame.drop(columns="row")
