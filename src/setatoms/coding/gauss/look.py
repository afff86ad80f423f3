"""All atoms are looked at for each signal; those that exceed their bound join its code."""

from __future__ import annotations

import numpy as np

from setatoms._compile import kernel, part
from setatoms.coding.gauss.state import DONE, is_failed
from setatoms.lanes import lane_kernel, largest_left
from setatoms.vectors import largest

# Atoms taken in after one look at all atoms, if they exceed their bound by this share of the most.
_MOST_ADDED, _NOT_FAR = 3, 0.2


@kernel
def look(n_open, gaussians, budget, rounds, rows, out):
    """Look at all atoms for each signal of the queue; return how many go on, in the queue."""
    n_left, n_wanting, n_padded = 0, 0, rounds.u.shape[1]
    for i in range(n_open):
        row = rounds.queue[i]
        # of atoms in use, too, hardly any exceeds the bound
        j, _ = largest_left(
            n_padded, rounds.u[n_wanting], rows.correlations[row],
            gaussians.layout.gram, out.support[row], rows.z[row], rounds.counts[row],
            gaussians.layout.index_mask,
        )  # fmt: skip
        excess, slack = _excess(row, rounds.u[n_wanting, j], gaussians, budget, rows, out)
        # which way it goes cannot be predicted, so there is no branch for it
        wants = not ((excess <= slack) | is_failed(row, rounds))
        is_done = rounds.calm[row] & (not wants)
        rounds.state[row], rows.settled[row] = is_done, is_done
        rounds.wanting[n_wanting] = row
        n_wanting += wants
        rounds.queue[n_left] = row
        n_left += not (wants | is_done)
        if n_wanting == rounds.wanting.shape[0] or i == n_open - 1:
            n_left = _take_in(n_wanting, n_left, gaussians, budget, rounds, rows, out)
            n_wanting = 0
    return n_left


@part
def _excess(row, u, gaussians, budget, rows, out):
    """Return by how much an atom exceeds its bound, and by how much it may."""
    excess = abs(u) - (1.0 + rows.tau[row]) * gaussians.threshold
    # one that exceeds its bound by eps can lower the objective by about eps^2
    return excess, np.sqrt(0.1 * budget.tol * out.objective[row])


@part
def _take_in(n_wanting, n_left, gaussians, budget, rounds, rows, out):
    """Let atoms that exceed their bound join the codes of the signals that want some.

    Put those that go on into the queue, behind the first n_left; return how many there are then.
    What is done for one signal is done for all before the next thing is: alone, each would wait for
    its own last result.
    """
    for side in range(n_wanting):
        rounds.sides[side], rounds.greatest[side] = side, 0.0
    n_sides = n_wanting
    for _ in range(_MOST_ADDED):
        for s in range(n_sides):
            side = rounds.sides[s]
            _hide_used(rounds.wanting[side], rounds.u[side], rounds, out)
        for s in range(n_sides):
            side = rounds.sides[s]
            rounds.best[side] = largest(
                rounds.u.shape[1], rounds.u[side], gaussians.layout.index_mask
            )
        n_came = 0
        for s in range(n_sides):
            side = rounds.sides[s]
            rounds.sides[n_came] = side
            n_came += _joins(rounds.wanting[side], side, gaussians, budget, rounds, rows, out)
        n_sides = n_came
    for side in range(n_wanting):
        row = rounds.wanting[side]
        if rounds.counts[row] > rounds.kept[row] or not rounds.calm[row]:
            rounds.queue[n_left] = row
            n_left += 1
        else:
            rounds.state[row], rows.settled[row] = DONE, True
    return n_left


@part
def _joins(row, side, gaussians, budget, rounds, rows, out):
    """Let a signal's best atom join, if it exceeds its bound by enough; tell whether it did."""
    j, k, u = rounds.best[side], rounds.counts[row], rounds.u[side]
    excess, slack = _excess(row, u[j], gaussians, budget, rows, out)
    # atoms after the first must not be far better: its coming may well mend them
    if excess <= slack or excess < _NOT_FAR * rounds.greatest[side] or k == out.support.shape[1]:
        return False
    strength = rounds.rest[row] / (1.0 + rows.tau[row])
    z = excess / max(1.0 - strength * gaussians.spreads[j], 0.2)
    z = z if u[j] > 0.0 else -z
    out.support[row, k], rows.z[row, k] = j, z
    rounds.counts[row] = k + 1
    rounds.greatest[side] = max(rounds.greatest[side], excess)
    _add_multiple(u.shape[0], u, gaussians.layout.gram[j], -z)
    return True


@part
def _hide_used(row, u, rounds, out):
    """Set the correlations of atoms in use to zero."""
    for q in range(rounds.counts[row]):
        u[out.support[row, q]] = 0.0


_add_multiple = lane_kernel(
    2, 1, lambda target, vector, factor: ([target + factor * vector], []), writes=(0,)
)
