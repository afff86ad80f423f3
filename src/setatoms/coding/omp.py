"""Orthogonal matching pursuit: greedy selection, least squares on the support.

After each selection the coefficients are those of the least-squares fit on all atoms chosen so
far. Correlations with the residual never need the residual itself: with ``c0 = D y`` and the Gram
matrix ``G = D D'`` they are ``c0 - sum_q x_q G[j_q]``, so a signal costs one row of a block product
and a few passes over vectors of length ``n_atoms``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setatoms._compile import kernel
from setatoms.coding.batch import Outputs, as_codes, code
from setatoms.coding.blocks import argmax_abs, load_block, norm, prepare
from setatoms.coding.codes import Codes
from setatoms.coding.validation import check_n_nonzero, check_signals_and_atoms


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
    X, atoms = check_signals_and_atoms(X, atoms)
    coder = OmpCoder(atoms, check_n_nonzero(n_nonzero, len(atoms)))
    return as_codes(coder, code(coder, X, n_jobs=n_jobs, members=actual_atoms))


class OmpCoder:
    """A dictionary made ready for orthogonal matching pursuit."""

    minimises = False

    def __init__(self, atoms: NDArray[Any], n_nonzero: int) -> None:
        self.dictionary = prepare(atoms)
        self.n_atoms = len(atoms)
        self.width = n_nonzero

    def fill(self, X: NDArray[Any], out: Outputs) -> None:
        """Code the rows of X (n, n_features) into ``out``."""
        _code_chunk(X, *self.dictionary, out.support, out.values, out.residuals, out.errors)
        if len(out.members):
            used = (out.support >= 0)[:, :, None]
            out.members[:] = np.where(used, self.dictionary.atoms[out.support], 0)


@kernel
def _code_chunk(X, atoms, columns, gram, block_rows, index_mask, support, values, residuals, errors):
    """Code the rows of X (n, m) and fill the four outputs."""
    m, n_padded = columns.shape
    block = np.empty((block_rows, m), X.dtype)
    scales = np.empty(block_rows, X.dtype)
    correlations = np.empty((block_rows, n_padded), X.dtype)
    work = np.empty(n_padded, X.dtype)
    factor = np.empty((values.shape[1], values.shape[1]), X.dtype)
    for start in range(0, X.shape[0], block_rows):
        stop = min(start + block_rows, X.shape[0])
        load_block(X, start, stop, block, scales)
        np.dot(block, columns, correlations)
        for row in range(start, stop):
            y = block[row - start]
            _code_one(
                norm(y), correlations[row - start], gram, index_mask, factor, work,
                support[row], values[row],
            )  # fmt: skip
            errors[row] = _leave_residual(
                y, atoms, support[row], values[row], scales[row - start], residuals[row]
            )


@kernel
def _code_one(length, start, gram, index_mask, factor, work, support, values):
    """Fill support (s,) and values (s,) of a signal with correlations start (n,)."""
    negligible = length * (1e-5 if start.itemsize == 4 else 1e-12)
    for q in range(support.shape[0]):
        support[q] = -1
        values[q] = 0.0
    current = start
    for k in range(support.shape[0]):
        j = argmax_abs(current, index_mask)
        # nothing left to explain, or only rounding noise on an atom that is already in
        if abs(current[j]) <= negligible or not _extend_factor(factor, gram, support, k, j):
            return
        support[k] = j
        _least_squares(factor, start, support, k + 1, values)
        if k + 1 < support.shape[0]:
            _correlate_residual(start, gram, support, values, k + 1, work)
            current = work


@kernel
def _extend_factor(factor, gram, support, k, j):
    """Add the row of atom j to the Cholesky factor in place; False if j depends on the support."""
    pivot = gram[j, j]
    for p in range(k):
        entry = gram[j, support[p]]
        for q in range(p):
            entry -= factor[p, q] * factor[k, q]
        factor[k, p] = entry * factor[p, p]
        pivot -= factor[k, p] * factor[k, p]
    if pivot < (1e-5 if gram.itemsize == 4 else 1e-10):
        return False
    # the diagonal holds inverses: divisions are slow and it is only ever divided by
    factor[k, k] = 1.0 / np.sqrt(pivot)
    return True


@kernel
def _least_squares(factor, start, support, k, values):
    """Fill values[:k] with the coefficients of the least-squares fit on support[:k]."""
    for p in range(k):
        entry = start[support[p]]
        for q in range(p):
            entry -= factor[p, q] * values[q]
        values[p] = entry * factor[p, p]
    for p in range(k - 1, -1, -1):
        entry = values[p]
        for q in range(p + 1, k):
            entry -= factor[q, p] * values[q]
        values[p] = entry * factor[p, p]


@kernel
def _correlate_residual(start, gram, support, values, k, out):
    """Fill out (n,) with the correlations of the residual left by support[:k]."""
    row = gram[support[0]]
    x = values[0]
    for j in range(out.shape[0]):
        out[j] = start[j] - x * row[j]
    for q in range(1, k):
        row = gram[support[q]]
        x = values[q]
        for j in range(out.shape[0]):
            out[j] -= x * row[j]


@kernel
def _leave_residual(y, atoms, support, values, scale, residual):
    """Fill residual (m,) with what the code leaves of y (m,), scale values; return its norm."""
    for i in range(y.shape[0]):
        residual[i] = y[i]
    for q in range(support.shape[0]):
        if support[q] < 0:
            break
        atom = atoms[support[q]]
        x = values[q]
        for i in range(y.shape[0]):
            residual[i] -= x * atom[i]
        values[q] = x * scale
    error = norm(residual) * scale
    if scale != 1.0:
        for i in range(y.shape[0]):
            residual[i] *= scale
    return error
