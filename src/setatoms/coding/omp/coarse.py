"""The two atoms of each signal of a block, chosen in single precision: large dictionaries.

Most of the time goes into the products of signals with all atoms, of which two are needed. So they
are computed in single precision, in half of the time, and tell which atom correlates most wherever
its correlation is larger than all others by more than rounding. The two that are needed follow in
double precision, as do all of the few signals for which single precision does not tell. The
choice, and all that follows, is the same to the last bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import inlined, kernel
from setatoms.coding.blocks import SignalBlock, Sizes, allocate_block, correlate_block
from setatoms.coding.omp.pairs import subtract
from setatoms.lanes import (
    Lanes,
    Vector,
    aligned_zeros,
    lane_kernel,
    multiply_chosen,
    multiply_rows,
)
from setatoms.vectors import largest, norm

# Signals of other lengths, and their squares, could leave the range of single precision.
_SHORTEST, _LONGEST = 1e-15, 1e15
# The unit of rounding in single precision.
_ROUNDING = 2.0**-24


class CoarseSpace(NamedTuple):
    """Work space."""

    block: SignalBlock  # its correlations are in single precision
    after: NDArray[Any]  # (n_padded,): correlations after the first atom, in single precision
    exact: NDArray[np.float64]  # (2, n_padded): before and after it, of one signal


def allocate_coarse(sizes: Sizes, coarse: Sizes) -> CoarseSpace:
    """Return work space for layouts of these sizes, in double and in single precision."""
    return CoarseSpace(
        allocate_block(coarse),
        aligned_zeros(coarse.n_padded, coarse.dtype),
        aligned_zeros((2, sizes.n_padded)),
    )


@kernel
def choose_coarsely(X, start, stop, layout, coarse, space, pairs):
    """Choose both atoms of rows start to stop of X, at most a block; note their correlations."""
    block = space.block
    correlate_block(X, start, stop, coarse, block)
    for i in range(stop - start):
        pairs.length[i] = norm(block.rows[i])
        pairs.first[i] = _choose_first(i, layout, coarse, space, pairs.length[i])
    multiply_chosen(block.rows, layout.atoms, pairs.first, pairs.along1)
    for i in range(stop - start):
        pairs.second[i] = _choose_second(
            i, pairs.first[i], pairs.along1[i], layout, coarse, space, pairs.length[i]
        )
    multiply_chosen(block.rows, layout.atoms, pairs.second, pairs.along2)


@inlined
def _choose_first(i, layout, coarse, space, length):
    """Return the atom that correlates most with signal i of the block."""
    correlations = space.block.correlations[i]
    j = largest(correlations.shape[0], correlations, coarse.index_mask)
    if not _stands_out(correlations, j, length, space.block.rows.shape[1]):
        correlate_exactly(i, layout, space)
        j = largest(space.exact.shape[1], space.exact[0], layout.index_mask)
    return j


@inlined
def _choose_second(i, j, along, layout, coarse, space, length):
    """Return the atom that correlates most with what atom j leaves of signal i of the block."""
    correlations, after = space.block.correlations[i], space.after
    n, gram, mask = correlations.shape[0], coarse.gram, coarse.index_mask
    q = subtract(n, correlations, gram[j], after, np.float32(along), mask)
    if not _stands_out(after, q, length, space.block.rows.shape[1]):
        correlate_exactly(i, layout, space)
        before, exact = space.exact[0], space.exact[1]
        q = subtract(before.shape[0], before, layout.gram[j], exact, along, layout.index_mask)
    return q


@inlined
def _stands_out(correlations, j, length, n_features):
    """Tell whether no other correlation of a signal could be as large as that with atom j.

    A sum of m products is off by at most (m + 2) roundings of the signal's length, its difference
    to a multiple of a row of the Gram matrix by three more, and two may be off in opposite ways.
    """
    off = 2.0 * _ROUNDING * (n_features + 8) * length
    bound = np.float32(abs(correlations[j]) - off)
    others = _count_reaching(correlations.shape[0], correlations, bound)
    return _SHORTEST < length < _LONGEST and others < 1.5


@inlined
def correlate_exactly(i, layout, space):
    """Fill exact[0] with the correlations of signal i of the block."""
    multiply_rows(space.block.rows[i : i + 1], layout.columns, space.exact[:1])


def _reaching_body(correlations: Vector, bound: Vector) -> Lanes:
    one, zero = bound.constant(1.0), bound.constant(0.0)
    return [], [zero.where_negative(abs(correlations) - bound, one)]


# how many are at least that large in absolute value
_count_reaching = lane_kernel(1, 1, _reaching_body, reduces=("sum",))
