"""Columns of Arrow as NumPy arrays, without the detour by pandas that `to_numpy` takes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def floats(column: pa.ChunkedArray | pa.DoubleArray) -> NDArray[np.float64]:
    """Return a column of doubles with NaN for null.

    Examples
    --------
    >>> import pyarrow as pa
    >>> floats(pa.array([1.0, None, 3.0])[1:])
    array([nan,  3.])
    """
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return np.concatenate([np.empty(0), *map(_one, chunks)])


def _one(array: pa.DoubleArray) -> NDArray[np.float64]:
    rows = slice(array.offset, array.offset + len(array))
    validity, values = array.buffers()
    if len(array) == 0:
        return np.empty(0)
    numbers: NDArray[np.float64] = np.frombuffer(values, np.float64)[rows]
    if array.null_count == 0:
        return numbers
    valid = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")[rows]
    return np.where(valid, numbers, np.nan)
