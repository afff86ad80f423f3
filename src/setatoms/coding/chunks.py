"""Rows are coded in chunks, which threads take in turn; what becomes of them goes to arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import kernel
from setatoms.backends import Counter, fetch_add

# Chunks to take in one call of a kernel, which then returns so that an interruption is noticed.
CHUNKS_PER_CALL = 8
# Parts of the last chunks.
_PARTS = 4
# The error of a row that is still to be coded.
LATE = -1.0


class Outputs(NamedTuple):
    """Arrays that a coder fills, one row per signal; the last three may have no rows."""

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


class Chunks(NamedTuple):
    """Which rows to code next, for threads that take chunks of them in turn."""

    counter: Counter  # (1,): the next chunk
    chunk_rows: int
    n_whole: int  # chunks that have so many rows; those behind them are smaller
    errors: NDArray[np.float64]  # (n,), or (0,): where errors go as well
    most_slow: int  # of a chunk, rows to code that could take long; others are marked with LATE


@kernel
def next_chunk(chunks, n_rows):
    """Return where the next chunk of n_rows is; behind the last row if none is left."""
    number = fetch_add(chunks.counter)
    first = min(number, chunks.n_whole) * chunks.chunk_rows
    size = chunks.chunk_rows
    if number >= chunks.n_whole:
        size = max(1, chunks.chunk_rows // _PARTS)
        first += (number - chunks.n_whole) * size
    return first, min(first + size, n_rows)


def split(n_rows: int, chunk_rows: int, n_threads: int) -> tuple[int, int]:
    """Return how many chunks are whole, and how many there are with those that are smaller.

    Several threads share the last ones in parts, so that none waits long for another.
    """
    n_whole = max(0, n_rows // chunk_rows - n_threads) if n_threads > 1 else n_rows // chunk_rows
    left = n_rows - n_whole * chunk_rows
    return n_whole, n_whole - (-left // max(1, chunk_rows // _PARTS))


@kernel
def outputs_for(first, last, n_rows, out):
    """Return views of where the codes of rows first to last go.

    These rows, if out has all of n_rows, else its first ones.
    """
    start = first if out.errors.shape[0] == n_rows else 0
    stop = start + last - first
    return Outputs(
        out.support[start:stop], out.values[start:stop], out.residuals[start:stop],
        out.errors[start:stop], out.members[start:stop], out.objective[start:stop],
        out.n_sweeps[start:stop],
    )  # fmt: skip


@kernel
def report_errors(first, out, chunks):
    """Copy the errors of a chunk to where they are wanted."""
    if chunks.errors.shape[0] > 0:
        for row in range(out.errors.shape[0]):
            chunks.errors[first + row] = out.errors[row]
