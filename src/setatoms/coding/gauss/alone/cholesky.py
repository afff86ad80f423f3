"""Cholesky factors of small matrices that need not be positive definite."""

from __future__ import annotations

import numpy as np

from setatoms._compile import kernel
from setatoms.coding.gauss.alone.space import whole
from setatoms.lanes import lane_kernel, subtract_rows


@kernel
def factorise(k, damping, matrix, factor, scale, order):
    """Fill factor with the Cholesky factor of matrix plus damping, and that transposed.

    scale (k,) is one over its diagonal. Pivots are raised where the matrix is not positive definite
    (Gill and Murray, 1974).
    """
    lower, upper, length = factor[0], factor[1], whole(k)
    highest = 1e-12
    for p in range(k):
        highest = max(highest, abs(matrix[p, p]))
    for p in range(k):
        row = upper[p]
        subtract_rows(length, row, matrix[p], upper, order, lower[p], p, 1.0)
        below = 0.0
        for q in range(p + 1, k):
            below = max(below, abs(row[q]))
        scale[p] = 1.0 / np.sqrt(max(abs(row[p] + damping), 1e-12, below * below / highest))
        for q in range(p + 1, k):
            lower[q, p] = row[q] * scale[p]
        _stretch(length, row, scale[p])


@kernel
def solve_lower(k, lower, scale, vector):
    """Replace vector[:k] by the solution of ``L z = vector``."""
    for q in range(k):
        total = vector[q]
        for p in range(q):
            total -= lower[q, p] * vector[p]
        vector[q] = total * scale[q]


@kernel
def solve_upper(k, upper, scale, vector):
    """Replace vector[:k] by the solution of ``L' z = vector``."""
    for q in range(k - 1, -1, -1):
        total = vector[q]
        for p in range(q + 1, k):
            total -= upper[q, p] * vector[p]
        vector[q] = total * scale[q]


_stretch = lane_kernel(1, 1, lambda vector, factor: ([factor * vector], []), writes=(0,))
