"""Gauss-L1 for many signals at once: in rounds, until no atom wants to come in.

Every signal gets its first atoms, from a greedy lasso or an earlier code. A *round* solves the
equations of all signals on their atoms, in groups (`newton`), then looks at all atoms and takes in
those that violate their bound; signals for which there are none are done.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from setatoms._compile import inlined, kernel, part
from setatoms.coding.gauss.group import (
    BEGUN,
    COUNT,
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
from setatoms.lanes import (
    Lanes,
    Vector,
    aligned_zeros,
    entry,
    lane_kernel,
    largest_left,
    pair_kernel,
)
from setatoms.vectors import largest

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Rounds after which a signal goes on alone.
_MOST_ROUNDS = 40
# Atoms taken in after one look at all atoms, if they exceed their bound by this share of the most.
_MOST_ADDED, _NOT_FAR = 3, 0.2

# Signals that take in atoms together: few enough for the fastest cache.
_TOGETHER = 16

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


@inlined
def solve_in_rounds(gaussians, budget, greedy, rounds, rows, out):
    """Solve the signals whose state is OPEN from the codes in out.support and rows.z.

    Fill these, values, tau, objective, sweeps and settled; state becomes DONE.
    """
    n_open, size = 0, rounds.group.signals.shape[1]
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


@part
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


@part
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
                group.places[Z, q, i] = rows.z[row, q]
                group.places[FIRST, q, i] = rows.correlations[row, j]
                group.places[SPREAD, q, i] = gaussians.spreads[j]
                rounds.chosen[q] = j
                line, first_entry, lane = gram[j], np.uintp(entry(q, 0)), np.uintp(i)
                for p in range(q + 1):
                    place = np.uintp(p)
                    group.gram[first_entry + place, lane] = line[rounds.chosen[place]]
        group.signals[COUNT, i] = count
        _leave_empty(count, n_places, i, group)
    for q in range(n_places):
        _mark(
            group.places[Z, q], group.signals[COUNT],
            group.places[SIGN, q], group.places[USED, q], q,
        )  # fmt: skip


@part
def _leave_empty(count, n_places, i, group):
    """Empty the places from count on of signal i in the group."""
    for q in range(count, n_places):
        group.places[Z, q, i] = 0.0
        group.places[FIRST, q, i] = 0.0
        group.places[SPREAD, q, i] = 1.0
        for p in range(q + 1):
            group.gram[entry(q, p), i] = 0.0


@part
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
            # whether an atom has left cannot be predicted, so there is no branch for it
            z, is_used = group.places[Z, q, i], group.places[USED, q, i] > 0.0
            out.support[row, k] = out.support[row, q]
            rows.z[row, k] = z
            out.values[row, k] = z * group.places[LIFT, q, i]
            k += is_used
            stayed += is_used & (q < rounds.kept[row])
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


@part
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
        wants = not ((excess <= slack) | _is_failed(row, rounds))
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
def _is_failed(row, rounds):
    """Tell whether the code that a signal started with was of no use."""
    return rounds.failed[row] & (rounds.kept[row] == 0)


@part
def _list_failed(n_open, rounds):
    """List the signals of the queue that must start afresh, in rounds.sorted; return how many."""
    n_fresh = 0
    for i in range(n_open):
        if _is_failed(rounds.queue[i], rounds):
            rounds.sorted[n_fresh] = rounds.queue[i]
            n_fresh += 1
    return n_fresh


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


def _mark_body(z: Vector, count: Vector, _sign: Vector, _used: Vector, place: Vector) -> Lanes:
    empty, one = count - place - 0.5, z.constant(1.0)
    sign = one.where_negative(-z, -1.0)
    zero = z.constant(0.0)
    return [zero.where_negative(empty, sign), zero.where_negative(empty, one)], []


_mark = pair_kernel(4, 1, _mark_body, writes=(2, 3))
_add_multiple = lane_kernel(
    2, 1, lambda target, vector, factor: ([target + factor * vector], []), writes=(0,)
)
