"""Functions of single numbers, compiled.

NumPy's own may take another way for short arrays than for long ones and round differently there; a
row's score must not depend on the rows it comes with.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import kernel

Array = NDArray[np.float64]


def log_at_least(values: Array, least: float) -> Array:
    """Return the logarithms of `values`, those below `least` raised to it."""
    result = np.empty(values.shape)
    _log_at_least(np.ascontiguousarray(values).ravel(), least, result.ravel())
    return result


def log_of_one_plus(values: Array) -> Array:
    """Return the logarithms of one plus `values`, which are not negative."""
    return log_at_least(1.0 + values, 1.0)


def saturate(values: Array, largest: float) -> Array:
    """Return `values` bent so that none is beyond `largest` in absolute value."""
    result = np.empty(values.shape)
    _saturate(np.ascontiguousarray(values).ravel(), largest, result.ravel())
    return result


def rise(values: Array, sharpness: float) -> Array:
    """Return a smooth positive part of `values`: the sharper, the nearer to max(value, 0)."""
    result = np.empty(values.shape)
    _rise(np.ascontiguousarray(values).ravel(), sharpness, result.ravel())
    return result


@kernel
def _log_at_least(values, least, result):
    """Fill result (n,) with logarithms of values (n,)."""
    for i in range(values.shape[0]):
        result[i] = math.log(max(values[i], least))


@kernel
def _saturate(values, largest, result):
    """Fill result (n,) with values (n,) on a curve that levels off at `largest`."""
    for i in range(values.shape[0]):
        result[i] = largest * math.tanh(values[i] / largest)


@kernel
def _rise(values, sharpness, result):
    """Fill result (n,) with log(1 + exp(s v)) / s of values (n,)."""
    for i in range(values.shape[0]):
        scaled = sharpness * values[i]
        # either way the exponential is of a negative number
        result[i] = (max(scaled, 0.0) + math.log1p(math.exp(-abs(scaled)))) / sharpness
