"""What is at hand while a signal is coded by itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import inlined, kernel
from setatoms.lanes import aligned_zeros, lane_kernel, padded
from setatoms.vectors import copy, fill, inner_product

Floats = NDArray[np.float64]

# Rows of ``Refinement.numbers``. The first ones belong to a place and leave with its atom.
X, SPREAD, SIGN, ALPHA, BETA = range(5)
_N_BY_PLACE = 5
TRIAL_X, TRIAL_ALPHA, TRIAL_BETA = range(5, 8)
ROOT, ALONG, KEEP, RIGHT, STEP, PRODUCT, SOLVED = range(8, 15)
INNER_SCALE, SCALE, ROW = range(15, 18)
_N_NUMBERS = 18


class Refinement(NamedTuple):
    """Work space for a signal of up to ``width`` atoms and ``n_features``.

    Both are rounded up to whole vectors: a part of a vector that has just been written is slow to
    read. What is beyond the features is zero. Places without an atom have an x of zero and a
    spread of one, so that they change no sum.
    """

    signal: Floats  # (n_features,): y
    centres: Floats  # (width, n_features): the atoms themselves
    members: Floats  # (width, n_features): the actual atoms
    residual: Floats  # (n_features,): what they leave
    gram: Floats  # (width, width): of the actual atoms
    inner: Floats  # (width, width): what B is, seen from the atoms
    inner_factor: Floats  # (2, width, width): see `factorise`
    across: Floats  # (width, width): each b through that factor, a column
    hessian: Floats  # (width, width)
    factor: Floats  # (2, width, width): likewise
    numbers: Floats  # (_N_NUMBERS, width)
    fit: Floats  # (n_features,): r, as the atoms know it
    off: Floats  # (n_features,): F
    turn: Floats  # (n_features,): dr
    trial_fit: Floats  # (n_features,)
    trial_members: Floats  # (width, n_features)
    trial_residual: Floats  # (n_features,)
    order: NDArray[np.int64]  # 0, 1, 2, ...
    reach: Floats  # (n_atoms,): no atom correlates more with ``looked_at``
    looked_at: Floats  # (n_features,): what was left when atoms at rest were looked at


def allocate_refinement(width: int, n_features: int, n_atoms: int) -> Refinement:
    """Return work space for codes of up to ``width`` of so many atoms."""
    width, n_features = padded(width), padded(n_features)
    square, vectors = aligned_zeros((8, width, width)), aligned_zeros((8, n_features))
    rows = aligned_zeros((3, width, n_features))
    numbers = aligned_zeros((_N_NUMBERS, width))
    numbers[SPREAD] = 1.0
    return Refinement(
        signal=vectors[0],
        centres=rows[0],
        members=rows[1],
        residual=vectors[1],
        gram=square[0],
        inner=square[1],
        inner_factor=square[2:4],
        across=square[4],
        hessian=square[5],
        factor=square[6:],
        numbers=numbers,
        fit=vectors[2],
        off=vectors[3],
        turn=vectors[4],
        trial_fit=vectors[5],
        trial_members=rows[2],
        trial_residual=vectors[6],
        order=np.arange(max(width, n_features)),
        reach=np.empty(n_atoms),
        looked_at=vectors[7],
    )


@inlined
def clear_space(work):
    """Forget the signal before."""
    for i in range(_N_NUMBERS):
        fill(work.numbers[i], 0.0)
    fill(work.numbers[SPREAD], 1.0)


@inlined
def enter(q, j, sign, atoms, spreads, work):
    """Put atom j, at rest, in place q."""
    numbers = work.numbers
    numbers[X, q], numbers[SPREAD, q], numbers[SIGN, q] = 0.0, spreads[j], sign
    numbers[ALPHA, q], numbers[BETA, q] = 1.0, 0.0
    copy(atoms[j], work.centres[q, : atoms.shape[1]])
    copy_whole(work.centres[q], work.members[q])


@inlined
def leave(q, k, support, work):
    """Remove place q and keep the order of the others; return k - 1."""
    numbers, last = work.numbers, k - 1
    for p in range(q, last):
        support[p] = support[p + 1]
        for i in range(_N_BY_PLACE):
            numbers[i, p] = numbers[i, p + 1]
        copy_whole(work.centres[p + 1], work.centres[p])
        copy_whole(work.members[p + 1], work.members[p])
    support[last] = -1
    numbers[X, last], numbers[TRIAL_X, last], numbers[SPREAD, last] = 0.0, 0.0, 1.0
    numbers[BETA, last] = 0.0
    return last


@kernel
def whole(k):
    """Return k, rounded up to whole vectors."""
    return (k + 7) & ~7


@inlined
def copy_whole(source, target):
    """Copy whole vectors."""
    copy_numbers(target.shape[0], source, target)


@inlined
def inner_products(k, rows, vector, out):
    """Fill out[:k] with the inner products of rows with a vector."""
    for q in range(k):
        out[q] = inner_product(vector.shape[0], rows[q], vector)


# a left + b right -> out
combine = lane_kernel(
    3, 2, lambda left, right, _out, a, b: ([a * left + b * right], []), writes=(2,)
)
add_multiple = lane_kernel(
    2, 1, lambda vector, other, factor: ([vector + factor * other], []), writes=(0,)
)
copy_numbers = lane_kernel(2, 0, lambda source, _target: ([source], []), writes=(1,))
