"""Cone-OMP: orthogonal matching pursuit with cones instead of vectors.

A cone atom is the set of unit vectors within chord distance ``rho`` of its centre ``d``; ``c = 1 -
rho^2/2`` is the cosine of its half-angle. For a residual ``r`` at cosine ``p = |<d, r>|/||r||``
from the centre,

- a cone with ``p >= c`` contains ``+-r`` and represents it exactly,
- otherwise its closest member is ``d`` rotated towards ``+-r`` by the half-angle, at cosine
  ``c p + sqrt((1 - c^2)(1 - p^2))`` from it.

Each step takes the cone closest to the residual, fits all coefficients by least squares on the
actual atoms so far, and then lets every atom choose again, in turn, against the residual that the
others leave (coordinate descent).
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
    store_members,
    take_rows,
)
from setatoms.coding.blocks import Block, Dictionary, allocate_block, correlate_block
from setatoms.coding.codes import Codes
from setatoms.coding.cone_pairs import Pairs, allocate_pairs, code_pairs, finish_pair
from setatoms.coding.cone_selection import closest_cone, closest_cone_with_care, prepare_cones
from setatoms.coding.validation import (
    check_count,
    check_n_nonzero,
    check_radii,
    check_signals_and_atoms,
)
from setatoms.vectors import add, copy, dot, fill, multiply, norm

# Multiplications with atoms after which coding has taken longer than waking a thread.
_WORTH_A_THREAD = 2_000_000


def cone_omp(
    X: ArrayLike,
    atoms: ArrayLike,
    radii: ArrayLike,
    *,
    n_nonzero: int = 2,
    cd_sweeps: int = 1,
    n_jobs: int | None = -1,
    actual_atoms: bool = False,
) -> Codes:
    """Represent each signal with at most ``n_nonzero`` cone atoms.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Signals, one a row.
    atoms : array-like of shape (n_atoms, n_features)
        Centres of the cones, unit vectors.
    radii : array-like of shape (n_atoms,)
        Chord distance from the centre to the rim of each cone, in [0, sqrt 2).
    n_nonzero : int, default=2
        Atoms a signal may use.
    cd_sweeps : int, default=1
        Rounds in which every actual atom is chosen again after a new one came in.
    n_jobs : int or None, default=-1
        Threads; the result does not depend on it.
    actual_atoms : bool, default=False
        Return the members of the cones that were used as well.

    Returns
    -------
    Codes
        A signal inside a cone uses that cone alone and has error 0.

    Examples
    --------
    >>> import numpy as np, setatoms
    >>> codes = setatoms.cone_omp([[3.0, 0.1, 0.0]], np.eye(3), [0.1, 0.1, 0.1], n_nonzero=1)
    >>> codes.support, codes.errors
    (array([[0]], dtype=int32), array([0.]))
    """
    rows, centres = check_signals_and_atoms(X, atoms)
    coder = ConeCoder(
        centres,
        check_radii(radii, len(centres), low=0.0, high=np.sqrt(2)),
        check_n_nonzero(n_nonzero, len(centres)),
        check_count("cd_sweeps", cd_sweeps, least=0),
    )
    return as_codes(coder, code(coder, rows, n_jobs=n_jobs, members=actual_atoms))


class ConeCoder:
    """A dictionary of cones made ready for Cone-OMP."""

    minimises = False
    most_rows = 2048

    def __init__(
        self, atoms: NDArray[Any], radii: NDArray[np.float64], n_nonzero: int, cd_sweeps: int
    ) -> None:
        self.cones = prepare_cones(atoms, radii)
        # plain numbers: another type would be compiled for anew
        self.cd_sweeps = int(cd_sweeps)
        self.n_atoms = len(atoms)
        self.width = int(n_nonzero)
        self.halt = self.cones.dictionary.halt
        self.most_sweeps = self.width * (1 + self.cd_sweeps)
        self.rows_a_thread = rows_of(_WORTH_A_THREAD, self.cones.dictionary)
        self.spaces = WorkSpaces(_allocate, self.cones.dictionary, self.width)

    def take_turns(self, X: NDArray[Any], out: Outputs, turns: Turns) -> None:
        """Take some chunks of the rows of X (n, n_features), if any are left, and code them."""
        _take_turns(X, self.cones, self.cd_sweeps, self.spaces.get(0), out, turns)


class _Work(NamedTuple):
    """Work space of the kernels."""

    block: Block
    pairs: Pairs
    x: NDArray[np.float64]  # (n_nonzero,)
    residual: NDArray[np.float64]  # (n_features,)
    chosen: NDArray[np.float64]  # (n_nonzero, n_features): the actual atoms
    products: NDArray[np.float64]  # (n_nonzero, n_nonzero): Cholesky factor of their Gram matrix


def _allocate(_n: int, dictionary: Dictionary, n_nonzero: int) -> _Work:
    n_features = dictionary.columns.shape[0]
    return _Work(
        block=allocate_block(dictionary),
        pairs=allocate_pairs(dictionary),
        x=np.empty(n_nonzero),
        residual=np.empty(n_features),
        chosen=np.empty((n_nonzero, n_features)),
        products=np.empty((n_nonzero, n_nonzero)),
    )


@kernel
def _take_turns(X, cones, cd_sweeps, work, out, turns):
    """Code the next chunks of the rows of X (n, m)."""
    for _ in range(CHUNKS_A_CALL):
        first, last = take_rows(turns, X.shape[0])
        if first < last:
            here = outputs_for(first, last, X.shape[0], out)
            fill_cones(X[first:last], cones, cd_sweeps, work, here)
            report_errors(first, here, turns)


@inlined
def fill_cones(X, cones, cd_sweeps, work, out):
    """Code the rows of X (n, m) into out."""
    size = cones.dictionary.block_rows
    # two atoms without their actual atoms, the usual case, are coded many signals at a time
    in_pairs = out.support.shape[1] == 2 and cd_sweeps == 1 and out.members.shape[0] == 0
    for start in range(0, X.shape[0], size):
        stop = min(start + size, X.shape[0])
        correlate_block(X, start, stop, cones.dictionary, work.block)
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
    atoms, x, residual, chosen = cones.dictionary.atoms, work.x, work.residual, work.chosen
    fill(support, -1)
    fill(x, 0.0)
    copy(y, residual)
    negligible = 1e-13 * norm(y)
    for k in range(support.shape[0]):
        remaining = norm(residual)
        if remaining <= negligible or cones.dictionary.halt[0] != 0:
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
            centre = cones.dictionary.atoms[j]
            x[q], exact = _choose(centre, cones.cosines[j], cones.sines[j], residual, chosen[q])
            if exact:
                return True
            add(residual, -x[q], chosen[q])
    return False
