"""Signals side by side: many Gauss-L1 problems of about the same size, solved at once.

The equations of `setatoms.coding.gauss.active_set` are small, some four unknowns on real data, so
that one signal alone keeps a processor waiting for its own last result. Here every operation is
done for a whole *group* of signals. A place holds one atom of each, and what is known of a place is
a vector over the group.

Signals may have fewer atoms than their group has places, and lose some on the way. Such a place is
*empty*: its row of the matrix is that of the identity and its right-hand side is zero, so that it
changes no sum of its signal, not even in the last bit. A signal that has come to rest keeps its
code while others go on. So a code does not depend on the company.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms.lanes import lane_kernel

Floats = NDArray[np.float64]

# Signals in a group: a few vectors, so that the matrices of a group stay in the nearest cache.
SIZE = 16
# Most atoms of a signal in a group.
MOST_PLACES = 24

# Further rows of ``Group.places``, beside those of `setatoms.coding.gauss.quantities`.
USED = 7  # 1, or 0 where the place is empty
ZERO_AT = 11  # share of the step at which z vanishes
SCALE = 12  # one over the pivot
_N_BY_PLACE = 13

# What is known of each signal, rows of ``Group.signals``.
SQUARE = 0  # ||y||^2
REST = 1  # ||e||^2
TAU = 2
VALUE = 3  # the objective
RUNNING = 4  # -1 while Newton steps go on, then 1
FAILED = 5  # 1 where the matrix is not positive definite
STRENGTH = 6  # ||e||^2 / (1 + tau)
BOUND = 7  # (1 + tau) h
INVERSE = 8  # 1 / (1 + tau)
LEFT = 9  # ||r||^2
GAP = 10  # the tau that follows less the present one
GAP_BEFORE = 11
SECANT = 12
DAMPING = 13
BEFORE = 14  # largest entry of the last step
LARGEST = 15
SHORTEST = 16  # least share of the step at which a coefficient vanishes
LENGTH = 17
COUNT = 18  # atoms in use
_N_BY_SIGNAL = 19


class Group(NamedTuple):
    """Signals side by side; the last axis is over them."""

    places: Floats  # (_N_BY_PLACE, MOST_PLACES, SIZE)
    signals: Floats  # (_N_BY_SIGNAL, SIZE)
    gram: Floats  # (MOST_PLACES, MOST_PLACES, SIZE)
    lower: Floats  # the same: unit triangular factor of the matrix


def allocate_group() -> Group:
    """Return an empty group."""
    matrix = (MOST_PLACES, MOST_PLACES, SIZE)
    return Group(
        places=np.zeros((_N_BY_PLACE, MOST_PLACES, SIZE)),
        signals=np.zeros((_N_BY_SIGNAL, SIZE)),
        gram=np.zeros(matrix),
        lower=np.zeros(matrix),
    )


copy = lane_kernel(2, 0, lambda source, _target: ([source], []), writes=(1,))
