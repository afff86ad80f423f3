"""Run a coder over a batch: the one driver that all coders share."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import kernel
from setatoms.backends import run_chunks
from setatoms.coding.blocks import Dictionary
from setatoms.coding.codes import Codes

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


class Outputs(NamedTuple):
    """Arrays that a coder fills, one row a signal; the last three may have no rows."""

    support: NDArray[np.int32]  # (n, width)
    values: NDArray[Any]  # (n, width)
    residuals: NDArray[Any]  # (n, n_features)
    errors: NDArray[Any]  # (n,)
    members: NDArray[Any]  # (n, width, n_features)
    objective: NDArray[Any]  # (n,)
    n_sweeps: NDArray[np.int32]  # (n,)

    def rows(self, start: int, stop: int) -> Outputs:
        """Return views of some rows."""
        return Outputs(*(array[start:stop] for array in self))


@kernel
def store(row, scale, k, x, error, out):
    """Write a signal's code, k coefficients x and their error, to its row of out."""
    out.errors[row] = scale * error
    for q in range(out.values.shape[1]):
        out.values[row, q] = scale * x[q] if q < k else 0.0


@kernel
def store_members(members, support, target):
    """Copy the actual atoms in use (width, m) to target (width, m); zeros for the rest."""
    for q in range(support.shape[0]):
        for i in range(target.shape[1]):
            target[q, i] = members[q, i] if support[q] >= 0 else 0.0


class Coder(Protocol):
    """A dictionary made ready to code signals, in double precision whatever the signals are."""

    n_atoms: int
    width: int  # most atoms that a signal can use
    minimises: bool  # whether it reports an objective and sweeps
    most_rows: int  # to be coded in one call: more where a row takes less time than the call
    rows_a_thread: int  # rows that take longer to code than another thread takes to wake up

    def fill(self, X: NDArray[Any], out: Outputs) -> None:
        """Code the rows of X (n, n_features) into ``out``."""


def rows_of(multiplications: int, dictionary: Dictionary) -> int:
    """Return how many rows can be multiplied with all atoms for so many multiplications."""
    return max(1, multiplications // dictionary.columns.size)


def allocate(coder: Coder, X: NDArray[Any], *, members: bool = False) -> Outputs:
    """Return uninitialised outputs for the rows of X."""
    n_samples, n_features = X.shape
    shape = (n_samples, coder.width)
    n_reported = n_samples if coder.minimises else 0
    return Outputs(
        support=np.empty(shape, np.int32),
        values=np.empty(shape, X.dtype),
        residuals=np.empty((n_samples, n_features), X.dtype),
        errors=np.empty(n_samples, X.dtype),
        members=np.empty((*shape, n_features) if members else (0, 0, 0), X.dtype),
        objective=np.empty(n_reported, X.dtype),
        n_sweeps=np.empty(n_reported, np.int32),
    )


def code(coder: Coder, X: NDArray[Any], *, n_jobs: int | None, members: bool = False) -> Outputs:
    """Code all rows of X and keep everything."""
    out = allocate(coder, X, members=members)
    code_into(out, coder, X, n_jobs=n_jobs)
    return out


def code_into(out: Outputs, coder: Coder, X: NDArray[Any], *, n_jobs: int | None) -> None:
    """Code all rows of X into arrays that are there already."""

    def task(start: int, stop: int) -> None:
        rows, part = signals(X, start, stop), out.rows(start, stop)
        if X.dtype == np.float64:
            coder.fill(rows, part)
            return
        double = allocate(coder, rows, members=len(out.members) > 0)
        coder.fill(rows, double)
        for target, source in zip(part, double, strict=True):
            target[...] = source

    _run(task, coder, len(X), n_jobs)


def signals(X: NDArray[Any], start: int, stop: int) -> NDArray[np.float64]:
    """Return rows of X as float64, read-only: kernels are compiled for one type of array."""
    rows = X[start:stop].astype(np.float64, copy=False).view()
    rows.flags.writeable = False
    return rows


def errors(coder: Coder, X: NDArray[Any], *, n_jobs: int | None) -> NDArray[Any]:
    """Return the error of each row of X; memory beyond that does not grow with the rows."""
    result = np.empty(len(X), X.dtype)

    def task(start: int, stop: int) -> None:
        rows = signals(X, start, stop)
        out = allocate(coder, rows)
        coder.fill(rows, out)
        result[start:stop] = out.errors

    _run(task, coder, len(X), n_jobs)
    return result


def _run(task: Callable[[int, int], None], coder: Coder, n_rows: int, n_jobs: int | None) -> None:
    run_chunks(
        task,
        n_rows,
        n_jobs=n_jobs,
        most_rows=coder.most_rows,
        rows_a_thread=coder.rows_a_thread,
    )


def as_codes(coder: Coder, out: Outputs) -> Codes:
    """Wrap outputs for the public; columns that no signal uses are cut off."""
    width = coder.width
    if coder.minimises:
        width = max(1, int((out.support >= 0).sum(axis=1).max()))
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
