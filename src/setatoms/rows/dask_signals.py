"""Passes over rows of a Dask collection, part by part, where its scheduler keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import dask
import numpy as np
from dask.sizeof import sizeof

from setatoms.backends import at_most_jobs
from setatoms.learning import AtomKind
from setatoms.learning.passes import State
from setatoms.learning.statistics import GROUP_PARTS, Statistics
from setatoms.rows.base import Array, Map
from setatoms.rows.delayed import Later, cluster, later
from setatoms.rows.homes import at, settle
from setatoms.rows.parts import Pass, pass_part


class Passed(NamedTuple):
    """What comes of a pass over some parts, in their order."""

    sums: list[Statistics]
    states: list[State]


class Place(NamedTuple):
    """Where the state of a part is: in which `Passed`, later, and which of its states."""

    passed: Later
    number: int


class DaskSignals:
    """Passes over parts of the rows, wherever Dask has them.

    Each thread of a cluster takes a bundle of parts, those that its worker holds. Nothing waits for
    a thread then, so an idle worker finds nothing to fetch: rows stay where they are.

    Parameters
    ----------
    parts : list of Delayed
        The rows of each part.
    states : list of State
        What each part keeps before the first pass.
    prepare : callable
        From rows to signals.
    n_rows : int
        How many rows all parts have.
    """

    def __init__(
        self, parts: Sequence[Later], states: Sequence[State], prepare: Map, n_rows: int
    ) -> None:
        self._parts, self._prepare, self._n_rows = list(parts), prepare, n_rows
        self.restore(states)

    def begin(self, kind: AtomKind, atoms: Array, radii: Array) -> None:
        """Nothing is needed: parts make room for themselves."""

    def statistics(self, kind: AtomKind, atoms: Array, radii: Array) -> Statistics:
        """Code all signals and sum up what moves the atoms."""
        every = later(Pass(self._prepare, self._n_rows, kind, atoms, radii))
        bundles, tasks = self._bundle(every)
        self._places = _places_in(bundles, dask.persist(*tasks))
        groups, keep_nothing = zip(*dask.compute(*self._groups()), strict=True)
        if all(keep_nothing):
            # so that a part that is lost does not need the passes before this one
            self.restore([State()] * len(self._parts))
        return Statistics.total(groups)

    def states(self) -> list[State]:
        """Return what passes have left behind, here."""
        return list(dask.compute(*(later(_state_of)(*place) for place in self._places)))

    def restore(self, states: Sequence[State]) -> None:
        """Go on from what other passes have left behind."""
        nothing = later(Passed([], [State()]))
        self._places = [
            Place(nothing if _is_empty(state) else later(Passed([], [state])), 0)
            for state in states
        ]

    def _bundle(self, every: Later) -> tuple[list[list[int]], list[Later]]:
        """Return which parts go together, and the pass over each bundle, later."""
        client = cluster()
        if client is None:  # parts are made anew for each pass, one at a time
            bundles = [[i] for i in range(len(self._parts))]
            return bundles, [later(_pass_parts)(*self._of(own), every) for own in bundles]
        self._parts, settled = settle(client, self._parts)
        passes = [at(home, _pass_parts, *self._of(own), every) for own, home in settled]
        return [own for own, _ in settled], passes

    def _of(self, bundle: list[int]) -> tuple[list[Later], list[Later], list[tuple[int, int]]]:
        """Return parts, what holds their states, and where in that each is."""
        places = [self._places[i] for i in bundle]
        holding = list({place.passed.key: place.passed for place in places}.values())
        order = {passed.key: i for i, passed in enumerate(holding)}
        where = [(order[place.passed.key], place.number) for place in places]
        return [self._parts[i] for i in bundle], holding, where

    def _groups(self) -> list[Later]:
        """Return the sums of each group of parts, and whether these keep nothing, later."""
        totals = []
        for start in range(0, len(self._places), GROUP_PARTS):
            own: dict[str, tuple[Later, list[int], list[int]]] = {}
            for i, place in enumerate(self._places[start : start + GROUP_PARTS]):
                _, numbers, order = own.setdefault(place.passed.key, (place.passed, [], []))
                numbers.append(place.number)
                order.append(i)
            sums = [later(_sums_of)(passed, numbers) for passed, numbers, _ in own.values()]
            totals.append(later(_total)(sums, [order for _, _, order in own.values()]))
        return totals


def _places_in(bundles: list[list[int]], passed: Sequence[Later]) -> list[Place]:
    """Return where the state of each part is."""
    found = {
        i: Place(result, number)
        for own, result in zip(bundles, passed, strict=True)
        for number, i in enumerate(own)
    }
    return [found[i] for i in range(len(found))]


def _is_empty(state: State) -> bool:
    return state.filled is None and state.codes is None


@sizeof.register(Statistics)
def _size_of(sums: Statistics) -> int:
    """Return how many bytes sums have, by which Dask decides where they are added up."""
    return sum(8 * np.size(value) for value in vars(sums).values())


# What workers do; each with one thread, as a worker does as many things at once as it has threads.


def _pass_parts(
    parts: Sequence[Array], held: Sequence[Passed], where: list[tuple[int, int]], every: Pass
) -> Passed:
    done = Passed([], [])
    with at_most_jobs(1):
        for part, (k, number) in zip(parts, where, strict=True):
            rows = np.asarray(part, np.float64)
            sums, state = pass_part(rows, every, held[k].states[number])
            done.sums.append(sums)
            done.states.append(state)
    return done


def _state_of(passed: Passed, number: int) -> State:
    return passed.states[number]


def _sums_of(passed: Passed, numbers: list[int]) -> tuple[list[Statistics], bool]:
    keep_nothing = all(_is_empty(passed.states[number]) for number in numbers)
    return [passed.sums[number] for number in numbers], keep_nothing


def _total(
    parts: Sequence[tuple[list[Statistics], bool]], orders: list[list[int]]
) -> tuple[Statistics, bool]:
    """Return the sums of a group, added up in the order of its parts."""
    numbered = [
        pair
        for (sums, _), order in zip(parts, orders, strict=True)
        for pair in zip(order, sums, strict=True)
    ]
    numbered.sort(key=lambda pair: pair[0])
    return Statistics.total([sums for _, sums in numbered]), all(nothing for _, nothing in parts)
