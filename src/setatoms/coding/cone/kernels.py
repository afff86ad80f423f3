"""Cone-OMP, compiled: the rows of a chunk, then one signal after the other."""

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
    store_members,
)
from setatoms.coding.cone.pairs import code_pairs, finish_pair
from setatoms.coding.cone.selection import closest_cone, closest_cone_with_care
from setatoms.vectors import add, copy, dot, fill, multiply, norm


@kernel
def code_chunks(X, cones, cd_sweeps, work, out, chunks):
    """Code the next chunks of the rows of X (n, m)."""
    for _ in range(CHUNKS_PER_CALL):
        first, last = next_chunk(chunks, X.shape[0])
        if first < last:
            here = outputs_for(first, last, X.shape[0], out)
            fill_cones(X[first:last], cones, cd_sweeps, work, here)
            report_errors(first, here, chunks)


@inlined
def fill_cones(X, cones, cd_sweeps, work, out):
    """Code the rows of X (n, m) into out."""
    size = cones.layout.block_rows
    # two atoms without their actual atoms, the usual case, are coded many signals at a time
    in_pairs = out.support.shape[1] == 2 and cd_sweeps == 1 and out.members.shape[0] == 0
    for start in range(0, X.shape[0], size):
        stop = min(start + size, X.shape[0])
        correlate_block(X, start, stop, cones.layout, work.block)
        if in_pairs:
            code_pairs(stop - start, cones, work.block, work.pairs)
        for row in range(start, stop):
            i = row - start
            y, scale = work.block.rows[i], work.block.scales[i]
            support, residual = out.support[row], out.residuals[row]
            error = -1.0
            if in_pairs:
                error = finish_pair(i, y, scale, cones, work.pairs, support, work.x, residual)
            if error < 0.0:
                _code_one(y, work.block.correlations[i], cones, cd_sweeps, work, support)
                error = norm(work.residual)
                copy(work.residual, residual)
                multiply(residual, scale)
            store(row, scale, support.shape[0], work.x, error, out)
            if out.members.shape[0] > 0:
                store_members(work.chosen, support, out.members[row])


@kernel
def _code_one(y, correlations, cones, cd_sweeps, work, support):
    """Fill support (s,), work.x, work.residual and work.chosen for the signal y (m,)."""
    atoms, x, residual, chosen = cones.layout.atoms, work.x, work.residual, work.chosen
    fill(support, -1)
    fill(x, 0.0)
    copy(y, residual)
    negligible = 1e-13 * norm(y)
    for k in range(support.shape[0]):
        remaining = norm(residual)
        if remaining <= negligible or cones.layout.halt[0] != 0:
            return
        if k > 0:
            _correlate(atoms, residual, correlations)
        j = _closest_unused(correlations, remaining, cones, support, k)
        support[k] = j
        x[k], exact = _choose(atoms[j], cones.cosines[j], cones.sines[j], residual, chosen[k])
        if not exact:
            if k > 0:
                _least_squares(chosen, y, work.products, x, k + 1)
            _subtract(y, chosen, x, k + 1, residual)
            exact = k > 0 and _descend(cones, cd_sweeps, chosen, support, x, k + 1, residual)
        if exact:
            fill(residual, 0.0)
            return


@kernel
def _correlate(atoms, residual, correlations):
    """Fill correlations[:n] with the inner products of atoms (n, m) and residual (m,)."""
    for j in range(atoms.shape[0]):
        correlations[j] = dot(atoms[j], residual)


@kernel
def _closest_unused(correlations, length, cones, support, k):
    """Return the cone, not in support[:k], closest to a residual of that length."""
    j = closest_cone(correlations, length, cones)
    for q in range(k):
        if support[q] == j:
            j = -1
    if j < 0:
        return closest_cone_with_care(correlations, length, cones, support, k)
    return j


@kernel
def _choose(centre, cosine, sine, residual, member):
    """Fill member (m,) with the cone's vector closest to +-residual.

    Return its coefficient and whether the residual lies inside the cone.
    """
    length = norm(residual)
    if length == 0.0:
        copy(centre, member)
        return 0.0, True
    product = dot(centre, residual)
    sign = 1.0 if product >= 0.0 else -1.0
    p = min(abs(product) / length, 1.0)
    if p >= cosine:
        for i in range(member.shape[0]):
            member[i] = sign * residual[i] / length
        return sign * length, True
    lean = sine / np.sqrt(1.0 - p * p)
    keep = cosine - lean * p
    lean *= sign / length
    for i in range(member.shape[0]):
        member[i] = keep * centre[i] + lean * residual[i]
    return keep * product + lean * length * length, False


@kernel
def _least_squares(chosen, y, products, x, k):
    """Fill x[:k] with the coefficients of y on the first k rows of chosen (s, m).

    Solves the normal equations by Cholesky; products (s, s) is overwritten, its diagonal holds
    inverses. An atom that depends on the others gets coefficient zero.
    """
    for p in range(k):
        for q in range(p):
            entry = dot(chosen[p], chosen[q])
            for t in range(q):
                entry -= products[p, t] * products[q, t]
            products[p, q] = entry * products[q, q]
        pivot = dot(chosen[p], chosen[p])
        entry = dot(chosen[p], y)
        for t in range(p):
            pivot -= products[p, t] * products[p, t]
            entry -= products[p, t] * x[t]
        products[p, p] = 1.0 / np.sqrt(pivot) if pivot > 1e-12 else 0.0
        x[p] = entry * products[p, p]
    for p in range(k - 1, -1, -1):
        for t in range(p + 1, k):
            x[p] -= products[t, p] * x[t]
        x[p] *= products[p, p]


@kernel
def _subtract(y, chosen, x, k, residual):
    """Fill residual (m,) with y minus the first k terms."""
    copy(y, residual)
    for q in range(k):
        add(residual, -x[q], chosen[q])


@kernel
def _descend(cones, cd_sweeps, chosen, support, x, k, residual):
    """Let each of the first k atoms choose again in turn; True if one made the fit exact."""
    for _ in range(cd_sweeps):
        for q in range(k):
            add(residual, x[q], chosen[q])
            j = support[q]
            centre = cones.layout.atoms[j]
            x[q], exact = _choose(centre, cones.cosines[j], cones.sines[j], residual, chosen[q])
            if exact:
                return True
            add(residual, -x[q], chosen[q])
    return False
