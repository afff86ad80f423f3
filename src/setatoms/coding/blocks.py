"""Signals enter the kernels in blocks of a fixed number of rows.

A block is multiplied with all atoms at once. Its size depends on the dictionary alone and short
blocks are filled with zeros, so BLAS always sees the same shapes and a signal's correlations do
not depend on its neighbours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import allocating_kernel, kernel
from setatoms.backends import single_threaded_blas
from setatoms.lanes import LANES, aligned_zeros, padded
from setatoms.vectors import fill

_MAX_BLOCK_ROWS = 64
# OpenBLAS neither splits over threads nor packs a product of at most this many multiplications.
_SMALL_PRODUCT = 262_144


class Layout(NamedTuple):
    """Atoms in the layouts that kernels read, padded with zero atoms to whole vectors."""

    atoms: NDArray[np.float64]  # (n_atoms, n_features)
    columns: NDArray[np.float64]  # (n_features, n_padded): transposed, for the block product
    gram: NDArray[np.float64]  # (n_padded, n_padded)
    block_rows: int
    index_mask: int  # the low bits of a number that can hold an atom's index
    halt: NDArray[np.int64]  # (1,): not 0 once codes are no longer wanted


def prepare(atoms: NDArray[Any] | Layout) -> Layout:
    """Lay out ``atoms (n_atoms, n_features)`` for the kernels, if that is still to be done.

    What is laid out already can be halted on its own.
    """
    if isinstance(atoms, Layout):
        return atoms._replace(halt=np.zeros(1, np.int64))
    n_atoms, n_features = atoms.shape
    n_padded = padded(n_atoms)
    columns = aligned_zeros((n_features, n_padded))
    columns[:, :n_atoms] = atoms.T
    with single_threaded_blas():
        gram = np.matmul(columns.T, columns, out=aligned_zeros((n_padded, n_padded)))
    fitting = _SMALL_PRODUCT // (n_features * n_padded) // LANES * LANES
    return Layout(
        atoms=np.array(atoms, dtype=np.float64, order="C"),
        columns=columns,
        gram=gram,
        block_rows=max(LANES, min(_MAX_BLOCK_ROWS, fitting)),
        index_mask=(1 << (n_padded - 1).bit_length()) - 1,
        halt=np.zeros(1, np.int64),
    )


class SignalBlock(NamedTuple):
    """Signals on their way through a kernel."""

    rows: NDArray[np.float64]  # (block_rows, n_features)
    scales: NDArray[np.float64]  # (block_rows,): what extreme rows were divided by
    correlations: NDArray[np.float64]  # (block_rows, n_padded)


def allocate_block(layout: Layout) -> SignalBlock:
    """Return a block for signals to be coded with these atoms."""
    n_features, n_padded = layout.columns.shape
    size = layout.block_rows
    correlations = aligned_zeros((size, n_padded))
    return SignalBlock(np.empty((size, n_features)), np.empty(size), correlations)


@kernel
def correlate_block(X, start, stop, layout, block):
    """Load rows start to stop of X into the block and multiply them with all atoms."""
    load_block(X, start, stop, block.rows, block.scales)
    multiply_block(block.rows, layout.columns, block.correlations)


@allocating_kernel
def multiply_block(block, columns, out):
    """Fill out (B, n) with block (B, m) times columns (m, n)."""
    np.dot(block, columns, out)


@kernel
def load_block(X, start, stop, block, scales):
    """Copy rows of X (n, m) into block (B, m), extreme ones scaled; fill the rest with zeros.

    A row whose largest entry could overflow or vanish when squared is divided by a power of two,
    kept in scales (B,), so that every later step is exact up to that factor.
    """
    for i in range(block.shape[0]):
        scales[i] = 1.0
        if start + i >= stop:
            fill(block[i], 0.0)
            continue
        largest = _load_row(X[start + i], block[i])
        if largest > 1e75 or 0.0 < largest < 1e-75:
            scales[i] = _rescale(block[i], largest)


@kernel
def _load_row(source, target):
    """Fill target (m,) with source (m,); return the largest absolute entry."""
    largest = 0.0
    for i in range(target.shape[0]):
        value = source[i]
        target[i] = value
        largest = max(largest, abs(value))
    return largest


@kernel
def _rescale(row, largest):
    """Divide row (m,) in place by the power of two next to its largest entry; return it."""
    exponent = np.floor(np.log2(largest))
    half = np.floor(exponent / 2)
    # in two steps: 2**-1074 has no inverse that is a finite float
    for i in range(row.shape[0]):
        row[i] = row[i] * 2.0**-half * 2.0 ** -(exponent - half)
    return 2.0**exponent
