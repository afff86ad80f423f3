"""Rows of an array, in memory or mapped from a file."""

from __future__ import annotations

import mmap
import tempfile
import threading
from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from setatoms.backends import effective_jobs, run_tasks
from setatoms.learning import AtomKind, Signals, Whole
from setatoms.learning.passes import State, rows_of_a_part
from setatoms.learning.statistics import Statistics
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
from setatoms.rows.parts import Pass, pass_part

T = TypeVar("T")

# Of tables with more numbers, no second copy is made in standard units.
_MANY_NUMBERS = 1 << 22
# A thread has a part in its hands this often: as it is read, in standard units, and on the way.
_COPIES = 4


class MemoryRows(Rows):
    """Rows of an array.

    Parameters
    ----------
    table : ndarray of shape (n, n_features)
        Of float32 or float64, not to be written to. It is widened block by block.
    places : ndarray of shape (n_rows,), optional
        Which of its rows, increasing; all by default.
    """

    def __init__(self, table: NDArray[Any], places: Places | None = None) -> None:
        self.table, self._places = table, places
        self.n_rows = len(table) if places is None else len(places)
        self.n_features = table.shape[1]

    def read(self, start: int, stop: int) -> Array:
        """Return rows start to stop; not to be written to."""
        return self._fetch(slice(start, stop) if self._places is None else self._places[start:stop])

    def map(
        self, function: Callable[..., T], *arguments: Any, on_share: OnShare = ignore
    ) -> list[T]:
        """Return ``function(block, *arguments)`` of each block, in order."""
        results = []
        for start, stop in self._blocks():
            results.append(function(self.read(start, stop), *arguments))
            on_share((stop - start) / max(self.n_rows, 1))
        return results

    def take(self, places: Places) -> Array:
        """Return the rows in some increasing places."""
        if len(places) == self.n_rows:
            return self.read(0, self.n_rows)
        return self._fetch(self._own(places))

    def choose(self, places: Places) -> Self:
        """Return the rows in some increasing places; they are not copied."""
        return self if len(places) == self.n_rows else self._chosen(self._own(places))

    def split(self, keep: Callable[[Array], Mask]) -> tuple[Self, Self]:
        """Return the rows that `keep` tells, and the others; they are not copied."""
        kept = np.concatenate(self.map(keep))
        return self.choose(np.flatnonzero(kept)), self.choose(np.flatnonzero(~kept))

    def run(
        self,
        function: Callable[..., T],
        tasks: Sequence[Task],
        on_step: OnStep,
        n_jobs: int | None,
        on_result: OnResult = ignore,
    ) -> list[T]:
        """Return ``function(rows, *arguments, step)`` of each task, on threads."""

        def run_one(i: int, step: OnStep) -> T:
            result = function(self.take(tasks[i].places), *tasks[i].arguments, step)
            on_result(i, result)
            return result

        return run_tasks(run_one, len(tasks), on_step, n_jobs=n_jobs)

    def spread(
        self, function: Callable[[Array, OnShare], Array], table: Array, on_share: OnShare
    ) -> Array:
        """Return ``function(table, on_share)``."""
        return function(table, on_share)

    def signals(self, prepare: Map, n_jobs: int | None, filled: Array | None = None) -> Signals:
        """Return signals for passes over all rows; many are prepared a few parts at a time."""
        many = self.n_rows * self.n_features > _MANY_NUMBERS
        if many and not any(self.map(lambda block: np.isnan(block).any())):
            return PartSignals(self, prepare, n_jobs, filled)
        return as_whole(self.read(0, self.n_rows), prepare, n_jobs, filled)

    def _blocks(self) -> list[tuple[int, int]]:
        """Return where blocks start and stop; of no rows, the one that is empty."""
        size = rows_of_a_block(self.n_features)
        ends = np.arange(size, len(self.table) + size, size)
        if self._places is not None:
            ends = np.searchsorted(self._places, ends)
        stops = np.minimum(ends, self.n_rows).tolist()
        pairs = zip([0, *stops], stops, strict=False)
        return [(start, stop) for start, stop in pairs if stop > start] or [(0, 0)]

    def _chosen(self, places: Places) -> Self:
        return type(self)(self.table, places)

    def _fetch(self, some: Any) -> Array:
        return np.asarray(self.table[some], np.float64)

    def _own(self, places: Places) -> Places:
        return places if self._places is None else self._places[places]


