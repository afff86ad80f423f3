"""One pass over the signals: code them all and add up what moves the atoms.

Signals are cut into parts that depend on their number alone, so that sums do too. Threads take the
parts in turn, inside compiled code: one call codes and adds up many parts without coming back to
the interpreter, which only one thread can have at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import kernel
from setatoms.backends import CHUNK_ROWS, Counter, run_turns, take
from setatoms.coding.batch import (
    CHUNKS_A_CALL,
    Coder,
    Outputs,
    WorkSpaces,
    chunk_outputs,
    count_threads,
    outputs_for,
    signals,
    takes_long,
)
from setatoms.coding.cone_omp import ConeCoder, fill_cones
from setatoms.coding.gauss_l1 import NO_START, GaussCoder, Start, fill_gaussian
from setatoms.learning.missing import Gaps, Mask, close_rows
from setatoms.learning.statistics import Statistics
from setatoms.vectors import add, dot

Array = NDArray[np.float64]

# Sums are kept for at most this many parts.
_MOST_PARTS = 64


class Memory:
    """What is kept from one pass to the next.

    Parameters
    ----------
    coder : Coder
        One with as many atoms as there will always be.
    X : ndarray of shape (n_samples, n_features)
        The signals.
    codes : Start
        The code of each signal, where the next pass begins with it.

    Attributes
    ----------
    spaces, outputs : WorkSpaces
        For `CHUNK_ROWS` signals, one of each a thread.
    """

    def __init__(self, coder: ConeCoder | GaussCoder, X: Array, codes: Start = NO_START) -> None:
        self.codes = codes
        self.spaces: WorkSpaces[Any] = coder.spaces
        self.outputs = chunk_outputs(coder, X)


class _Sums(NamedTuple):
    """Sums over the signals of each part."""

    pull: Array  # (n_parts, n_atoms, n_features)
    weight: Array  # (n_parts, n_atoms)
    u0: Array  # (n_parts, n_atoms)
    u1: Array  # (n_parts, n_atoms)
    u2: Array  # (n_parts, n_atoms)
    error: Array  # (n_parts,)
    objective: Array  # (n_parts,)


class _Parts(NamedTuple):
    """The parts of the signals, to be taken in turn."""

    turn: Counter  # (1,): the next part
    n_rows: int  # of every part but the last
    sums: _Sums


class _Filling(NamedTuple):
    """Entries to fill after a part is coded; no rows where none are missing."""

    rows: Array  # (n, n_features)
    missing: Mask  # (n, n_features)
    lam: float
    price: float


def sum_over_cones(
    coder: ConeCoder,
    X: Array,
    memory: Memory,
    gaps: Gaps,
    missing: Mask | None,
    n_jobs: int | None,
) -> Statistics:
    """Code the rows of X (n_samples, n_features) and sum up; fill `missing` entries in place."""
    rows, filling = signals(X, 0, len(X)), _filling(X, gaps, missing)
    call = partial(_sum_cones, rows, coder.cones, coder.cd_sweeps, filling)
    return _run(call, coder, X, memory, n_jobs)


def sum_over_gaussians(
    coder: GaussCoder,
    X: Array,
    memory: Memory,
    gaps: Gaps,
    missing: Mask | None,
    n_jobs: int | None,
) -> Statistics:
    """Do the same for Gaussian atoms, from the codes in `memory`, which are replaced."""
    rows, filling = signals(X, 0, len(X)), _filling(X, gaps, missing)
    call = partial(_sum_gaussians, rows, coder.gaussians, coder.budget, memory.codes, filling)
    return _run(call, coder, X, memory, n_jobs)


def _filling(X: Array, gaps: Gaps, missing: Mask | None) -> _Filling:
    if missing is None:
        return _Filling(np.empty((0, 0)), np.empty((0, 0), np.bool_), gaps.lam, gaps.price)
    return _Filling(X, missing, gaps.lam, gaps.price)


def _run(
    call: Callable[[Any, Outputs, _Parts], None],
    coder: Coder,
    X: Array,
    memory: Memory,
    n_jobs: int | None,
) -> Statistics:
    """Let threads ``call``, each with its work space, until all parts are summed up."""
    part_rows = max(CHUNK_ROWS, -(-len(X) // _MOST_PARTS))
    n_parts = -(-len(X) // part_rows)
    shape = (n_parts, coder.n_atoms)
    sums = _Sums(np.zeros((*shape, X.shape[1])), *np.zeros((4, *shape)), *np.zeros((2, n_parts)))

    def take_parts(turn: Counter) -> None:
        space, out = memory.spaces.get(CHUNK_ROWS), memory.outputs.get(CHUNK_ROWS)
        call(space, out, _Parts(turn, part_rows, sums))

    n_threads, long = count_threads(coder, len(X), n_jobs), takes_long(coder, len(X))
    run_turns(take_parts, n_parts, n_threads, coder.halt, long)
    pull, weight, u0, u1, u2, error, objective = (part.sum(axis=0) for part in sums)
    return Statistics(pull, weight, u0, u1, u2, float(error), float(objective), len(X))


@kernel
def _sum_cones(X, cones, cd_sweeps, filling, space, out, parts):
    """Take parts in turn, code the rows of each and add them up."""
    for _ in range(CHUNKS_A_CALL):
        part = take(parts.turn)
        start = part * parts.n_rows
        stop = min(start + parts.n_rows, X.shape[0])
        for first in range(start, stop, CHUNK_ROWS):
            if cones.dictionary.halt[0] != 0:
                return
            last = min(first + CHUNK_ROWS, stop)
            here = outputs_for(first, last, X.shape[0], out)
            fill_cones(X[first:last], cones, cd_sweeps, space, here)
            _fill_in(first, last, filling, here)
            _add_cones(part, here, parts.sums)


@kernel
def _sum_gaussians(X, gaussians, budget, codes, filling, space, out, parts):
    """Take parts in turn, code the rows of each and add them up."""
    for _ in range(CHUNKS_A_CALL):
        part = take(parts.turn)
        start = part * parts.n_rows
        stop = min(start + parts.n_rows, X.shape[0])
        for first in range(start, stop, CHUNK_ROWS):
            if gaussians.dictionary.halt[0] != 0:
                return
            last = min(first + CHUNK_ROWS, stop)
            here = outputs_for(first, last, X.shape[0], out)
            known = Start(codes.support[first:last], codes.z[first:last])
            fill_gaussian(X[first:last], gaussians, budget, known, space, here)
            _fill_in(first, last, filling, here)
            _add_gaussians(part, gaussians.dictionary.atoms, gaussians.spreads, here, parts.sums)


@kernel
def _fill_in(first, last, filling, out):
    """Fill the missing entries of rows first to last, if there are any."""
    if filling.missing.shape[0] > 0:
        rows, missing = filling.rows[first:last], filling.missing[first:last]
        close_rows(rows, missing, filling.lam, filling.price, out)


@kernel
def _add_cones(part, out, sums):
    """Add x r to pull, x^2 to weight, the use of each atom to u0, u1 and u2."""
    pull, weight = sums.pull[part], sums.weight[part]
    for row in range(out.errors.shape[0]):
        sums.error[part] += out.errors[row]
        sums.objective[part] += out.errors[row] * out.errors[row]
        residual = out.residuals[row]
        for q in range(out.support.shape[1]):
            j = out.support[row, q]
            if j < 0:
                break
            x = out.values[row, q]
            weight[j] += x * x
            add(pull[j], x, residual)
            _count_use(part, j, x, sums)


@kernel
def _add_gaussians(part, atoms, spreads, out, sums):
    """Add the actual atoms alpha d + beta r = unit(d + v x r), split into d and r, to the sums."""
    pull, weight = sums.pull[part], sums.weight[part]
    for row in range(out.errors.shape[0]):
        sums.error[part] += out.errors[row]
        sums.objective[part] += out.objective[row]
        residual = out.residuals[row]
        square = dot(residual, residual)
        for q in range(out.support.shape[1]):
            j = out.support[row, q]
            if j < 0:
                break
            x = out.values[row, q]
            lean = spreads[j] * x
            alpha = 1.0 / np.sqrt(1.0 + 2.0 * lean * dot(atoms[j], residual) + lean * lean * square)
            weight[j] += alpha
            add(pull[j], lean * alpha, residual)
            _count_use(part, j, x, sums)


@kernel
def _count_use(part, j, x, sums):
    """Add one use of atom j, with coefficient x."""
    sums.u0[part, j] += 1.0
    sums.u1[part, j] += abs(x)
    sums.u2[part, j] += x * x
