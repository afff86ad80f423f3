"""Signals go into a group to be solved, and their codes come out of it."""

from __future__ import annotations

import numpy as np

from setatoms._compile import part
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
    Z,
)
from setatoms.coding.gauss.state import DONE
from setatoms.lanes import Lanes, Vector, entry, pair_kernel


@part
def load(first, last, n_places, gaussians, rounds, rows, out):
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
def unload(first, last, budget, rounds, rows, out):
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


def _mark_body(z: Vector, count: Vector, _sign: Vector, _used: Vector, place: Vector) -> Lanes:
    empty, one = count - place - 0.5, z.constant(1.0)
    sign = one.where_negative(-z, -1.0)
    zero = z.constant(0.0)
    return [zero.where_negative(empty, sign), zero.where_negative(empty, one)], []


_mark = pair_kernel(4, 1, _mark_body, writes=(2, 3))
