"""The atoms of signals, chosen in single precision: large dictionaries.

Most of the time goes into the products of signals with all atoms, of which few are needed. So they
are computed in single precision, in half of the time, and tell which atom correlates most wherever
its correlation is larger than all others by more than rounding. The few that are needed follow in
double precision, as do all of the few signals for which single precision does not tell. The choice
is the same and, of two atoms, all that follows to the last bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import inlined, kernel
from setatoms.coding.blocks import SignalBlock, Sizes, allocate_block
from setatoms.lanes import (
    aligned_zeros,
    lane_kernel,
    largest_left,
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
    after: NDArray[Any]  # (n_padded,): correlations with what is left, in single precision
    exact: NDArray[np.float64]  # (2, n_padded): with a signal, with what is left


def allocate_coarse(sizes: Sizes, coarse: Sizes) -> CoarseSpace:
    """Return work space for layouts of these sizes, in double and in single precision."""
    return CoarseSpace(
        allocate_block(coarse),
        aligned_zeros(coarse.n_padded, coarse.dtype),
        aligned_zeros((2, sizes.n_padded)),
    )


@kernel
def choose_coarsely(n_rows, layout, coarse, space, pairs):
    """Choose both atoms of the first n_rows signals of the block; note their correlations."""
    block = space.block
    for i in range(n_rows):
        pairs.length[i] = norm(block.rows[i])
        pairs.first[i] = choose_first(i, layout, coarse, space, pairs.length[i])
    multiply_chosen(block.rows, layout.atoms, pairs.first, pairs.along1)
    for i in range(n_rows):
        chosen, x = pairs.first[i : i + 1], pairs.along1[i : i + 1]
        pairs.second[i] = choose_after(i, 1, chosen, x, layout, coarse, space, pairs.length[i])
    multiply_chosen(block.rows, layout.atoms, pairs.second, pairs.along2)


@inlined
def choose_first(i, layout, coarse, space, length):
    """Return the atom that correlates most with signal i of the block, of that length."""
    correlations = space.block.correlations[i]
    j, second = _two_largest(correlations.shape[0], correlations, coarse.index_mask)
    if not _stands_out(correlations[j], second, length, 0.0, 0, space.block.rows.shape[1]):
        correlate_exactly(i, layout, space)
        j = largest(space.exact.shape[1], space.exact[0], layout.index_mask)
    return j


@inlined
def choose_after(i, k, chosen, x, layout, coarse, space, length):
    """Return the atom that correlates most with what k atoms, with coefficients x, leave of it."""
    correlations, after = space.block.correlations[i], space.after
    n, mask = correlations.shape[0], coarse.index_mask
    j, second = largest_left(n, after, correlations, coarse.gram, chosen, x, k, mask)
    weight = 0.0
    for q in range(k):
        weight += abs(x[q])
    if not _stands_out(after[j], second, length, weight, k, space.block.rows.shape[1]):
        correlate_exactly(i, layout, space)
        before, exact = space.exact[0], space.exact[1]
        n, mask = before.shape[0], layout.index_mask
        j, _ = largest_left(n, exact, before, layout.gram, chosen, x, k, mask)
    return j


@inlined
def _stands_out(correlation, second, length, weight, k, n_features):
    """Tell whether no other correlation of a signal could be as large as this one.

    In single precision no other is larger than the second. A sum of m products is off by at most
    (m + 2) roundings of the signal's length. Each of k multiples of rows of the Gram matrix is off
    by three roundings of its weight, and so is each sum by one of what it may come to; two
    correlations may be off in opposite ways. The weight is the sum of the coefficients' sizes. Two
    roundings more are for atoms that are not quite units and for what double precision rounds.
    """
    off = 2.0 * _ROUNDING * ((n_features + k + 4) * length + (k + 4) * weight)
    in_range = _SHORTEST < length < _LONGEST and weight < _LONGEST
    return in_range and abs(correlation) - off > second


@inlined
def correlate_exactly(i, layout, space):
    """Fill exact[0] with the correlations of signal i of the block."""
    multiply_rows(space.block.rows[i : i + 1], layout.columns, space.exact[:1])


# where the largest of n numbers is in absolute value, and a bound on all others
_two_largest = lane_kernel(
    1, 0, lambda values: ([], [values, values]), reduces=("argmax", "second")
)
