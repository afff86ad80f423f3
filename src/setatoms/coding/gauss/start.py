"""Where a code of Gauss-L1 starts: from the atoms that a greedy lasso takes in.

A step of the lasso changes one coefficient, and the next step has to wait for it. So a few signals
take their steps side by side, each at its own pace: one that is done makes way for the next. While
the processor waits for the steps of one team of signals, it works on those of the other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from setatoms._compile import kernel, part
from setatoms.lanes import Lanes, Vector, aligned_zeros, lane_kernel

# The start is done when no coefficient would move by more than a share of the threshold that the
# budget tells: the atoms are then nearly right. The first atom comes in at once.
_FIRST_SHARE = 1e-6
# Signals side by side, and teams of them that take turns.
_SIDE, _TEAMS = 4, 2


class Greedy(NamedTuple):
    """Work space for the signals of all teams, a row for each."""

    u: NDArray[Any]  # (n, n_padded): correlations with what is left
    z: NDArray[Any]  # (n, n_padded)
    listed: NDArray[np.bool_]  # (n, n_padded): atoms that were in use
    order: NDArray[np.int32]  # (n, width + 1): these, in the order in which they came in
    rows: NDArray[np.int64]  # (n,): which signal it is, or -1
    atoms: NDArray[np.uintp]  # (n,): the atom to change next; signed ones are slower to use
    changes: NDArray[np.float64]  # (n,): by how much
    counts: NDArray[np.int64]  # (n,): atoms listed
    steps: NDArray[np.int64]  # (n,): steps that may still be taken


def allocate_greedy(n_padded: int, width: int, dtype: DTypeLike) -> Greedy:
    """Return work space for dictionaries of so many atoms, of which codes may use `width`."""
    n = _TEAMS * _SIDE
    rows, counts, steps = np.zeros((3, n), np.int64)
    return Greedy(
        aligned_zeros((n, n_padded), dtype), aligned_zeros((n, n_padded), dtype),
        np.zeros((n, n_padded), np.bool_), np.zeros((n, width + 1), np.int32),
        rows, np.zeros(n, np.uintp), np.zeros(n), counts, steps,
    )  # fmt: skip


@kernel
def choose_greedily(n_fresh, queue, gaussians, budget, greedy, rows, out, counts):
    """Choose the first atoms of the signals queue[:n_fresh] by greedy coordinate descent.

    Fill their out.support, rows.z and counts.
    """
    for side in range(_TEAMS * _SIDE):
        greedy.rows[side] = -1
    n_taken, n_running = 0, 1
    while n_running > 0:
        n_running = 0
        for first in range(0, _TEAMS * _SIDE, _SIDE):
            for side in range(first, first + _SIDE):
                n_taken = _prepare_step(
                    side, n_taken, n_fresh, queue, gaussians, budget, greedy, rows, out, counts
                )
                if greedy.rows[side] >= 0:
                    n_running += 1
            _take_steps(first, gaussians, greedy)


@part
def _prepare_step(side, n_taken, n_fresh, queue, gaussians, budget, greedy, rows, out, counts):
    """Prepare the next step of a side: of its signal or, if that is done, of the next in the queue.

    Return how many of the queue are taken.
    """
    while True:
        if greedy.rows[side] >= 0:
            if _goes_on(side, gaussians.threshold, budget.start_share, greedy):
                break
            _unload(side, greedy, rows, out, counts)
        if n_taken == n_fresh:
            greedy.atoms[side], greedy.changes[side] = 0, 0.0
            break
        _load(side, queue[n_taken], gaussians, greedy, rows, out)
        n_taken += 1
    return n_taken


@part
def _load(side, row, gaussians, greedy, rows, out):
    """Begin with a signal."""
    greedy.rows[side], greedy.counts[side] = row, 0
    greedy.steps[side] = 8 * out.support.shape[1]
    greedy.atoms[side] = _begin(
        greedy.u.shape[1], rows.correlations[row], greedy.u[side], greedy.z[side],
        gaussians.threshold, gaussians.layout.index_mask,
    )  # fmt: skip


@part
def _goes_on(side, threshold, least_share, greedy):
    """Decide by how much to change the chosen coefficient; False if the start is done."""
    j, z = greedy.atoms[side], greedy.z[side]
    u = greedy.u[side, j]
    change = u - min(max(u + z[j], -threshold), threshold)
    share = least_share if greedy.counts[side] > 0 else _FIRST_SHARE
    if abs(change) < share * threshold or greedy.steps[side] == 0:
        return False
    # whether an atom is new cannot be predicted, so there is no branch for it
    count = greedy.counts[side] + (not greedy.listed[side, j])
    if count == greedy.order.shape[1]:
        return False
    greedy.order[side, greedy.counts[side]] = j
    greedy.listed[side, j], greedy.counts[side] = True, count
    z[j] += change
    greedy.changes[side] = change
    greedy.steps[side] -= 1
    return True


@part
def _unload(side, greedy, rows, out, counts):
    """Hand over the atoms in use, in the order in which they came in."""
    row, k = greedy.rows[side], 0
    for q in range(greedy.counts[side]):
        j = greedy.order[side, q]
        greedy.listed[side, j] = False
        z = greedy.z[side, j]
        out.support[row, k], rows.z[row, k] = j, z
        k += z != 0.0
    counts[row] = k
    greedy.rows[side] = -1


@part
def _take_steps(first, gaussians, greedy):
    """Take the step of each side of the team, and choose the atoms to change next."""
    gram, team = gaussians.layout.gram, slice(first, first + _SIDE)
    u, z, atoms, changes = greedy.u[team], greedy.z[team], greedy.atoms[team], greedy.changes[team]
    atoms[0], atoms[1], atoms[2], atoms[3] = _change(
        u.shape[1],
        u[0], z[0], gram[atoms[0]], u[1], z[1], gram[atoms[1]],
        u[2], z[2], gram[atoms[2]], u[3], z[3], gram[atoms[3]],
        changes[0], changes[1], changes[2], changes[3],
        gaussians.threshold, gaussians.layout.index_mask,
    )  # fmt: skip


def _excess(u: Vector, wish: Vector, threshold: Vector) -> Vector:
    """Return how much the lasso would change a coefficient."""
    return u - wish.at_most(threshold).at_least(-threshold)


def _begin_body(start: Vector, _u: Vector, _z: Vector, threshold: Vector) -> Lanes:
    return [start, start.constant(0.0)], [_excess(start, start, threshold)]


def _change_body(*vectors: Vector) -> Lanes:
    arrays, changes, threshold = vectors[:-5], vectors[-5:-1], vectors[-1]
    changed, excesses = [], []
    for side, change in enumerate(changes):
        u, z, row = arrays[3 * side : 3 * side + 3]
        changed.append(u - change * row)
        excesses.append(_excess(changed[-1], changed[-1] + z, threshold))
    return changed, excesses


# start -> u, z; the atom to change most
_begin = lane_kernel(3, 1, _begin_body, writes=(1, 2), reduces=("argmax",))
# for each side: u -= change * row; the atom to change next
_change = lane_kernel(
    3 * _SIDE, _SIDE + 1, _change_body, writes=(0, 3, 6, 9), reduces=("argmax",) * _SIDE
)
