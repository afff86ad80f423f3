"""Small operations on vectors inside compiled code; arrays are contiguous float64."""

from __future__ import annotations

import numpy as np

from setatoms._compile import kernel
from setatoms.lanes import lane_kernel

# inner_product(m, left, right): the same as dot, compiled in place instead of called
inner_product = lane_kernel(
    2, 0, lambda left, right: ([], [left * right]), reduces=("sum",), any_length=True
)
_add = lane_kernel(
    2,
    1,
    lambda vector, other, factor: ([vector + factor * other], []),
    writes=(0,),
    any_length=True,
)
_multiply = lane_kernel(
    1, 1, lambda vector, factor: ([vector * factor], []), writes=(0,), any_length=True
)
_copy = lane_kernel(2, 0, lambda source, _target: ([source], []), writes=(1,), any_length=True)

# largest(n, values, mask): where the largest of n, a multiple of eight, is in absolute value
largest = lane_kernel(1, 0, lambda values: ([], [values]), reduces=("argmax",))


@kernel
def dot(left, right):
    """Return the inner product of two vectors (m,)."""
    return inner_product(left.shape[0], left, right)


@kernel
def norm(vector):
    """Return the Euclidean norm of vector (m,)."""
    return np.sqrt(dot(vector, vector))


@kernel
def add(vector, factor, other):
    """Add factor * other (m,) to vector (m,) in place."""
    _add(vector.shape[0], vector, other, factor)


@kernel
def multiply(vector, factor):
    """Multiply vector (m,) in place."""
    _multiply(vector.shape[0], vector, factor)


@kernel
def copy(source, target):
    """Fill target (m,) with source (m,)."""
    _copy(target.shape[0], source, target)


@kernel
def fill(vector, value):
    """Set every entry of vector (m,), of any type."""
    for i in range(vector.shape[0]):
        vector[i] = value
