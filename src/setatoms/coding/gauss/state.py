"""What is known of the signals of a chunk on their way through the rounds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from setatoms._compile import part
from setatoms.coding.gauss.group import Group, allocate_group
from setatoms.lanes import aligned_zeros

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Signals that take in atoms together: few enough for the fastest cache.
_TOGETHER = 16

# What a signal may be: done or not.
OPEN, DONE = 0, 1


class Rounds(NamedTuple):
    """Work space for a chunk of n signals."""

    group: Group
    counts: Ints  # (n,): atoms in use
    kept: Ints  # (n,): atoms of the last good code, the first ones of those in use
    state: Ints  # (n,)
    failed: NDArray[np.bool_]  # (n,): whether a round has raised the objective
    calm: NDArray[np.bool_]  # (n,): whether the last round has converged
    squares: Floats  # (n,): ||y||^2
    rest: Floats  # (n,): ||e||^2
    queue: Ints  # (n,): the signals of a round
    sorted: Ints  # (n,): by their number of atoms
    histogram: Ints  # (width + 2,)
    # (width,): atoms of the signal at hand; signed numbers are slower to use
    chosen: NDArray[np.uintp]
    wanting: Ints  # (some,): signals of which some atom exceeds its bound
    u: NDArray[Any]  # (some, n_padded): their correlations with what is left
    sides: Ints  # (some,): those of them that may yet take in atoms
    best: NDArray[np.uintp]  # (some,): the atom that exceeds its bound most
    greatest: Floats  # (some,): by how much the first one did


def allocate_rounds(n: int, n_padded: int, width: int, dtype: DTypeLike) -> Rounds:
    """Return work space for n signals of up to ``width`` atoms, in that precision."""
    counts, kept, state, queue, in_order = np.zeros((5, n), np.int64)
    squares, rest = np.empty((2, n))
    return Rounds(
        group=allocate_group(width, dtype),
        counts=counts,
        kept=kept,
        state=state,
        failed=np.zeros(n, np.bool_),
        calm=np.empty(n, np.bool_),
        squares=squares,
        rest=rest,
        queue=queue,
        sorted=in_order,
        histogram=np.empty(width + 2, np.int64),
        chosen=np.empty(width, np.uintp),
        wanting=np.zeros(_TOGETHER, np.int64),
        u=aligned_zeros((_TOGETHER, n_padded), dtype),
        sides=np.zeros(_TOGETHER, np.int64),
        best=np.zeros(_TOGETHER, np.uintp),
        greatest=np.empty(_TOGETHER),
    )


@part
def is_failed(row, rounds):
    """Tell whether the code that a signal started with was of no use."""
    return rounds.failed[row] & (rounds.kept[row] == 0)