def as_whole(table: Array, prepare: Map, n_jobs: int | None, filled: Array | None = None) -> Whole:
    """Return the rows of a table (n_rows, n_features), prepared, for passes over all of them."""
    missing = np.isnan(table)
    if not missing.any():
        return Whole(prepare(table), None, n_jobs)
    if filled is None:
        filled = np.where(missing, 0.0, prepare(table))
    return Whole(filled, missing, n_jobs)


class MappedRows(MemoryRows):
    """Rows of an array that is mapped from a file and need not fit in memory.

    Parameters
    ----------
    table : memmap of shape (n, n_features)
        Of any type of numbers.
    places : ndarray of shape (n_rows,), optional
        Which of its rows, increasing; all by default.
    room : int, optional
        How many bytes the parts may take that threads have in their hands. One thread has one
        part, even if that takes more.
    """

    table: np.memmap[Any, Any]

    def __init__(
        self, table: np.memmap[Any, Any], places: Places | None = None, room: int | None = None
    ) -> None:
        super().__init__(table, places)
        self._room = room

    def _chosen(self, places: Places) -> Self:
        return type(self)(self.table, places, self._room)

    def _fetch(self, some: Any) -> Array:
        """Return a copy of some rows, and let the file go from memory."""
        # row by row: sums over columns depend on the order in memory
        rows = np.array(self.table[some], np.float64, order="C")
        if self.table.mode in ("r", "r+") and hasattr(mmap, "MADV_DONTNEED"):
            self.table._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]
        return rows

    def signals(self, prepare: Map, n_jobs: int | None, filled: Array | None = None) -> Signals:
        """Return signals for passes over all rows, a few parts at a time."""
        return PartSignals(self, prepare, self._count_threads(n_jobs), filled)

    def _count_threads(self, n_jobs: int | None) -> int | None:
        """Return how many threads there is room for."""
        if self._room is None:
            return n_jobs
        part = _COPIES * 8 * rows_of_a_part(self.n_rows) * self.n_features
        return max(1, min(effective_jobs(n_jobs), self._room // part))


class PartSignals:
    """Passes over parts of rows, a few at a time.

    Parameters
    ----------
    rows : MemoryRows
        The rows.
    prepare : callable
        From rows to signals.
    n_jobs : int or None
        How many parts at a time.
    filled : ndarray of shape (n_rows, n_features), optional
        All signals, their gaps closed.
    """

    def __init__(
        self, rows: MemoryRows, prepare: Map, n_jobs: int | None, filled: Array | None
    ) -> None:
        self._rows, self._prepare, self._n_jobs = rows, prepare, n_jobs
        self._size = rows_of_a_part(rows.n_rows)
        n_parts = -(-rows.n_rows // self._size)
        self._states = [State(filled=self._of_part(filled, i)) for i in range(n_parts)]
        self._scratch: Array | None = None
        self._lock = threading.Lock()

    def begin(self, kind: AtomKind, atoms: Array, radii: Array) -> None:
        """Nothing is needed: parts make room for themselves."""

    def statistics(self, kind: AtomKind, atoms: Array, radii: Array) -> Statistics:
        """Code all signals and sum up what moves the atoms."""
        each = Pass(self._prepare, self._rows.n_rows, kind, atoms, radii)

        def pass_one(i: int, _: OnStep) -> Statistics:
            rows = self._rows.read(i * self._size, (i + 1) * self._size)
            statistics, state = pass_part(rows, each, self._states[i])
            self._states[i] = state._replace(filled=self._set_aside(i, state.filled))
            return statistics

        return Statistics.total(run_tasks(pass_one, len(self._states), ignore, n_jobs=self._n_jobs))

    def states(self) -> list[State]:
        """Return what passes have left behind."""
        return self._states

    def restore(self, states: Sequence[State]) -> None:
        """Go on from what other passes have left behind."""
        self._states = [
            state._replace(filled=self._set_aside(i, state.filled))
            for i, state in enumerate(states)
        ]

    def _set_aside(self, i: int, filled: Array | None) -> Array | None:
        """Keep the signals of a part on disk, if they had gaps."""
        if filled is None:
            return None
        with self._lock:
            if self._scratch is None:
                shape = (self._rows.n_rows, self._rows.n_features)
                with tempfile.TemporaryFile() as file:
                    self._scratch = np.memmap(file, np.float64, "w+", shape=shape)
        kept = self._of_part(self._scratch, i)
        kept[:] = filled
        return kept

    def _of_part(self, table: Any, i: int) -> Any:
        return None if table is None else table[i * self._size : (i + 1) * self._size]
