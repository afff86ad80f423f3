"""Gauss-L1 for many signals at once: in rounds, until no atom wants to come in.

Every signal gets its first atoms, from a greedy lasso or an earlier code. A *round* solves the
equations of all signals on their atoms, in groups (`newton`), then looks at all atoms and takes in
those that violate their bound; signals for which there are none are done.
"""

from __future__ import annotations

from setatoms._compile import inlined, part
from setatoms.coding.gauss.loading import load, unload
from setatoms.coding.gauss.look import look
from setatoms.coding.gauss.newton import solve_group
from setatoms.coding.gauss.start import choose_greedily
from setatoms.coding.gauss.state import OPEN, is_failed

# Rounds after which a signal goes on alone.
_MOST_ROUNDS = 40


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
            load(first, last, n_places, gaussians, rounds, rows, out)
            solve_group(n_places, gaussians.threshold, budget, rounds.group)
            unload(first, last, budget, rounds, rows, out)
        n_open = _list_unfinished(n_open, budget.max_sweeps, rounds, out)
        if n_rounds == _MOST_ROUNDS:
            break
        n_open = look(n_open, gaussians, budget, rounds, rows, out)
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
def _list_unfinished(n_open, max_sweeps, rounds, out):
    """Put the signals of the round that may have another one into the queue; return how many."""
    n_left = 0
    for i in range(n_open):
        row = rounds.sorted[i]
        if rounds.state[row] == OPEN and out.n_sweeps[row] < max_sweeps:
            rounds.queue[n_left] = row
            n_left += 1
    return n_left


@part
def _list_failed(n_open, rounds):
    """List the signals of the queue that must start afresh, in rounds.sorted; return how many."""
    n_fresh = 0
    for i in range(n_open):
        if is_failed(rounds.queue[i], rounds):
            rounds.sorted[n_fresh] = rounds.queue[i]
            n_fresh += 1
    return n_fresh
