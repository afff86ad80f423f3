"""Orthogonal matching pursuit: greedy selection, least squares on the support.

After each selection the coefficients are those of the least-squares fit on all atoms chosen so
far. Correlations with the residual never need the residual itself: with ``c0 = D y`` and the Gram
matrix ``G = D D'`` they are ``c0 - sum_q x_q G[j_q]``, so a signal costs one row of a block product
and a few passes over vectors of length ``n_atoms``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setatoms._compile import kernel
from setatoms.coding.batch import Outputs, WorkSpaces, as_codes, code, store
from setatoms.coding.blocks import Block, Dictionary, allocate_block, correlate_block, prepare
from setatoms.coding.codes import Codes
from setatoms.coding.omp_pairs import (
    Pairs,
    allocate_pairs,
    code_pairs,
    largest,
    take_pair,
)
from setatoms.coding.validation import check_n_nonzero, check_signals_and_atoms
from setatoms.lanes import subtract_rows, subtract_rows_argmax
from setatoms.vectors import fill, norm


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

    def __init__(self, atoms: NDArray[Any], n_nonzero: int) -> None:
        self.dictionary = prepare(atoms)
        self.n_atoms = len(atoms)
        self.width = n_nonzero
        self._spaces = WorkSpaces(_allocate, self.dictionary, n_nonzero)

    def fill(self, X: NDArray[Any], out: Outputs) -> None:
        """Code the rows of X (n, n_features) into ``out``."""
        _code_chunk(X, self.dictionary, self._spaces.get(0), out)
        if len(out.members):
            used = (out.support >= 0)[:, :, None]
            out.members[:] = np.where(used, self.dictionary.atoms[out.support], 0)


class _Work(NamedTuple):
    """Work space of the kernels."""

    block: Block
    pairs: Pairs
    correlations: NDArray[np.float64]  # (n_padded,): with the residual
    factor: NDArray[np.float64]  # (n_nonzero, n_nonzero): Cholesky, of the support's Gram matrix
    x: NDArray[np.float64]  # (n_nonzero,)


def _allocate(_n: int, dictionary: Dictionary, n_nonzero: int) -> _Work:
    n_padded = dictionary.columns.shape[1]
    return _Work(
        block=allocate_block(dictionary),
        pairs=allocate_pairs(dictionary),
        correlations=np.empty(n_padded),
        factor=np.empty((n_nonzero, n_nonzero)),
        x=np.empty(n_nonzero),
    )


@kernel
def _code_chunk(X, dictionary, work, out):
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


@kernel
def _code_one(length, start, dictionary, work, support):
    """Fill support (s,) and work.x for a signal with correlations start (n,); return how many."""
    n, s = start.shape[0], support.shape[0]
    gram, mask, x = dictionary.gram, dictionary.index_mask, work.x
    fill(support, -1)
    j = largest(n, start, mask)
    correlation = start[j]
    for k in range(s):
        # nothing left to explain, or only rounding noise on an atom that is already in
        if abs(correlation) <= 1e-12 * length or not _extend(work.factor, gram, support, k, j):
            return k
        support[k] = j
        _least_squares(work.factor, start, support, k + 1, x)
        if k + 1 < s:
            now = work.correlations
            j = subtract_rows_argmax(n, now, start, gram, support, x, k + 1, mask)
            correlation = now[j]
    return s


@kernel
def _extend(factor, gram, support, k, j):
    """Add the row of atom j to the Cholesky factor in place; False if j depends on the support."""
    pivot = gram[j, j]
    for p in range(k):
        entry = gram[j, support[p]]
        for q in range(p):
            entry -= factor[p, q] * factor[k, q]
        factor[k, p] = entry * factor[p, p]
        pivot -= factor[k, p] * factor[k, p]
    if pivot < 1e-10:
        return False
    # the diagonal holds inverses: divisions are slow and it is only ever divided by
    factor[k, k] = 1.0 / np.sqrt(pivot)
    return True


@kernel
def _least_squares(factor, start, support, k, x):
    """Fill x[:k] with the coefficients of the least-squares fit on support[:k]."""
    for p in range(k):
        entry = start[support[p]]
        for q in range(p):
            entry -= factor[p, q] * x[q]
        x[p] = entry * factor[p, p]
    for p in range(k - 1, -1, -1):
        entry = x[p]
        for q in range(p + 1, k):
            entry -= factor[q, p] * x[q]
        x[p] = entry * factor[p, p]
