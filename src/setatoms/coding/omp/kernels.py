"""Orthogonal matching pursuit, compiled: the rows of a chunk in blocks, or a signal by itself."""

from __future__ import annotations

import numpy as np

from setatoms._compile import inlined, kernel
from setatoms.coding.blocks import correlate_block
from setatoms.coding.chunks import (
    CHUNKS_PER_CALL,
    next_chunk,
    outputs_for,
    report_errors,
    store,
)
from setatoms.coding.omp.coarse import choose_coarsely, correlate_exactly
from setatoms.coding.omp.pairs import (
    LEAST_CORRELATION,
    LEAST_PIVOT,
    choose_pairs,
    solve_pairs,
    subtract,
    take_pair,
)
from setatoms.coding.omp.steps import fit_block, read_fit
from setatoms.lanes import subtract_rows
from setatoms.vectors import fill, largest, norm


@kernel
def code_chunks(X, layout, coarse, work, out, chunks):
    """Code the next chunks of the rows of X (n, m)."""
    for _ in range(CHUNKS_PER_CALL):
        first, last = next_chunk(chunks, X.shape[0])
        if first < last:
            here = outputs_for(first, last, X.shape[0], out)
            if coarse.block_rows > 0:
                _fill_coarsely(X[first:last], layout, coarse, work, here)
            else:
                _fill_omp(X[first:last], layout, coarse, work, here)
            report_errors(first, here, chunks)


@kernel
def _fill_omp(X, layout, coarse, work, out):
    """Code the rows of X (n, m) into out."""
    block, size, s = work.block, layout.block_rows, out.support.shape[1]
    for start in range(0, X.shape[0], size):
        stop = min(start + size, X.shape[0])
        correlate_block(X, start, stop, layout, block)
        # two atoms, the usual case, have equations of their own
        if s == 2:
            choose_pairs(stop - start, layout, block, work.pairs)
            solve_pairs(stop - start, layout.gram, block.rows, work.pairs)
        elif work.steps.own.shape[0] > 0:
            fit_block(stop - start, out.support[start:stop], layout, coarse, work)
        for row in range(start, stop):
            i, k = row - start, s
            if not _take(i, out.support[row], work):
                length = norm(block.rows[i])
                k = _code_one(length, block.correlations[i], layout, work, out.support[row])
            _finish(row, k, block.rows[i], block.scales[i], layout, work, out)


@kernel
def _fill_coarsely(X, layout, coarse, work, out):
    """Code the rows of X (n, m) into out: with atoms that are chosen in single precision."""
    space, size, s = work.coarse, coarse.block_rows, out.support.shape[1]
    block = space.block
    for start in range(0, X.shape[0], size):
        stop = min(start + size, X.shape[0])
        correlate_block(X, start, stop, coarse, block)
        if s == 2:
            choose_coarsely(stop - start, layout, coarse, space, work.pairs)
            solve_pairs(stop - start, layout.gram, block.rows, work.pairs)
        else:
            fit_block(stop - start, out.support[start:stop], layout, coarse, work)
        for row in range(start, stop):
            i, k = row - start, s
            if not _take(i, out.support[row], work):
                correlate_exactly(i, layout, space)
                k = _code_one(norm(block.rows[i]), space.exact[0], layout, work, out.support[row])
            _finish(row, k, block.rows[i], block.scales[i], layout, work, out)


@inlined
def _take(i, support, work):
    """Fill support (s,) and work.x (s,) of signal i of the block; False if it goes on alone."""
    if support.shape[0] == 2:
        return take_pair(i, work.pairs, support, work.x)
    return work.steps.own.shape[0] > 0 and read_fit(i, work.steps, work.x)


@inlined
def _finish(row, k, y, scale, layout, work, out):
    """Write the code of a signal, k atoms with coefficients work.x, and what it leaves."""
    left = subtract_rows(
        y.shape[0], out.residuals[row], y, layout.atoms, out.support[row], work.x, k, scale
    )
    store(row, scale, k, work.x, np.sqrt(left), out)
    if out.members.shape[0] > 0:
        _store_atoms(layout.atoms, out.support[row], out.members[row])


@kernel
def _store_atoms(atoms, support, target):
    """Copy the atoms in use to target (s, m); zeros for the rest."""
    for q in range(support.shape[0]):
        for i in range(target.shape[1]):
            target[q, i] = atoms[support[q], i] if support[q] >= 0 else 0.0


@inlined
def _code_one(length, correlations, layout, work, support):
    """Fill support (s,) and work.x for a signal; return how many atoms it uses.

    correlations (n,) are those of the signal and become those of what is left. Each atom gives one
    more direction, orthonormal to those before: the products of all atoms with it are a row of
    work.basis, which is a row of the Cholesky factor at the atoms chosen later; the last has none.
    """
    n, s = correlations.shape[0], support.shape[0]
    gram, mask, along = layout.gram, layout.index_mask, work.along
    fill(support, -1)
    j = largest(n, correlations, mask)
    for k in range(s):
        # nothing left to explain, or only rounding noise on an atom that is already in
        idle = abs(correlations[j]) <= LEAST_CORRELATION * length or layout.halt[0] != 0
        if idle or not _extend(gram[j, j], work, k, j):
            _solve(work, k)
            return k
        support[k] = j
        row, inverse = work.factor[k], work.factor[k, k]
        along[k] = correlations[j] * inverse
        if k + 1 < s:
            subtract_rows(n, work.basis[k], gram[j], work.basis, work.order, row, k, inverse)
            j = subtract(n, correlations, work.basis[k], correlations, along[k], mask)
    _solve(work, s)
    return s


@inlined
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


@inlined
def _solve(work, k):
    """Fill work.x[:k] with coefficients of atoms from those of the directions, work.along."""
    factor, x = work.factor, work.x
    for p in range(k - 1, -1, -1):
        entry = work.along[p]
        for q in range(p + 1, k):
            entry -= factor[q, p] * x[q]
        x[p] = entry * factor[p, p]
