"""Orthogonal matching pursuit with two atoms, for a block of signals at a time.

Least squares on two unit atoms has a closed form. Numbers of signals are kept one array a quantity,
so that it is evaluated for eight signals side by side; what is left to do signal by signal are two
passes over the correlations.

A signal that one atom represents, or whose two atoms are nearly the same, is declined here and
coded on its own instead (`setatoms.coding.omp`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import inlined, kernel
from setatoms.lanes import Lanes, Vector, aligned_zeros, lane_kernel
from setatoms.vectors import largest, norm

# What is left to a second atom, and how far apart two atoms are, must exceed these.
LEAST_CORRELATION = 1e-12  # of the length of the signal
LEAST_PIVOT = 1e-10


class OmpPairs(NamedTuple):
    """Work space, and numbers of each signal of a block, all of shape (block_rows,)."""

    work: NDArray[np.float64]  # (n_padded,): correlations after the first atom
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    along1: NDArray[np.float64]  # <y, d1>
    along2: NDArray[np.float64]  # <y, d2>
    between: NDArray[np.float64]  # <d1, d2>
    length: NDArray[np.float64]  # ||y||
    x1: NDArray[np.float64]
    x2: NDArray[np.float64]
    spare: NDArray[np.float64]  # not positive for a signal that is declined


def allocate_pairs(n_padded: int, block_rows: int) -> OmpPairs:
    """Return `OmpPairs` for blocks of so many signals and so many atoms."""
    first, second = np.zeros((2, block_rows), np.int64)
    numbers = aligned_zeros((7, block_rows))
    return OmpPairs(aligned_zeros(n_padded), first, second, *numbers)


@kernel
def choose_pairs(n_rows, layout, block, pairs):
    """Choose both atoms of the first n_rows signals of the block; note their correlations."""
    n, gram, mask = block.correlations.shape[1], layout.gram, layout.index_mask
    for i in range(n_rows):
        pairs.first[i] = largest(n, block.correlations[i], mask)
    for i in range(n_rows):
        correlations, j = block.correlations[i], pairs.first[i]
        along = correlations[j]
        q = subtract(n, correlations, gram[j], pairs.work, along, mask)
        pairs.second[i], pairs.along1[i], pairs.along2[i] = q, along, correlations[q]


@kernel
def solve_pairs(n_rows, gram, rows, pairs):
    """Fill the coefficients of the first n_rows signals of a block, rows (B, m)."""
    for i in range(n_rows):
        pairs.length[i] = norm(rows[i])
        pairs.between[i] = gram[pairs.first[i], pairs.second[i]]
    _solve(
        rows.shape[0], pairs.along1, pairs.along2, pairs.between, pairs.length,
        pairs.x1, pairs.x2, pairs.spare,
    )  # fmt: skip


@inlined
def take_pair(i, pairs, support, x):
    """Fill support (2,) and x (2,) of signal i; False if it is declined."""
    # of an atom that is not quite a unit, something is left to itself
    if not pairs.spare[i] > 0.0 or pairs.first[i] == pairs.second[i]:
        return False
    support[0], support[1] = pairs.first[i], pairs.second[i]
    x[0], x[1] = pairs.x1[i], pairs.x2[i]
    return True


def _subtract_row(before: Vector, row: Vector, _after: Vector, x: Vector) -> Lanes:
    """Return the correlations after an atom with coefficient ``x`` has come in."""
    after = before - x * row
    return [after], [after]


subtract = lane_kernel(3, 1, _subtract_row, writes=(2,), reduces=("argmax",))


def _solve_body(
    along1: Vector, along2: Vector, between: Vector, length: Vector, *_written: Vector
) -> Lanes:
    pivot = 1.0 - between * between
    scale = 1.0 / pivot
    x1 = (along1 - between * along2) * scale
    x2 = (along2 - between * along1) * scale
    # a first atom that correlates with nothing leaves nothing to the second
    left = along2 - along1 * between
    spare = (abs(left) - length * LEAST_CORRELATION).at_most(pivot - LEAST_PIVOT)
    return [x1, x2, spare], []


_solve = lane_kernel(7, 0, _solve_body, writes=(4, 5, 6))
