"""Signals enter the kernels in blocks of rows, each multiplied with all atoms at once.

Sums of the product are added up in the order of the features (`setatoms.lanes.products`), so a
signal's correlations depend neither on its neighbours nor on the processor. The last block of a
chunk is filled with zeros, as kernels go through it by whole vectors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from setatoms._compile import kernel
from setatoms.lanes import aligned_zeros, count_lanes, lane_kernel, multiply_rows, padded
from setatoms.vectors import fill

# Rows of a block: few enough for its correlations to stay in the fastest cache, whole vectors.
_BLOCK_BYTES, _LEAST_ROWS, _MOST_ROWS = 1 << 15, 16, 64


class Layout(NamedTuple):
    """Atoms in the layouts that kernels read, padded with zero atoms to whole vectors.

    Products with atoms are in double or in single precision; the atoms themselves are always in
    double precision, for what is left of a signal.
    """

    atoms: NDArray[np.float64]  # (n_atoms, n_features)
    columns: NDArray[Any]  # (n_features, n_padded): transposed, for the block product
    gram: NDArray[Any]  # (n_padded, n_padded)
    block_rows: int
    index_mask: int  # the low bits of a number that can hold an atom's index
    halt: NDArray[np.int64]  # (1,): not 0 once codes are no longer wanted


class Sizes(NamedTuple):
    """Of a layout, as far as work space depends on it."""

    n_atoms: int
    n_features: int
    n_padded: int
    block_rows: int
    dtype: np.dtype[Any]


def sizes_of(layout: Layout) -> Sizes:
    """Return the sizes of a layout."""
    n_features, n_padded = layout.columns.shape
    n_atoms, dtype = len(layout.atoms), layout.columns.dtype
    return Sizes(n_atoms, n_features, n_padded, layout.block_rows, dtype)


def prepare(atoms: NDArray[Any] | Layout, dtype: DTypeLike = np.float64) -> Layout:
    """Lay out ``atoms (n_atoms, n_features)`` for the kernels, if that is still to be done.

    What is laid out already can be halted on its own.
    """
    if isinstance(atoms, Layout):
        if atoms.gram.dtype == dtype:
            return atoms._replace(halt=np.zeros(1, np.int64))
        atoms = atoms.atoms
    n_atoms, n_features = atoms.shape
    n_padded = padded(n_atoms)
    columns = aligned_zeros((n_features, n_padded))
    columns[:, :n_atoms] = atoms.T
    gram = aligned_zeros((n_padded, n_padded))
    _multiply(np.ascontiguousarray(columns.T), columns, gram)
    layout = Layout(
        atoms=np.array(atoms, dtype=np.float64, order="C"),
        columns=columns,
        gram=gram,
        block_rows=_count_rows(n_padded, np.float64),
        index_mask=_index_mask(n_padded),
        halt=np.zeros(1, np.int64),
    )
    return layout if np.dtype(dtype) == np.float64 else in_single_precision(layout)


def in_single_precision(layout: Layout) -> Layout:
    """Return the same atoms for products in single precision; both are halted together."""
    n_atoms, n_features = layout.atoms.shape
    n_padded = padded(n_atoms, np.float32)
    columns = aligned_zeros((n_features, n_padded), np.float32)
    columns[:, :n_atoms] = layout.columns[:, :n_atoms]
    gram = aligned_zeros((n_padded, n_padded), np.float32)
    gram[:n_atoms, :n_atoms] = layout.gram[:n_atoms, :n_atoms]
    return layout._replace(
        columns=columns,
        gram=gram,
        block_rows=_count_rows(n_padded, np.float32),
        index_mask=_index_mask(n_padded),
    )


def _count_rows(n_padded: int, dtype: DTypeLike) -> int:
    """Return how many rows a block has, a multiple of whole vectors."""
    lanes = count_lanes(dtype)
    fitting = _BLOCK_BYTES // (n_padded * np.dtype(dtype).itemsize) // lanes * lanes
    return max(_LEAST_ROWS, min(_MOST_ROWS, fitting))


def _index_mask(n_padded: int) -> int:
    return (1 << (n_padded - 1).bit_length()) - 1


@kernel
def _multiply(left, right, out):
    """Fill out (n, p) with left (n, m) times right (m, p)."""
    multiply_rows(left, right, out)


class SignalBlock(NamedTuple):
    """Signals on their way through a kernel."""

    rows: NDArray[np.float64]  # (block_rows, n_features)
    scales: NDArray[np.float64]  # (block_rows,): what extreme rows were divided by
    correlations: NDArray[Any]  # (block_rows, n_padded)


def allocate_block(sizes: Sizes) -> SignalBlock:
    """Return a block for signals to be coded with a layout of these sizes."""
    n_rows = sizes.block_rows
    return SignalBlock(
        rows=np.empty((n_rows, sizes.n_features)),
        scales=np.empty(n_rows),
        correlations=aligned_zeros((n_rows, sizes.n_padded), sizes.dtype),
    )


@kernel
def correlate_block(X, start, stop, layout, block):
    """Load rows start to stop of X into the block and multiply them with all atoms."""
    load_block(X, start, stop, block.rows, block.scales)
    multiply_rows(block.rows, layout.columns, block.correlations)


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
        largest = _copy(block.shape[1], X[start + i], block[i])
        if largest > 1e75 or 0.0 < largest < 1e-75:
            scales[i] = _rescale(block[i], largest)


@kernel
def _rescale(row, largest):
    """Divide row (m,) in place by the power of two next to its largest entry; return it."""
    exponent = np.floor(np.log2(largest))
    half = np.floor(exponent / 2)
    # in two steps: 2**-1074 has no inverse that is a finite float
    for i in range(row.shape[0]):
        row[i] = row[i] * 2.0**-half * 2.0 ** -(exponent - half)
    return 2.0**exponent


# source -> target; the largest absolute entry
_copy = lane_kernel(
    2, 0, lambda source, _target: ([source], [abs(source)]),
    writes=(1,), reduces=("max",), any_length=True,
)  # fmt: skip
