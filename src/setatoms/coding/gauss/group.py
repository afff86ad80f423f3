"""Signals side by side: many Gauss-L1 problems of about the same size, solved at once.

The equations of `setatoms.coding.gauss.problem` are small, some four unknowns on real data, so
that one signal alone keeps a processor waiting for its own last result. Here every operation is
done for a whole *group* of signals. A place holds one atom of each, and what is known of a place is
a vector over the group.

Signals may have fewer atoms than their group has places, and lose some on the way. Such a place is
*empty*: its row of the matrix is that of the identity and its right-hand side is zero, so that it
changes no sum of its signal, not even in the last bit. A signal that has come to rest keeps its
code while others go on. So a code does not depend on the company.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import DTypeLike, NDArray

from setatoms._compile import part
from setatoms.lanes import aligned_zeros, count_sides, pair_kernel

Floats = NDArray[Any]  # of one precision

# Further than any step, in either precision.
HUGE = 1e30

# What is known of each place, rows of ``Group.places``.
Z = 0
FIRST = 1  # correlation of the atom with the signal
NEAR = 2  # correlation with e = y - sum z d
SPREAD = 3
SIGN = 4
LIFT = 5  # 1 / alpha
WEAKEN = 6  # what the matrix lacks on its diagonal
USED = 7  # 1, or 0 where the place is empty
RIGHT = 8
STEP = 9
LEAVES = 10  # 1 where an atom has just left, until the factor is updated
ZERO_AT = 11  # share of the step at which z vanishes
SCALE = 12  # one over the pivot
_N_BY_PLACE = 13

# What is known of each signal, rows of ``Group.signals``.
SQUARE = 0  # ||y||^2
REST = 1  # ||e||^2
TAU = 2
VALUE = 3  # the objective
RUNNING = 4  # -1 while Newton steps go on, then 1
STRENGTH = 5  # ||e||^2 / (1 + tau)
BOUND = 6  # (1 + tau) h
INVERSE = 7  # 1 / (1 + tau)
LEFT = 8  # ||r||^2
GAP = 9  # the tau that follows less the present one
GAP_BEFORE = 10
SECANT = 11
DAMPING = 12
BEFORE = 13  # what the last step promised
PROMISE = 14  # twice what a step gains if its model is right
SHORTEST = 15  # least share of the step at which a coefficient vanishes
LENGTH = 16
GONE = 17  # 1 where an atom has left at this step
UPDATE = 18  # for linear algebra: how much of an update is left, and by what to change
BETA = 19
BEGUN = 20  # about the objective before the first step
COUNT = 21  # places that are in use at first
_N_BY_SIGNAL = 22


class Group(NamedTuple):
    """Signals side by side; the last axis is over them. Of symmetric matrices, the lower half.

    There are as many as a pair of vectors has lanes: with fewer, each waits for its own last
    result, with more, for the slowest of all.
    """

    places: Floats  # (_N_BY_PLACE, n_places, size)
    signals: Floats  # (_N_BY_SIGNAL, size)
    gram: Floats  # (n_places * (n_places + 1) / 2, size): see `entry`
    lower: Floats  # the same: unit triangular factor of the matrix, pivots on its diagonal
    products: Floats  # the same, while factoring: entries below pivots before they were divided


def allocate_group(n_places: int, dtype: DTypeLike) -> Group:
    """Return an empty group for signals of up to n_places atoms, in that precision."""
    n_entries, size = n_places * (n_places + 1) // 2, count_sides(dtype)
    return Group(
        places=aligned_zeros((_N_BY_PLACE, n_places, size), dtype),
        signals=aligned_zeros((_N_BY_SIGNAL, size), dtype),
        gram=aligned_zeros((n_entries, size), dtype),
        lower=aligned_zeros((n_entries, size), dtype),
        products=aligned_zeros((n_entries, size), dtype),
    )


@part
def length_of(n_places, group):
    """Return how many numbers the first places of a row of ``Group.places`` have."""
    return n_places * group.places.shape[2]


copy = pair_kernel(2, 0, lambda source, _target: ([source], []), writes=(1,))
