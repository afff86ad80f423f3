"""Rows of a Dask collection, where its scheduler keeps them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import dask
import numpy as np

from setatoms.backends import at_most_jobs
from setatoms.learning.passes import State, rows_of_a_part
from setatoms.rows.base import (
    Array,
    Map,
    Mask,
    OnResult,
    OnShare,
    OnStep,
    Places,
    Rows,
    Task,
    ignore,
    rows_of_a_block,
)
from setatoms.rows.dask_signals import DaskSignals
from setatoms.rows.delayed import Later, finished, hold, later

T = TypeVar("T")

# So many rows that are here are sent elsewhere at a time.
_SLAB_ROWS = 4096
_FAN_IN = 64


class DaskRows(Rows):
    """Blocks of rows that wait, or lie, wherever Dask has them.

    On a cluster every block of a table is kept by a worker. Schedulers of one machine make blocks
    anew for every question, so that a table need not fit in memory.

    Parameters
    ----------
    blocks : list of Delayed
        Arrays (n, n_features) of float32 or float64, see `Rows.map`.
    lengths : list of int
        How many rows each has.
    n_features : int
        How many columns they have.
    """

    def __init__(self, blocks: Sequence[Later], lengths: Sequence[int], n_features: int) -> None:
        full = [(block, int(n)) for block, n in zip(blocks, lengths, strict=True) if n]
        self._blocks = [block for block, _ in full]
        self._lengths = [n for _, n in full]
        self.n_rows, self.n_features = sum(self._lengths), n_features

    @classmethod
    def of_partitions(
        cls, partitions: Sequence[Later], lengths: Sequence[int], n_features: int
    ) -> DaskRows:
        """Return the rows of a table whose partitions have other lengths than blocks."""
        n_rows, size = sum(lengths), rows_of_a_block(n_features)
        blocks = hold(list(cut(partitions, lengths, size)))
        return cls(blocks, [min(size, n_rows - i) for i in range(0, n_rows, size)], n_features)

    def map(
        self, function: Callable[..., T], *arguments: Any, on_share: OnShare = ignore
    ) -> list[T]:
        """Return ``function(block, *arguments)`` of each block, in order."""
        if not self.n_rows:
            return [function(np.empty((0, self.n_features)), *arguments)]
        results = list(dask.compute(*self._each(function, *arguments)))
        on_share(1.0)
        return results

    def take(self, places: Places) -> Array:
        """Return the rows in some increasing places, here."""
        (taken,) = self._gather([places]).compute()
        return np.asarray(taken)

    def choose(self, places: Places) -> DaskRows:
        """Return the rows in some increasing places, where they are."""
        if len(places) == self.n_rows:
            return self
        own = self._share_out(places)
        blocks = [later(_index)(block, some) for block, some in zip(self._blocks, own, strict=True)]
        return DaskRows(blocks, list(map(len, own)), self.n_features)

    def split(self, keep: Callable[[Array], Mask]) -> tuple[Rows, Rows]:
        """Return the rows that `keep` tells, and the others, where they are."""
        masks = hold(self._each(keep))
        n_kept = dask.compute(*(later(np.count_nonzero)(mask) for mask in masks))
        n_others = [n - kept for n, kept in zip(self._lengths, n_kept, strict=True)]
        kept, others = (
            DaskRows(
                [
                    later(_select)(block, mask, wanted)
                    for block, mask in zip(self._blocks, masks, strict=True)
                ],
                lengths,
                self.n_features,
            )
            for wanted, lengths in ((True, n_kept), (False, n_others))
        )
        return (self if not others.n_rows else kept), others

    def run(
        self,
        function: Callable[..., T],
        tasks: Sequence[Task],
        on_step: OnStep,
        n_jobs: int | None,
        on_result: OnResult = ignore,
    ) -> list[T]:
        """Return ``function(rows, *arguments, step)`` of each task, wherever there is room."""
        del n_jobs  # the scheduler knows
        (samples,) = hold([self._gather([task.places for task in tasks])])
        waiting = [
            later(_run_task)(function, samples, i, task.arguments) for i, task in enumerate(tasks)
        ]
        results: dict[int, T] = {}
        for i, result in finished(waiting):
            results[i] = result
            on_result(i, result)
            on_step(tasks[i].n_steps, "learning")
        return [results[i] for i in range(len(tasks))]

    def spread(
        self, function: Callable[[Array, OnShare], Array], table: Array, on_share: OnShare
    ) -> Array:
        """Return ``function(table, ignore)`` (..., n), part by part."""
        slabs = [table[i : i + _SLAB_ROWS] for i in range(0, max(len(table), 1), _SLAB_ROWS)]
        call = later(function)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            results = dask.compute(*(later(_call_alone)(call, later(slab)) for slab in slabs))
        on_share(1.0)
        return np.concatenate(results, axis=-1)

    def signals(self, prepare: Map, n_jobs: int | None, filled: Array | None = None) -> DaskSignals:
        """Return signals for passes over all rows."""
        del n_jobs
        size = rows_of_a_part(self.n_rows)
        parts = hold(list(cut(self._blocks, self._lengths, size)))
        states = [State()] * len(parts)
        if filled is not None:
            states = [State(filled[i * size : (i + 1) * size]) for i in range(len(parts))]
        return DaskSignals(parts, states, prepare, self.n_rows)

    def _each(self, function: Callable[..., Any], *arguments: Any) -> list[Later]:
        call, others = later(function), [later(argument) for argument in arguments]
        return [later(_call)(call, block, *others) for block in self._blocks]

    def _gather(self, wanted: Sequence[Places]) -> Later:
        """Return the rows in each of some lists of places, later, as a list of arrays."""
        own = [self._share_out(places) for places in wanted]
        found = [
            later(_take_some)(block, [each[i] for each in own])
            for i, block in enumerate(self._blocks)
            if any(len(each[i]) for each in own)
        ]
        if not found:
            return later([np.empty((0, self.n_features))] * len(wanted))
        while len(found) > 1:
            found = [
                later(_join_lists)(found[i : i + _FAN_IN]) for i in range(0, len(found), _FAN_IN)
            ]
        return found[0]

    def _share_out(self, places: Places) -> list[Places]:
        """Return the places inside each block."""
        starts = np.concatenate([[0], np.cumsum(self._lengths)])
        bounds = np.searchsorted(places, starts)
        return [
            places[first:last] - start
            for first, last, start in zip(bounds[:-1], bounds[1:], starts[:-1], strict=True)
        ]


def cut(chunks: Sequence[Later], lengths: Sequence[int], size: int) -> Iterator[Later]:
    """Yield the same rows in blocks of one size, the last of which may be smaller."""
    pieces: list[Later] = []
    room = size
    for chunk, length in zip(chunks, lengths, strict=True):
        start = 0
        while start < length:
            stop = min(length, start + room)
            whole = stop - start == length
            pieces.append(chunk if whole else later(_slice)(chunk, start, stop))
            room -= stop - start
            start = stop
            if room == 0:
                yield _joined(pieces)
                pieces, room = [], size
    if pieces:
        yield _joined(pieces)


def _joined(pieces: list[Later]) -> Later:
    return pieces[0] if len(pieces) == 1 else later(np.concatenate)(pieces)


# What workers do; each with one thread, as a worker does as many things at once as it has threads.


def _call(function: Callable[..., T], block: Array, *arguments: Any) -> T:
    with at_most_jobs(1):
        return function(np.asarray(block, np.float64), *arguments)


def _call_alone(function: Callable[[Array, OnShare], Array], slab: Array) -> Array:
    with at_most_jobs(1):
        return function(slab, ignore)


def _run_task(
    function: Callable[..., T], samples: Sequence[Array], i: int, arguments: tuple[Any, ...]
) -> T:
    with at_most_jobs(1):
        return function(samples[i], *arguments, ignore)


def _take_some(block: Array, wanted: Sequence[Places]) -> list[Array]:
    return [np.asarray(block[places], np.float64) for places in wanted]


def _join_lists(lists: Sequence[Sequence[Array]]) -> list[Array]:
    return [np.concatenate(some) for some in zip(*lists, strict=True)]


def _select(block: Array, mask: Mask, wanted: bool) -> Array:
    return block[mask == wanted]


def _index(block: Array, places: Places) -> Array:
    return block[places]


def _slice(block: Array, start: int, stop: int) -> Array:
    return block[start:stop]
