"""Orthogonal matching pursuit: greedy selection, least squares on the support.

After each selection the coefficients are those of the least-squares fit on all atoms chosen so
far. Correlations with the residual never need the residual itself: they start as ``D y`` and change
by combinations of rows of the Gram matrix ``D D'``, so a signal costs one row of a block product
and a few passes over vectors of length ``n_atoms``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setatoms._compile import inlined, kernel
from setatoms.coding.batch import (
    CHUNKS_A_CALL,
    Outputs,
    Turns,
    WorkSpaces,
    as_codes,
    code,
    outputs_for,
    report_errors,
    rows_of,
    store,
    take_rows,
)
from setatoms.coding.blocks import Block, Dictionary, allocate_block, correlate_block, prepare
from setatoms.coding.codes import Codes
from setatoms.coding.omp_pairs import (
    LEAST_CORRELATION,
    LEAST_PIVOT,
    Pairs,
    allocate_pairs,
    code_pairs,
    subtract,
    take_pair,
)
from setatoms.coding.validation import check_n_nonzero, check_signals_and_atoms
from setatoms.lanes import subtract_rows
from setatoms.vectors import fill, largest, norm

# Multiplications with atoms after which coding has taken longer than waking a thread.
_WORTH_A_THREAD = 4_000_000


def omp(
    X: ArrayLike,
    atoms: ArrayLike,
    *,
    n_nonzero: int,
    n_jobs: int | None = -1,
    actual_atoms: bool = False,
) -> Codes:
    """Represent each signal with at most ``n_nonzero`` atoms by orthogonal matching pursuit.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Signals, one a row.
    atoms : array-like of shape (n_atoms, n_features)
        Unit vectors, one a row.
    n_nonzero : int
        Atoms a signal may use.
    n_jobs : int or None, default=-1
        Threads; the result does not depend on it.
    actual_atoms : bool, default=False
        Return the atoms used by each signal as well (here copies of rows of ``atoms``).

    Returns
    -------
    Codes
        A signal that fewer atoms represent exactly uses fewer.

    Examples
    --------
    >>> import numpy as np, setatoms
    >>> codes = setatoms.omp([[3.0, 0.0, 4.0]], np.eye(3), n_nonzero=1)
    >>> codes.coefficients.toarray()
    array([[0., 0., 4.]])
    >>> codes.errors
    array([3.])
    """
    rows, units = check_signals_and_atoms(X, atoms)
    coder = OmpCoder(units, check_n_nonzero(n_nonzero, len(units)))
    return as_codes(coder, code(coder, rows, n_jobs=n_jobs, members=actual_atoms))


class OmpCoder:
    """A dictionary made ready for orthogonal matching pursuit."""

    minimises = False
    most_rows = 2048

    def __init__(self, atoms: NDArray[Any], n_nonzero: int) -> None:
        self.dictionary = prepare(atoms)
        self.n_atoms = len(atoms)
        self.width = int(n_nonzero)
        self.halt = self.dictionary.halt
        self.most_sweeps = self.width
        self.rows_a_thread = rows_of(_WORTH_A_THREAD, self.dictionary)
        self.spaces = WorkSpaces(_allocate, self.dictionary, self.width)

    def take_turns(self, X: NDArray[Any], out: Outputs, turns: Turns) -> None:
        """Take some chunks of the rows of X (n, n_features), if any are left, and code them."""
        _take_turns(X, self.dictionary, self.spaces.get(0), out, turns)


class _Work(NamedTuple):
    """Work space of the kernels."""

    block: Block
    pairs: Pairs
    basis: NDArray[np.float64]  # (n_nonzero, n_padded): products of atoms with directions
    order: NDArray[np.int64]  # (n_nonzero,): 0, 1, ...
    factor: NDArray[np.float64]  # (n_nonzero, n_nonzero): Cholesky, of the support's Gram matrix
    along: NDArray[np.float64]  # (n_nonzero,): coefficients of the directions
    x: NDArray[np.float64]  # (n_nonzero,): coefficients of the atoms


def _allocate(_n: int, dictionary: Dictionary, n_nonzero: int) -> _Work:
    n_padded = dictionary.columns.shape[1]
    return _Work(
        block=allocate_block(dictionary),
        pairs=allocate_pairs(dictionary),
        basis=np.empty((n_nonzero, n_padded)),
        order=np.arange(n_nonzero),
        factor=np.empty((n_nonzero, n_nonzero)),
        along=np.empty(n_nonzero),
        x=np.empty(n_nonzero),
    )


@kernel
def _take_turns(X, dictionary, work, out, turns):
    """Code the next chunks of the rows of X (n, m)."""
    for _ in range(CHUNKS_A_CALL):
        first, last = take_rows(turns, X.shape[0])
        if first < last:
            here = outputs_for(first, last, X.shape[0], out)
            _fill_omp(X[first:last], dictionary, work, here)
            report_errors(first, here, turns)


@inlined
def _fill_omp(X, dictionary, work, out):
    """Code the rows of X (n, m) into out."""
    size = dictionary.block_rows
    # two atoms, the usual case, are found for many signals at a time
    in_pairs = out.support.shape[1] == 2
    for start in range(0, X.shape[0], size):
        stop = min(start + size, X.shape[0])
        correlate_block(X, start, stop, dictionary, work.block)
        if in_pairs:
            code_pairs(stop - start, dictionary, work.block, work.pairs)
        for row in range(start, stop):
            y, scale = work.block.rows[row - start], work.block.scales[row - start]
            k = 2
            if not in_pairs or not take_pair(row - start, work.pairs, out.support[row], work.x):
                correlations = work.block.correlations[row - start]
                k = _code_one(norm(y), correlations, dictionary, work, out.support[row])
            left = subtract_rows(
                y.shape[0], out.residuals[row], y,
                dictionary.atoms, out.support[row], work.x, k, scale,
            )  # fmt: skip
            store(row, scale, k, work.x, np.sqrt(left), out)
            if out.members.shape[0] > 0:
                _store_atoms(dictionary.atoms, out.support[row], out.members[row])


@kernel
def _store_atoms(atoms, support, target):
    """Copy the atoms in use to target (s, m); zeros for the rest."""
    for q in range(support.shape[0]):
        for i in range(target.shape[1]):
            target[q, i] = atoms[support[q], i] if support[q] >= 0 else 0.0


@kernel
def _code_one(length, correlations, dictionary, work, support):
    """Fill support (s,) and work.x for a signal; return how many atoms it uses.

    correlations (n,) are those of the signal and become those of what is left. Each atom gives one
    more direction, orthonormal to those before: the products of all atoms with it are a row of
    work.basis, which is a row of the Cholesky factor at the atoms chosen later.
    """
    n, s = correlations.shape[0], support.shape[0]
    gram, mask, along = dictionary.gram, dictionary.index_mask, work.along
    fill(support, -1)
    j = largest(n, correlations, mask)
    for k in range(s):
        # nothing left to explain, or only rounding noise on an atom that is already in
        idle = abs(correlations[j]) <= LEAST_CORRELATION * length or dictionary.halt[0] != 0
        if idle or not _extend(gram[j, j], work, k, j):
            _solve(work, k)
            return k
        support[k] = j
        row, inverse = work.factor[k], work.factor[k, k]
        subtract_rows(n, work.basis[k], gram[j], work.basis, work.order, row, k, inverse)
        along[k] = correlations[j] * inverse
        if k + 1 < s:
            j = subtract(n, correlations, work.basis[k], correlations, along[k], mask)
    _solve(work, s)
    return s


@kernel
def _extend(square, work, k, j):
    """Add the row of atom j to the Cholesky factor; False if j depends on the atoms before."""
    factor, pivot = work.factor, square
    for p in range(k):
        factor[k, p] = work.basis[p, j]
        pivot -= factor[k, p] * factor[k, p]
    if pivot < LEAST_PIVOT:
        return False
    # the diagonal holds inverses: divisions are slow and it is only ever divided by
    factor[k, k] = 1.0 / np.sqrt(pivot)
    return True


@kernel
def _solve(work, k):
    """Fill work.x[:k] with coefficients of atoms from those of the directions, work.along."""
    factor, x = work.factor, work.x
    for p in range(k - 1, -1, -1):
        entry = work.along[p]
        for q in range(p + 1, k):
            entry -= factor[q, p] * x[q]
        x[p] = entry * factor[p, p]
