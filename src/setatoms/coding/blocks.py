"""Signals enter the kernels in blocks of a fixed number of rows.

A block is multiplied with all atoms at once. Its size depends on the dictionary alone and short
blocks are filled with zeros, so BLAS always sees the same shapes and a signal's correlations do
not depend on its neighbours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from setatoms._compile import kernel, sum_kernel

_LANES = 8
_MAX_BLOCK_ROWS = 64
# OpenBLAS multiplies matrices up to this many products without packing them first.
_SMALL_PRODUCT = 1_000_000


class Dictionary(NamedTuple):
    """Atoms in the layouts that kernels read; atoms padded with zeros to whole vectors."""

    atoms: NDArray[Any]  # (n_atoms, n_features)
    columns: NDArray[Any]  # (n_features, n_padded): transposed, for the block product
    gram: NDArray[Any]  # (n_padded, n_padded)
    block_rows: int
    index_mask: int  # 2**k - 1 >= n_padded - 1: the bits that hold an atom's index


def prepare(atoms: NDArray[Any]) -> Dictionary:
    """Lay out ``atoms (n_atoms, n_features)`` for the kernels."""
    n_atoms, n_features = atoms.shape
    n_padded = -(-n_atoms // _LANES) * _LANES
    padded = np.zeros((n_padded, n_features), dtype=atoms.dtype)
    padded[:n_atoms] = atoms
    fitting = _SMALL_PRODUCT // (n_features * n_padded) // _LANES * _LANES
    return Dictionary(
        atoms=np.ascontiguousarray(atoms),
        columns=np.ascontiguousarray(padded.T),
        gram=padded @ padded.T,
        block_rows=max(16, min(_MAX_BLOCK_ROWS, fitting)),
        index_mask=(1 << (n_padded - 1).bit_length()) - 1,
    )


@kernel
def load_block(X, start, stop, block, scales):
    """Copy rows of X (n, m) into block (B, m), extreme ones scaled; fill the rest with zeros.

    A row whose largest entry could overflow or vanish when squared is divided by a power of two,
    kept in scales (B,), so that every later step is exact up to that factor.
    """
    m = X.shape[1]
    huge = X.dtype.type(1e9) if X.itemsize == 4 else X.dtype.type(1e75)
    for i in range(block.shape[0]):
        if start + i >= stop:
            scales[i] = 1.0
            for f in range(m):
                block[i, f] = 0.0
            continue
        largest = X.dtype.type(0.0)
        for f in range(m):
            value = X[start + i, f]
            block[i, f] = value
            largest = max(largest, abs(value))
        scales[i] = 1.0
        if largest > huge or (largest < 1 / huge and largest > 0):
            scales[i] = _rescale(block[i], largest)


@kernel
def _rescale(row, largest):
    """Divide row (m,) in place by the power of two next to its largest entry; return it."""
    exponent = np.floor(np.log2(np.float64(largest)))
    half = np.floor(exponent / 2)
    # in two steps: 2**-1074 has no inverse that is a finite float
    for f in range(row.shape[0]):
        row[f] = row[f] * 2.0**-half * 2.0 ** -(exponent - half)
    return 2.0**exponent


@intrinsic
def _bits(typing_context, value):
    """Reinterpret a float64 as int64; for positive numbers the order is the same."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@kernel
def float_key(value, index, index_mask):
    """Return an integer that orders by ``abs(value)``, then by lowest index.

    The low bits of the number are replaced by the reversed index, so that one integer maximum,
    which the compiler vectorises, finds both. Numbers closer than 2**-44 relative count as ties.
    """
    clear = np.int64(0x7FFFFFFFFFFFFFFF) & ~np.int64(index_mask)
    return (_bits(np.float64(value)) & clear) | (index_mask - index)


@kernel
def key_index(key, index_mask):
    """Return the index in a key."""
    return index_mask - (key & index_mask)


@kernel
def argmax_abs(values, index_mask):
    """Return the index of the largest ``abs(values)``; ties go to the lowest index."""
    best = np.int64(0)
    for j in range(values.shape[0]):
        key = float_key(values[j], j, index_mask)
        best = key if key > best else best
    return key_index(best, index_mask)


@sum_kernel
def norm(vector):
    """Return the Euclidean norm of vector (m,)."""
    total = vector.dtype.type(0.0)
    for i in range(vector.shape[0]):
        total += vector[i] * vector[i]
    return np.sqrt(total)


@sum_kernel
def dot(left, right):
    """Return the inner product of two vectors (m,)."""
    total = left.dtype.type(0.0)
    for i in range(left.shape[0]):
        total += left[i] * right[i]
    return total
