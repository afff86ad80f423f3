"""Gauss-L1 for many signals at once: in rounds, until no atom wants to come in.

Every signal gets its first atoms, from a greedy lasso or an earlier code. A *round* solves the
equations of all signals on their atoms, in groups (`group_newton`), then looks at all atoms
and takes in those that violate their bound; signals for which there are none are done. What does
not work out in a group is *declined* and left to the solver of single signals
(`active_set`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import inlined, kernel
from setatoms.coding.gauss.group import (
    FAILED,
    MOST_PLACES,
    REST,
    RUNNING,
    SIZE,
    SQUARE,
    TAU,
    USED,
    VALUE,
    Group,
    allocate_group,
    copy,
)
from setatoms.coding.gauss.group_newton import solve_group
from setatoms.coding.gauss.inverse import add_multiple
from setatoms.coding.gauss.quantities import FIRST, LIFT, SIGN, SPREAD, Z
from setatoms.lanes import add_rows
from setatoms.vectors import largest

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Rounds after which a signal is left to the other solver.
_MOST_ROUNDS = 12
# Atoms taken in after one look at all atoms.
_MOST_ADDED = 3

# What a signal may be: in rounds, done, or left to the other solver.
OPEN, DONE, DECLINED = 0, 1, 2


class Rounds(NamedTuple):
    """Work space for a chunk of n signals."""

    group: Group
    counts: Ints  # (n,): atoms in use
    state: Ints  # (n,)
    squares: Floats  # (n,): ||y||^2
    rest: Floats  # (n,): ||e||^2
    queue: Ints  # (n,): the signals of a round
    sorted: Ints  # (n,): by their number of atoms
    histogram: Ints  # (MOST_PLACES + 2,)
    u: Floats  # (n_padded,)
    chosen: Ints  # (MOST_PLACES,): atoms of the signal at hand
    factors: Floats  # (MOST_PLACES,): its -z


def allocate_rounds(n: int, n_padded: int) -> Rounds:
    """Return work space for n signals."""
    return Rounds(
        group=allocate_group(),
        counts=np.empty(n, np.int64),
        state=np.empty(n, np.int64),
        squares=np.empty(n),
        rest=np.empty(n),
        queue=np.empty(n, np.int64),
        sorted=np.empty(n, np.int64),
        histogram=np.empty(MOST_PLACES + 2, np.int64),
        u=np.empty(n_padded),
        chosen=np.empty(MOST_PLACES, np.int64),
        factors=np.empty(MOST_PLACES),
    )


@inlined
def solve_in_rounds(gaussians, budget, rounds, rows, out):
    """Solve the signals whose state is OPEN from the codes in out.support and rows.z.

    Fill these, values, tau, objective and sweeps; state becomes DONE (where a signal has settled or
    may take no more rounds) or DECLINED.
    """
    n_open = 0
    for row in range(out.errors.shape[0]):
        if rounds.state[row] == OPEN:
            rounds.queue[n_open] = row
            n_open += 1
            rounds.rest[row] = rounds.squares[row]
    n_rounds = 0
    while n_open > 0:
        n_rounds += 1
        _sort_by_count(n_open, rounds)
        for first in range(0, n_open, SIZE):
            last = min(first + SIZE, n_open)
            n_places = rounds.counts[rounds.sorted[last - 1]]
            if n_places > 0:
                _load(first, last, n_places, gaussians, rounds, rows, out)
                solve_group(n_places, gaussians.threshold, budget.tol, rounds.group)
                _unload(first, last, rounds, rows, out)
        n_open = _look(n_open, n_rounds, gaussians, budget, rounds, rows, out)


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
    for i in range(SIZE):
        count = 0
        group.signals[SQUARE, i], group.signals[TAU, i], group.signals[VALUE, i] = 1.0, 0.0, 1.0
        if first + i < last:
            row = rounds.sorted[first + i]
            count = rounds.counts[row]
            group.signals[SQUARE, i] = rounds.squares[row]
            group.signals[TAU, i] = rows.tau[row]
            group.signals[VALUE, i] = out.objective[row]
            for q in range(count):
                j = out.support[row, q]
                rounds.chosen[q] = j
                z = rows.z[row, q]
                group.places[Z, q, i] = z
                group.places[FIRST, q, i] = rows.correlations[row, j]
                group.places[SPREAD, q, i] = gaussians.spreads[j]
                group.places[SIGN, q, i] = 1.0 if z > 0.0 else -1.0
                group.places[USED, q, i] = 1.0
                for p in range(q + 1):
                    product = gram[j, rounds.chosen[p]]
                    group.gram[q, p, i] = product
                    group.gram[p, q, i] = product
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
            group.gram[q, p, i] = 0.0
            group.gram[p, q, i] = 0.0


@kernel
def _unload(first, last, rounds, rows, out):
    """Take the codes of signals out of the group, or decline the signals."""
    group = rounds.group
    for i in range(last - first):
        row = rounds.sorted[first + i]
        risen = group.signals[VALUE, i] > out.objective[row] * (1.0 + 1e-13)
        if group.signals[RUNNING, i] < 0.0 or group.signals[FAILED, i] > 0.0 or risen:
            rounds.state[row] = DECLINED
            continue
        k = 0
        for q in range(rounds.counts[row]):
            if group.places[USED, q, i] > 0.0:
                out.support[row, k] = out.support[row, q]
                rows.z[row, k] = group.places[Z, q, i]
                out.values[row, k] = group.places[Z, q, i] * group.places[LIFT, q, i]
                k += 1
        rounds.counts[row] = k
        rounds.rest[row] = group.signals[REST, i]
        rows.tau[row] = group.signals[TAU, i]
        out.objective[row] = group.signals[VALUE, i]


@kernel
def _look(n_open, n_rounds, gaussians, budget, rounds, rows, out):
    """Look at all atoms for each signal of the round; return how many signals go on."""
    n_left = 0
    for i in range(n_open):
        row = rounds.sorted[i]
        if rounds.state[row] != OPEN:
            continue
        out.n_sweeps[row] = n_rounds
        more = n_rounds < budget.max_sweeps
        wanted = _take_in(row, more, gaussians, budget, rounds, rows, out)
        if not (wanted and more):
            rounds.state[row] = DONE
            rows.settled[row] = not wanted
        elif n_rounds == _MOST_ROUNDS:
            rounds.state[row] = DECLINED
        elif rounds.state[row] == OPEN:
            rounds.queue[n_left] = row
            n_left += 1
    return n_left


@kernel
def _take_in(row, may_join, gaussians, budget, rounds, rows, out):
    """Let atoms that exceed their bound join the code of a signal, if they may.

    Return whether there is one. The signal is declined when more atoms want in than there is room.
    """
    layout, u = gaussians.layout, rounds.u
    n, gram, k = u.shape[0], layout.gram, rounds.counts[row]
    _correlate(row, k, gram, rounds, rows, out)
    grown = 1.0 + rows.tau[row]
    bound, strength = grown * gaussians.threshold, rounds.rest[row] / grown
    # an atom that exceeds its bound by eps can lower the objective by about eps^2
    slack = np.sqrt(0.1 * budget.tol * out.objective[row])
    greatest, came = 0.0, 0
    while came < _MOST_ADDED:
        j = largest(n, u, layout.index_mask)
        excess = abs(u[j]) - bound
        # atoms after the first must be about as bad: its coming may well mend the others
        if excess <= slack or excess < 0.5 * greatest:
            break
        came += 1
        if not may_join:
            break
        if k == min(MOST_PLACES, out.support.shape[1]):
            rounds.state[row] = DECLINED
            break
        z = excess / max(1.0 - strength * gaussians.spreads[j], 0.2)
        z = z if u[j] > 0.0 else -z
        out.support[row, k], rows.z[row, k] = j, z
        add_multiple(n, u, gram[j], -z)
        k += 1
        for q in range(k):
            u[out.support[row, q]] = 0.0
        greatest = max(greatest, excess)
    rounds.counts[row] = k
    return came > 0


@kernel
def _correlate(row, k, gram, rounds, rows, out):
    """Fill u with the correlations of all atoms with what a code leaves; 0 for those in use."""
    u = rounds.u
    copy(u.shape[0], rows.correlations[row], u)
    for q in range(k):
        rounds.chosen[q] = out.support[row, q]
        rounds.factors[q] = -rows.z[row, q]
    add_rows(u.shape[0], u, gram, rounds.chosen, rounds.factors, k)
    for q in range(k):
        u[rounds.chosen[q]] = 0.0
