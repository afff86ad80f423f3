"""Gauss-L1 for many signals at once: in rounds, until no atom wants to come in.

Every signal gets its first atoms, from a greedy lasso or an earlier code. A *round* solves the
equations of all signals on their atoms, in groups (`newton`), then looks at all atoms and takes in
those that violate their bound; signals for which there are none are done.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from setatoms._compile import inlined, kernel
from setatoms.coding.gauss.group import (
    BEGUN,
    FIRST,
    HUGE,
    LIFT,
    REST,
    RUNNING,
    SIGN,
    SPREAD,
    SQUARE,
    TAU,
    USED,
    VALUE,
    Group,
    Z,
    allocate_group,
)
from setatoms.coding.gauss.newton import solve_group
from setatoms.coding.gauss.start import choose_greedily
from setatoms.lanes import aligned_zeros, count_lanes, entry, lane_kernel, subtract_rows
from setatoms.vectors import largest

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Rounds after which a signal goes on alone.
_MOST_ROUNDS = 40
# Atoms taken in after one look at all atoms, if they exceed their bound by this share of the most.
_MOST_ADDED, _NOT_FAR = 3, 0.2

# What a signal may be.
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
    chosen: NDArray[
        np.uintp
    ]  # (width,): atoms of the signal at hand; signed ones are slower to use
    u: NDArray[Any]  # (size of a group, n_padded): correlations with what is left


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
        u=aligned_zeros((count_lanes(dtype), n_padded), dtype),
    )


@inlined
def solve_in_rounds(gaussians, budget, greedy, rounds, rows, out):
    """Solve the signals whose state is OPEN from the codes in out.support and rows.z.

    Fill these, values, tau, objective, sweeps and settled; state becomes DONE.
    """
    n_open, size = 0, rounds.u.shape[0]
    for row in range(out.errors.shape[0]):
        if rounds.state[row] == OPEN:
            rounds.queue[n_open] = row
            n_open += 1
    n_rounds = 0
    while n_open > 0:
        n_rounds += 1
        _sort_by_count(n_open, rounds)
        for first in range(0, n_open, size):
            last = min(first + size, n_open)
            n_places = rounds.counts[rounds.sorted[last - 1]]
            _load(first, last, n_places, gaussians, rounds, rows, out)
            solve_group(n_places, gaussians.threshold, budget, rounds.group)
            _unload(first, last, budget, rounds, rows, out)
        n_open = _list_unfinished(n_open, budget.max_sweeps, rounds, out)
        if n_rounds == _MOST_ROUNDS:
            break
        n_open = _look(n_open, gaussians, budget, rounds, rows, out)
        n_fresh = _list_failed(n_open, rounds)
        choose_greedily(n_fresh, rounds.sorted, gaussians, budget, greedy, rows, out, rounds.counts)


@kernel
def _sort_by_count(n_open, rounds):
    """Sort the queue by the number of atoms, so that the signals of a group are much alike."""
    places = rounds.histogram
    for count in range(places.shape[0]):
        places[count] = 0
    for i in range(n_open):
        places[rounds.counts[rounds.queue[i]] + 1] += 1
    for count in range(1, places.shape[0]):
        places[count] += places[count - 1]
    for i in range(n_open):
        row = rounds.queue[i]
        count = rounds.counts[row]
        rounds.sorted[places[count]] = row
        places[count] += 1


@kernel
def _load(first, last, n_places, gaussians, rounds, rows, out):
    """Put signals of the sorted queue into the group."""
    group, gram = rounds.group, gaussians.layout.gram
    for i in range(group.signals.shape[1]):
        count = 0
        group.signals[SQUARE, i], group.signals[TAU, i] = 1.0, 0.0
        if first + i < last:
            row = rounds.sorted[first + i]
            count = rounds.counts[row]
            group.signals[SQUARE, i] = rounds.squares[row]
            group.signals[TAU, i] = rows.tau[row]
            for q in range(count):
                j = out.support[row, q]
                z = rows.z[row, q]
                group.places[Z, q, i] = z
                group.places[FIRST, q, i] = rows.correlations[row, j]
                group.places[SPREAD, q, i] = gaussians.spreads[j]
                group.places[SIGN, q, i] = 1.0 if z > 0.0 else -1.0
                group.places[USED, q, i] = 1.0
                rounds.chosen[q] = j
                line, first_entry, lane = gram[j], np.uintp(entry(q, 0)), np.uintp(i)
                for p in range(q + 1):
                    place = np.uintp(p)
                    group.gram[first_entry + place, lane] = line[rounds.chosen[place]]
        _leave_empty(count, n_places, i, group)


@kernel
def _leave_empty(count, n_places, i, group):
    """Empty the places from count on of signal i in the group."""
    for q in range(count, n_places):
        group.places[Z, q, i] = 0.0
        group.places[FIRST, q, i] = 0.0
        group.places[SPREAD, q, i] = 1.0
        group.places[SIGN, q, i] = 0.0
        group.places[USED, q, i] = 0.0
        for p in range(q + 1):
            group.gram[entry(q, p), i] = 0.0


@kernel
def _unload(first, last, budget, rounds, rows, out):
    """Take the codes of signals out of the group; where the objective rose, the old code stays."""
    group = rounds.group
    for i in range(last - first):
        row = rounds.sorted[first + i]
        limit = out.objective[row] * (1.0 + 16.0 * budget.resolution)
        if rounds.kept[row] == 0 and rounds.counts[row] > 0:
            begun = group.signals[BEGUN, i]
            # worse than the code it started with, which must have been one
            limit = 0.0 if begun >= HUGE and not rounds.failed[row] else min(limit, 1.001 * begun)
        if not group.signals[VALUE, i] <= limit:
            # an earlier code that is of no use may be left for a fresh start, once
            if rounds.kept[row] > 0 or rounds.failed[row]:
                rounds.state[row] = DONE
            rounds.counts[row] = rounds.kept[row]
            rounds.failed[row], rounds.calm[row] = True, False
            continue
        out.n_sweeps[row] += 1
        stayed, k = 0, 0
        for q in range(rounds.counts[row]):
            if group.places[USED, q, i] > 0.0:
                out.support[row, k] = out.support[row, q]
                rows.z[row, k] = group.places[Z, q, i]
                out.values[row, k] = group.places[Z, q, i] * group.places[LIFT, q, i]
                k += 1
                stayed += q < rounds.kept[row]
        rounds.calm[row] = group.signals[RUNNING, i] > 0.0
        gain = out.objective[row] - group.signals[VALUE, i]
        # where all that came have left again, for nothing, they would do so for ever
        in_vain = k == stayed == rounds.kept[row] < rounds.counts[row] or not rounds.calm[row]
        if in_vain and gain <= budget.tol * out.objective[row]:
            rounds.state[row] = DONE
        rounds.counts[row] = rounds.kept[row] = k
        rounds.rest[row] = group.signals[REST, i]
        rows.tau[row] = group.signals[TAU, i]
        out.objective[row] = group.signals[VALUE, i]


@kernel
def _list_unfinished(n_open, max_sweeps, rounds, out):
    """Put the signals of the round that may have another one into the queue; return how many."""
    n_left = 0
    for i in range(n_open):
        row = rounds.sorted[i]
        if rounds.state[row] == OPEN and out.n_sweeps[row] < max_sweeps:
            rounds.queue[n_left] = row
            n_left += 1
    return n_left


@kernel
def _look(n_open, gaussians, budget, rounds, rows, out):
    """Look at all atoms for each signal of the queue; return how many go on, in the queue."""
    n_left, (size, n_padded) = 0, rounds.u.shape
    for first in range(0, n_open, size):
        last = min(first + size, n_open)
        for i in range(first, last):
            row = rounds.queue[i]
            subtract_rows(
                n_padded, rounds.u[i - first], rows.correlations[row],
                gaussians.layout.gram, out.support[row], rows.z[row], rounds.counts[row], 1.0,
            )  # fmt: skip
        for i in range(first, last):
            _hide_used(rounds.queue[i], rounds.u[i - first], rounds, out)
        for i in range(first, last):
            row = rounds.queue[i]
            came = False
            if not _is_failed(row, rounds):
                came = _take_in(row, rounds.u[i - first], gaussians, budget, rounds, rows, out)
            if came or not rounds.calm[row]:
                rounds.queue[n_left] = row
                n_left += 1
            else:
                rounds.state[row] = DONE
                rows.settled[row] = True
    return n_left


@kernel
def _is_failed(row, rounds):
    """Tell whether the code that a signal started with was of no use."""
    return rounds.failed[row] and rounds.kept[row] == 0


@kernel
def _list_failed(n_open, rounds):
    """List the signals of the queue that must start afresh, in rounds.sorted; return how many."""
    n_fresh = 0
    for i in range(n_open):
        if _is_failed(rounds.queue[i], rounds):
            rounds.sorted[n_fresh] = rounds.queue[i]
            n_fresh += 1
    return n_fresh


@kernel
def _hide_used(row, u, rounds, out):
    """Set the correlations of atoms in use to zero."""
    for q in range(rounds.counts[row]):
        u[out.support[row, q]] = 0.0


@kernel
def _take_in(row, u, gaussians, budget, rounds, rows, out):
    """Let atoms that exceed their bound join the code of a signal; return whether any did."""
    n, k = u.shape[0], rounds.counts[row]
    grown = 1.0 + rows.tau[row]
    bound, strength = grown * gaussians.threshold, rounds.rest[row] / grown
    # an atom that exceeds its bound by eps can lower the objective by about eps^2
    slack = np.sqrt(0.1 * budget.tol * out.objective[row])
    greatest, came = 0.0, 0
    while came < _MOST_ADDED and k < out.support.shape[1]:
        j = largest(n, u, gaussians.layout.index_mask)
        excess = abs(u[j]) - bound
        # atoms after the first must not be far better: its coming may well mend them
        if excess <= slack or excess < _NOT_FAR * greatest:
            break
        z = excess / max(1.0 - strength * gaussians.spreads[j], 0.2)
        z = z if u[j] > 0.0 else -z
        out.support[row, k], rows.z[row, k] = j, z
        came, k = came + 1, k + 1
        greatest = max(greatest, excess)
        if came < _MOST_ADDED:
            _add_multiple(n, u, gaussians.layout.gram[j], -z)
            rounds.counts[row] = k
            _hide_used(row, u, rounds, out)
    rounds.counts[row] = k
    return came > 0


_add_multiple = lane_kernel(
    2, 1, lambda target, vector, factor: ([target + factor * vector], []), writes=(0,)
)
