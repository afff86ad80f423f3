"""Orthogonal matching pursuit with one atom, or 3 to 16, for a block of signals at a time.

A step gives every signal of the block one more atom. Choosing it takes a pass over all atoms for
each signal, of which the processor works on the next while it waits for the last. Least squares on
the atoms so far, by a Cholesky factor that grows by a row, is done for eight signals side by side.

Correlations with what is left are always computed from those with the signal, ``D y - G x``, which
is exact enough unless atoms are nearly dependent and coefficients large. Such a signal, and one
that fewer atoms represent, is declined here and coded on its own instead (`setatoms.coding.omp`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import inlined, kernel
from setatoms.coding.omp.coarse import choose_after, choose_first
from setatoms.coding.omp.pairs import LEAST_CORRELATION
from setatoms.lanes import (
    LANES,
    Lanes,
    Vector,
    aligned_zeros,
    entry,
    lane_kernel,
    largest_left,
)
from setatoms.vectors import dot, fill, largest, norm

# With more atoms, numbers of a block no longer fit into the cache.
MOST_STEPS = 16
# The square of how far an atom must be from those before it. Coefficients may be as large as the
# signal divided by it, and D y - G x loses as many digits: three here, of sixteen.
_NEARLY_DEPENDENT = 1e-6


class OmpSteps(NamedTuple):
    """Work space, and numbers of each signal of a block: the last axis is over signals.

    Numbers of signals that a block lacks are zero up to the end of a vector, and stale beyond.
    """

    left: NDArray[np.float64]  # (n_padded,): correlations with what is left of a signal
    own: NDArray[np.float64]  # (n_nonzero,): its coefficients
    lower: NDArray[np.float64]  # (n_entries, block_rows): Cholesky factor, see `entry`
    inverse: NDArray[np.float64]  # (n_nonzero, block_rows): of its diagonal
    along: NDArray[np.float64]  # (n_nonzero, block_rows): coefficients of the directions
    x: NDArray[np.float64]  # (n_nonzero, block_rows): coefficients of the atoms
    length: NDArray[np.float64]  # (block_rows,): ||y||
    spare: NDArray[np.float64]  # (block_rows,): not positive for a signal that is declined


def allocate_steps(n_padded: int, block_rows: int, n_nonzero: int) -> OmpSteps:
    """Return `OmpSteps` for blocks of so many signals; for two atoms or too many, empty."""
    n = n_nonzero if n_nonzero <= MOST_STEPS and n_nonzero != 2 else 0
    inverse, along, x = aligned_zeros((3, n, block_rows))
    return OmpSteps(
        left=aligned_zeros(n_padded if n > 0 else 0),
        own=np.zeros(n),
        lower=aligned_zeros((n * (n + 1) // 2, block_rows)),
        inverse=inverse,
        along=along,
        x=x,
        length=aligned_zeros(block_rows),
        spare=aligned_zeros(block_rows),
    )


@kernel
def fit_block(n_rows, supports, layout, coarse, work):
    """Choose atoms of the first n_rows signals of the block and fit them.

    Fill supports (n_rows, n_nonzero), steps.x and steps.spare.
    """
    steps, in_single = work.steps, coarse.block_rows > 0
    rows = work.coarse.block.rows if in_single else work.block.rows
    n_whole = -(-n_rows // LANES) * LANES
    fill(steps.spare, 1.0)
    for i in range(n_rows):
        steps.length[i] = norm(rows[i])
    for i in range(n_rows, n_whole):
        _empty(i, steps)
    for k in range(supports.shape[1]):
        for i in range(n_rows):
            support = supports[i]
            if not steps.spare[i] > 0.0:
                j = support[0]
            elif in_single:
                j = _choose_in_single(i, k, support, layout, coarse, work)
                steps.along[k, i] = dot(rows[i], layout.atoms[j])
            else:
                j = _choose(i, k, support, layout, work)
                steps.along[k, i] = work.block.correlations[i, j]
            support[k] = j
            for p in range(k + 1):
                steps.lower[entry(k, p), i] = layout.gram[j, support[p]]
        _extend(k, n_whole, steps)
        _solve(k, n_whole, steps)


@inlined
def read_fit(i, steps, x):
    """Fill x (n_nonzero,) with the coefficients of signal i; False if it is declined."""
    if not steps.spare[i] > 0.0:
        return False
    for q in range(x.shape[0]):
        x[q] = steps.x[q, i]
    return True


@inlined
def _empty(i, steps):
    """Set all numbers of a signal that is not there to zero."""
    steps.length[i] = 0.0
    for q in range(steps.along.shape[0]):
        steps.along[q, i] = 0.0
    for q in range(steps.lower.shape[0]):
        steps.lower[q, i] = 0.0


@inlined
def _choose(i, k, support, layout, work):
    """Return the atom that correlates most with what k atoms leave of signal i of the block."""
    steps, correlations = work.steps, work.block.correlations[i]
    n, mask = correlations.shape[0], layout.index_mask
    if k == 0:
        return largest(n, correlations, mask)
    _gather(i, k, steps)
    j, _ = largest_left(n, steps.left, correlations, layout.gram, support, steps.own, k, mask)
    return j


@inlined
def _choose_in_single(i, k, support, layout, coarse, work):
    """Return the same atom, found in single precision where that is certain."""
    steps = work.steps
    length = steps.length[i]
    if k == 0:
        return choose_first(i, layout, coarse, work.coarse, length)
    _gather(i, k, steps)
    return choose_after(i, k, support, steps.own, layout, coarse, work.coarse, length)


@inlined
def _gather(i, k, steps):
    """Fill steps.own with the k coefficients of signal i."""
    for q in range(k):
        steps.own[q] = steps.x[q, i]


@kernel
def _extend(k, n, steps):
    """Make the new row of the factors of n signals, from products of the new atoms with others."""
    lower, inverse, along = steps.lower, steps.inverse, steps.along
    first = entry(k, 0)
    for p in range(k):
        for q in range(p):
            _subtract_product(n, lower[first + p], lower[first + q], lower[entry(p, q)])
        _multiply(n, lower[first + p], inverse[p])
    for p in range(k):
        _subtract_product(n, lower[first + k], lower[first + p], lower[first + p])
        _subtract_product(n, along[k], lower[first + p], along[p])
    _close(n, lower[first + k], along[k], inverse[k], steps.length, steps.spare)


@kernel
def _solve(k, n, steps):
    """Fill the coefficients of k + 1 atoms of n signals from those of the directions."""
    lower, inverse, along, x = steps.lower, steps.inverse, steps.along, steps.x
    for p in range(k, -1, -1):
        _copy(n, along[p], x[p])
        for q in range(p + 1, k + 1):
            _subtract_product(n, x[p], lower[entry(q, p)], x[q])
        _multiply(n, x[p], inverse[p])


def _close_body(
    pivot: Vector, along: Vector, _inverse: Vector, length: Vector, spare: Vector
) -> Lanes:
    spare = spare.at_most(abs(along) - length * LEAST_CORRELATION).at_most(
        pivot - _NEARLY_DEPENDENT
    )
    # numbers stay finite: where one is not, spare would forget that a signal was declined
    inverse = 1.0 / pivot.at_least(_NEARLY_DEPENDENT).sqrt()
    return [along * inverse, inverse, spare], []


_close = lane_kernel(5, 0, _close_body, writes=(1, 2, 4))
_copy = lane_kernel(2, 0, lambda source, _target: ([source], []), writes=(1,))
_multiply = lane_kernel(2, 0, lambda target, factor: ([target * factor], []), writes=(0,))
_subtract_product = lane_kernel(
    3, 0, lambda target, left, right: ([target - left * right], []), writes=(0,)
)
