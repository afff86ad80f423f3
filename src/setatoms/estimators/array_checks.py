"""Whether the arrays of a model are what they must be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setatoms.persistence.errors import FlawError


def floats(name: str, array: Any, shape: Sequence[int]) -> NDArray[np.float64]:
    """Return `array` if it is of this shape (-1: any length) and finite."""
    numbers(name, array, np.float64, shape)
    if not np.isfinite(array).all():
        raise FlawError(f"{name} has values that are not finite")
    return array


def between(
    name: str, array: Any, shape: Sequence[int], least: float, most: float
) -> NDArray[np.float64]:
    """Return `array` if it is of this shape (-1: any length) and within these bounds."""
    if not ((floats(name, array, shape) >= least) & (array <= most)).all():
        raise FlawError(f"{name} has values outside [{least:g}, {most:g}]")
    return array


def numbers(name: str, array: Any, dtype: type, shape: Sequence[int]) -> None:
    """Raise a FlawError unless `array` is of this type and shape (-1: any length), without NaN."""
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        raise FlawError(f"{name} is not an array of type {np.dtype(dtype)}")
    fits = array.ndim == len(shape) and all(
        side in (-1, found) for side, found in zip(shape, array.shape, strict=True)
    )
    if not fits or np.isnan(array).any():
        expected = tuple("any" if side == -1 else side for side in shape)
        raise FlawError(f"{name} has shape {array.shape} instead of {expected}, or NaN in it")
