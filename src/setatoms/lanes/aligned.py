"""Arrays whose vectors do not straddle lines of the cache."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_LINE = 64  # bytes
# What a block of arrays may take in all: who keeps one of them keeps the others too.
_MOST_SHARED = 1 << 25


def aligned_zeros(shape: int | tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Return zeros that begin with a line of the cache; so do rows of whole vectors.

    A vector across two lines takes twice as long to read, and longer to write; NumPy's own arrays
    begin anywhere.

    >>> aligned_zeros((3, 8)).ctypes.data % 64
    0
    """
    kind = np.dtype(dtype)
    n_bytes = (math.prod(shape) if isinstance(shape, tuple) else shape) * kind.itemsize
    buffer = np.zeros(n_bytes + _LINE, np.uint8)
    # three times as fast as buffer.ctypes.data
    start = -buffer.__array_interface__["data"][0] % _LINE
    return np.ndarray(shape, kind, buffer, start)


def empty_arrays(*kinds: tuple[tuple[int, ...], DTypeLike]) -> Iterator[NDArray[Any]]:
    """Yield uninitialised arrays of these shapes and types; small ones share a block of memory.

    Of several blocks, those at the end of the heap go back to the system when they are no longer
    used, which then has to clear every page anew for the next ones: up to a fifth of the time in
    which signals are coded.
    """
    starts, end = [], 0
    for shape, dtype in kinds:
        starts.append(end)
        end += -(-math.prod(shape) * np.dtype(dtype).itemsize // _LINE) * _LINE
    block = np.empty(end, np.uint8) if end <= _MOST_SHARED else None
    for start, (shape, dtype) in zip(starts, kinds, strict=True):
        yield np.ndarray(shape, dtype, block, start if block is not None else 0)
