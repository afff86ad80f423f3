"""Run a coder over a batch: the one driver that all coders share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import kernel
from setatoms.backends import Counter, effective_jobs, run_counted
from setatoms.coding.blocks import Layout
from setatoms.coding.chunks import CHUNKS_PER_CALL, LATE, Chunks, Outputs, split
from setatoms.coding.codes import Codes
from setatoms.lanes import empty_arrays

S = TypeVar("S")


class WorkSpaces(Generic[S]):
    """Work space of a coder, one for each thread, kept from one chunk of signals to the next.

    Parameters
    ----------
    make : callable
        ``make(n, *arguments)`` returns work space for up to n signals.
    *arguments
        What else it needs; not the coder, which would then outlive its use.
    """

    def __init__(self, make: Callable[..., S], *arguments: Any) -> None:
        self._make = make
        self._arguments = arguments
        self._of_thread = threading.local()

    def get(self, n: int) -> S:
        """Return this thread's work space for n signals."""
        if getattr(self._of_thread, "n", -1) < n:
            self._of_thread.n, self._of_thread.space = n, self._make(n, *self._arguments)
        space: S = self._of_thread.space
        return space


@lru_cache(maxsize=16)
def shared_spaces(make: Callable[..., S], *sizes: Hashable) -> WorkSpaces[S]:
    """Return the work space that all coders of these sizes share, one after another.

    Making it takes a part of the time in which a small batch is coded. Nothing in it may outlast a
    call: the next coder has other atoms.
    """
    return WorkSpaces(make, *sizes)


class Coder(Protocol):
    """A dictionary made ready to code signals."""

    n_atoms: int
    width: int  # most atoms that a signal can use
    minimises: bool  # whether it reports an objective and sweeps
    most_rows: int  # of a chunk: more where a row takes less time
    most_sweeps: int  # over all atoms, for a row that takes longest
    usual_sweeps: int  # for one that is coded where late rows are left
    rows_per_thread: int  # rows that take longer to code than starting another thread
    layout: Layout  # the atoms; its kernels look whether it is halted

    def code_chunks(self, X: NDArray[Any], out: Outputs, chunks: Chunks) -> None:
        """Take some chunks of the rows of X (n, n_features), if any are left, and code them.

        ``out`` has room for all rows or for one chunk.
        """


