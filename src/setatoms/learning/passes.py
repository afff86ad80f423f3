"""One pass over the signals: code them all and add up what moves the atoms.

Signals are cut into parts that depend on their number alone, so that sums do too. Threads take the
parts in turn, inside compiled code: one call codes and adds up many parts without coming back to
the interpreter, which only one thread can have at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import kernel
from setatoms.backends import CHUNK_ROWS, Counter, run_counted
from setatoms.coding.batch import Coder, WorkSpaces, chunk_outputs, code, count_threads, takes_long
from setatoms.coding.chunks import Outputs
from setatoms.coding.cone.coder import ConeCoder
from setatoms.coding.gauss.coder import GaussCoder
from setatoms.coding.gauss.problem import NO_CODES, KnownCodes
from setatoms.learning.missing import Gaps, Mask, close_rows
from setatoms.learning.statistics import GROUP_PARTS, Statistics, add_groups

Array = NDArray[np.float64]

# Signals are cut into one group of parts, or into a few if they are many: a part is what one worker
# of a cluster takes at a time.
_MANY_ROWS, _MOST_GROUPS = 1_000_000, 4
# Codes that are kept have room for so many coefficients, of twelve bytes.
_MOST_COEFFICIENTS = 1 << 22


class Memory:
    """What is kept from one pass to the next.

    Parameters
    ----------
    coder : Coder
        One with as many atoms as there will always be.
    X : ndarray of shape (n_samples, n_features)
        The signals.
    codes : KnownCodes
        The code of each signal, where the next pass begins with it.

    Attributes
    ----------
    spaces, outputs : WorkSpaces
        For `CHUNK_ROWS` signals, one of each per thread.
    part_rows : int
        How many signals are added up one after the other.
    """

    def __init__(
        self, coder: ConeCoder | GaussCoder, X: Array, codes: KnownCodes = NO_CODES
    ) -> None:
        self.codes = codes
        self.part_rows = rows_of_a_part(len(X))
        self.spaces: WorkSpaces[Any] = coder.spaces
        self.outputs = chunk_outputs(coder, X)


class State(NamedTuple):
    """What signals, or a part of them, keep from one pass to the next.

    Attributes
    ----------
    filled : ndarray of shape (n, n_features) or None
        The signals as far as gaps are filled, if there are any.
    codes : KnownCodes or None
        The last code of each signal, where the next pass begins; None if there is no room.
    """

    filled: Array | None = None
    codes: KnownCodes | None = None


class Sums(NamedTuple):
    """Sums over the signals of each part."""

    pull: Array  # (n_parts, n_atoms, n_features)
    weight: Array  # (n_parts, n_atoms)
    n_users: Array  # (n_parts, n_atoms)
    abs_sum: Array  # (n_parts, n_atoms)
    sq_sum: Array  # (n_parts, n_atoms)
    error: Array  # (n_parts,)
    objective: Array  # (n_parts,)


class Parts(NamedTuple):
    """The parts of the signals, to be taken in turn."""

    counter: Counter  # (1,): the next part
    n_rows: int  # of every part but the last
    sums: Sums


class Filling(NamedTuple):
    """Entries to fill after a part is coded; no rows where none are missing."""

    rows: Array  # (n, n_features)
    missing: Mask  # (n, n_features)
    lam: float
    price: float


def filling_of(X: Array, gaps: Gaps, missing: Mask | None) -> Filling:
    """Return which entries of X (n_samples, n_features) to fill, if any are `missing`."""
    if missing is None:
        return Filling(np.empty((0, 0)), np.empty((0, 0), np.bool_), gaps.lam, gaps.price)
    return Filling(X, missing, gaps.lam, gaps.price)


def sum_parts(
    call: Callable[[Any, Outputs, Parts], None],
    coder: Coder,
    X: Array,
    memory: Memory,
    n_jobs: int | None,
) -> Statistics:
    """Let threads ``call``, each with its work space, until all parts are summed up."""
    n_parts = -(-len(X) // memory.part_rows)
    pull = np.zeros((n_parts, coder.n_atoms, X.shape[1]))
    of_atoms, of_parts = np.zeros((4, n_parts, coder.n_atoms)), np.zeros((2, n_parts))
    sums = Sums(pull, *of_atoms, *of_parts)

    def take_parts(counter: Counter) -> None:
        space, out = memory.spaces.get(CHUNK_ROWS), memory.outputs.get(CHUNK_ROWS)
        call(space, out, Parts(counter, memory.part_rows, sums))

    n_threads = count_threads(coder, len(X), n_jobs)
    long = takes_long(coder, len(X), coder.most_sweeps)
    run_counted(take_parts, n_parts, n_threads, coder.layout.halt, long)
    weight, n_users, abs_sum, sq_sum = add_groups(of_atoms.swapaxes(0, 1))
    error, objective = add_groups(of_parts.T).tolist()
    return Statistics(add_groups(pull), weight, n_users, abs_sum, sq_sum, error, objective, len(X))


def rows_of_a_part(n_rows: int) -> int:
    """Return how many of that many signals are added up one after the other."""
    n_parts = GROUP_PARTS * (_MOST_GROUPS if n_rows > _MANY_ROWS else 1)
    return max(CHUNK_ROWS, -(-n_rows // n_parts))


def has_room_for_codes(n_rows: int, atoms: Array) -> bool:
    """Tell whether the codes of so many signals can be kept, with atoms (n_atoms, n_features)."""
    return n_rows * min(atoms.shape) <= _MOST_COEFFICIENTS


def sum_over_codes(
    coder: Coder, X: Array, gaps: Gaps, missing: Mask | None, n_jobs: int | None
) -> Statistics:
    """Code the rows of X (n_samples, n_features) and sum up; fill `missing` entries in place.

    This is the plain way, for any coder: with the codes as they are, centres go where they lower
    the squared error.
    """
    out = code(coder, X, n_jobs=n_jobs)
    if missing is not None:
        gaps.close(X, missing, out)
    rows, places = np.nonzero(out.support >= 0)
    atoms, x = out.support[rows, places], out.values[rows, places]
    pull = np.zeros((coder.n_atoms, X.shape[1]))
    np.add.at(pull, atoms, x[:, None] * out.residuals[rows])
    n_users, abs_sum, sq_sum = (
        np.bincount(atoms, each, coder.n_atoms).astype(np.float64)
        for each in (np.ones(len(x)), np.abs(x), x**2)
    )
    error, objective = out.errors.sum(), (out.objective if coder.minimises else out.errors**2).sum()
    return Statistics(
        pull, sq_sum, n_users, abs_sum, sq_sum, float(error), float(objective), len(X)
    )


@kernel
def fill_in(first, last, filling, out):
    """Fill the missing entries of rows first to last, if there are any."""
    if filling.missing.shape[0] > 0:
        rows, missing = filling.rows[first:last], filling.missing[first:last]
        close_rows(rows, missing, filling.lam, filling.price, out)


@kernel
def count_use(part, j, x, sums):
    """Add one use of atom j, with coefficient x."""
    sums.n_users[part, j] += 1.0
    sums.abs_sum[part, j] += abs(x)
    sums.sq_sum[part, j] += x * x
