"""Small operations on vectors inside compiled code; arrays are contiguous float64."""

from __future__ import annotations

import numpy as np

from setatoms._compile import kernel
from setatoms.lanes import LANES, lane_kernel

_dot = lane_kernel(2, 0, lambda left, right: ([], [left * right]), reduces=("sum",))


@kernel
def dot(left, right):
    """Return the inner product of two vectors (m,)."""
    whole = left.shape[0] // LANES * LANES
    total = _dot(whole, left, right)
    for i in range(whole, left.shape[0]):
        total += left[i] * right[i]
    return total


@kernel
def norm(vector):
    """Return the Euclidean norm of vector (m,)."""
    return np.sqrt(dot(vector, vector))


@kernel
def add(vector, factor, other):
    """Add factor * other (m,) to vector (m,) in place."""
    for i in range(vector.shape[0]):
        vector[i] += factor * other[i]


@kernel
def multiply(vector, factor):
    """Multiply vector (m,) in place."""
    for i in range(vector.shape[0]):
        vector[i] *= factor


@kernel
def copy(source, target):
    """Fill target (m,) with source (m,)."""
    for i in range(target.shape[0]):
        target[i] = source[i]


@kernel
def fill(vector, value):
    """Set every entry of vector (m,)."""
    for i in range(vector.shape[0]):
        vector[i] = value