def rows_of(multiplications: int, layout: Layout) -> int:
    """Return how many rows can be multiplied with all atoms for so many multiplications."""
    return max(1, multiplications // layout.columns.size)


def allocate(coder: Coder, X: NDArray[Any], *, members: bool = False) -> Outputs:
    """Return uninitialised outputs for the rows of X."""
    n_samples, n_features = X.shape
    shape = (n_samples, coder.width)
    n_reported = n_samples if coder.minimises else 0
    return Outputs(
        *empty_arrays(
            (shape, np.int32),
            (shape, X.dtype),
            (X.shape, X.dtype),
            ((n_samples,), X.dtype),
            ((*shape, n_features) if members else (0, 0, 0), X.dtype),
            ((n_reported,), X.dtype),
            ((n_reported,), np.int32),
        )
    )


def chunk_outputs(coder: Coder, X: NDArray[Any]) -> WorkSpaces[Outputs]:
    """Return outputs for chunks of the rows of X, to be used again and again."""
    return WorkSpaces(lambda n: allocate(coder, X[:n]))


def count_threads(coder: Coder, n_rows: int, n_jobs: int | None) -> int:
    """Return how many threads are worth starting."""
    return max(1, min(effective_jobs(n_jobs), n_rows // coder.rows_per_thread))


def takes_long(coder: Coder, n_rows: int, n_sweeps: int) -> bool:
    """Tell whether coding so many rows in one call could take longer than Ctrl-C should wait."""
    return n_rows * n_sweeps >= _LONG * coder.rows_per_thread


def code(coder: Coder, X: NDArray[Any], *, n_jobs: int | None, members: bool = False) -> Outputs:
    """Code all rows of X and keep everything."""
    out = allocate(coder, X, members=members)
    code_into(out, coder, X, n_jobs=n_jobs)
    return out


def code_into(out: Outputs, coder: Coder, X: NDArray[Any], *, n_jobs: int | None) -> None:
    """Code all rows of X into arrays that are there already."""
    for start, stop in _slabs(X):
        rows, part = signals(X, start, stop), out.rows(start, stop)
        double = part
        if X.dtype != np.float64:
            double = allocate(coder, rows, members=len(out.members) > 0)
        _run(coder, rows, double, _NO_ERRORS, n_jobs)
        if double is not part:
            for target, source in zip(part, double, strict=True):
                target[...] = source


def errors(coder: Coder, X: NDArray[Any], *, n_jobs: int | None) -> NDArray[Any]:
    """Return the error of each row of X; memory beyond that does not grow with the rows."""
    result = np.empty(len(X), X.dtype)
    for start, stop in _slabs(X):
        rows, part = signals(X, start, stop), result[start:stop]
        double = part if X.dtype == np.float64 else np.empty(len(rows))
        _run(coder, rows, None, double, n_jobs)
        if double is not part:
            part[...] = double
    return result


_NO_ERRORS = np.empty(0)
# Sweeps over all atoms, as a multiple of those worth another thread: about a tenth of a second.
_LONG = 250
# Rows of a chunk that could take long, and are coded with the others all the same, if all of them
# together take at most so many times as long.
_FEW, _A_WHILE = 2, 10
# Of signals in single precision, so many are copied at a time.
_SLAB_ROWS = 1 << 16
# Rows of a chunk, as a multiple of those worth another thread: about a tenth of a second.
_MOST_PER_CHUNK = 500
# So that a thread which begins late, or is held up, can leave work to the others.
_CHUNKS_PER_THREAD = 4


def _slabs(X: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Yield the bounds of rows to be coded at a time: all, unless they have to be copied."""
    size = max(1, len(X)) if X.dtype == np.float64 else _SLAB_ROWS
    return ((start, min(start + size, len(X))) for start in range(0, len(X), size))


def _run(
    coder: Coder,
    rows: NDArray[np.float64],
    out: Outputs | None,
    errors: NDArray[np.float64],
    n_jobs: int | None,
) -> None:
    """Code all rows into ``out``, or only their errors into ``errors``.

    Where some could take long but hardly one does, these come last: the others need not wait for
    the thread that works in place of the main one (see `setatoms.backends.run_together`).
    """
    largest = min(len(rows), CHUNKS_PER_CALL * coder.most_rows)
    long, most_slow = takes_long(coder, largest, coder.most_sweeps), len(rows)
    if long and not takes_long(coder, largest, coder.usual_sweeps):
        slowest = takes_long(coder, CHUNKS_PER_CALL * _FEW, coder.most_sweeps // _A_WHILE)
        long, most_slow = False, 0 if slowest else _FEW
    _take_chunks(coder, rows, out, errors, n_jobs, most_slow, long)
    if most_slow < len(rows):
        late = np.flatnonzero((errors if out is None else out.errors) == LATE)
        if len(late):
            _run_late(coder, rows, late, out, errors, n_jobs)


def _run_late(
    coder: Coder,
    rows: NDArray[np.float64],
    late: NDArray[np.intp],
    out: Outputs | None,
    errors: NDArray[np.float64],
    n_jobs: int | None,
) -> None:
    """Code the rows that were left."""
    part, long = signals(rows[late], 0, len(late)), takes_long(coder, len(late), coder.most_sweeps)
    if out is None:
        late_errors = np.empty(len(late))
        _take_chunks(coder, part, None, late_errors, n_jobs, len(part), long)
        errors[late] = late_errors
        return
    late_out = allocate(coder, part, members=len(out.members) > 0)
    _take_chunks(coder, part, late_out, _NO_ERRORS, n_jobs, len(part), long)
    for target, source in zip(out, late_out, strict=True):
        if len(target):
            target[late] = source


def _take_chunks(
    coder: Coder,
    rows: NDArray[np.float64],
    out: Outputs | None,
    errors: NDArray[np.float64],
    n_jobs: int | None,
    most_slow: int,
    long: bool,
) -> None:
    """Let threads code the rows, chunk by chunk."""
    n_threads = count_threads(coder, len(rows), n_jobs)
    n_chunks = _CHUNKS_PER_THREAD * n_threads if n_threads > 1 else 1
    most_rows = min(coder.most_rows, _MOST_PER_CHUNK * coder.rows_per_thread)
    chunk_rows = max(1, min(most_rows, -(-len(rows) // n_chunks)))
    n_whole, n_chunks = split(len(rows), chunk_rows, n_threads)
    outputs = chunk_outputs(coder, rows)

    def call(counter: Counter) -> None:
        target = outputs.get(chunk_rows) if out is None else out
        chunks = Chunks(counter, chunk_rows, n_whole, errors, most_slow)
        coder.code_chunks(rows, target, chunks)

    run_counted(call, n_chunks, n_threads, coder.layout.halt, long)


def signals(X: NDArray[Any], start: int, stop: int) -> NDArray[np.float64]:
    """Return rows of X as float64, row by row, read-only: kernels are compiled for one type."""
    rows = np.ascontiguousarray(X[start:stop], np.float64).view()
    rows.flags.writeable = False
    return rows


@kernel
def _count_most(support):
    """Return the most atoms that a row of support (n, width) has; unused places come last."""
    most = 0
    for row in range(support.shape[0]):
        while most < support.shape[1] and support[row, most] >= 0:
            most += 1
    return most


def as_codes(coder: Coder, out: Outputs) -> Codes:
    """Wrap outputs for the public; columns that no signal uses are cut off."""
    width = coder.width
    if coder.minimises:
        width = max(1, _count_most(out.support))
    return Codes(
        support=out.support[:, :width],
        values=out.values[:, :width],
        residuals=out.residuals,
        errors=out.errors,
        n_atoms=coder.n_atoms,
        actual_atoms=out.members[:, :width] if len(out.members) else None,
        objective=out.objective if coder.minimises else None,
        n_sweeps=out.n_sweeps if coder.minimises else None,
    )
