"""Cone-OMP: orthogonal matching pursuit with cones instead of vectors.

A cone atom is the set of unit vectors within chord distance ``rho`` of its centre ``d``; ``c = 1 -
rho^2/2`` is the cosine of its half-angle. For a residual ``r`` at cosine ``p = |<d, r>|/||r||`` from
the centre,

- a cone with ``p >= c`` contains ``+-r`` and represents it exactly,
- otherwise its closest member is ``d`` rotated towards ``+-r`` by the half-angle, at cosine
  ``c p + sqrt((1 - c^2)(1 - p^2))`` from it.

Each step takes the cone closest to the residual, fits all coefficients by least squares on the
actual atoms so far, and then lets every atom choose again, in turn, against the residual that the
others leave (coordinate descent).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setatoms._compile import kernel, sum_kernel
from setatoms.coding.batch import Outputs, as_codes, code
from setatoms.coding.blocks import Dictionary, argmax_abs, dot, load_block, norm, prepare
from setatoms.coding.codes import Codes
from setatoms.coding.validation import (
    check_count,
    check_n_nonzero,
    check_radii,
    check_signals_and_atoms,
)


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
    X, atoms = check_signals_and_atoms(X, atoms)
    radii = check_radii(radii, len(atoms), low=0.0, high=np.sqrt(2))
    n_nonzero = check_n_nonzero(n_nonzero, len(atoms))
    cd_sweeps = check_count("cd_sweeps", cd_sweeps, least=0)
    coder = ConeCoder(atoms, radii, n_nonzero, cd_sweeps)
    return as_codes(coder, code(coder, X, n_jobs=n_jobs, members=actual_atoms))


class ConeCoder:
    """A dictionary of cones made ready for Cone-OMP."""

    minimises = False

    def __init__(
        self, atoms: NDArray[Any], radii: NDArray[np.float64], n_nonzero: int, cd_sweeps: int
    ) -> None:
        self.dictionary = prepare(atoms)
        self.cosines, self.sines = half_angles(radii, self.dictionary)
        self.n_atoms = len(atoms)
        self.width = n_nonzero
        self.cd_sweeps = cd_sweeps

    def fill(self, X: NDArray[Any], out: Outputs) -> None:
        """Code the rows of X (n, n_features) into ``out``."""
        _code_chunk(
            X, *self.dictionary, self.cosines, self.sines, self.cd_sweeps,
            out.support, out.values, out.residuals, out.errors, out.members,
        )  # fmt: skip


def half_angles(
    radii: NDArray[np.float64], dictionary: Dictionary
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return cosines and sines of the cones' half-angles; zeros for atoms that only pad."""
    cosines = np.zeros(dictionary.columns.shape[1], dtype=dictionary.atoms.dtype)
    sines = np.zeros_like(cosines)
    cosines[: len(radii)] = 1 - radii**2 / 2
    # sqrt(1 - cosine^2) without cancellation for narrow cones
    sines[: len(radii)] = radii * np.sqrt(1 - radii**2 / 4)
    return cosines, sines


@kernel
def _code_chunk(
    X, atoms, columns, gram, block_rows, index_mask, cosines, sines, cd_sweeps,
    support, values, residuals, errors, members,
):  # fmt: skip
    """Code the rows of X (n, m) and fill the outputs; members may be empty."""
    m, n_padded = columns.shape
    s = support.shape[1]
    block = np.empty((block_rows, m), X.dtype)
    scales = np.empty(block_rows, X.dtype)
    correlations = np.empty((block_rows, n_padded), X.dtype)
    closeness = np.empty(n_padded, X.dtype)
    chosen = np.empty((s, m), X.dtype)
    products = np.empty((s, s), X.dtype)
    for start in range(0, X.shape[0], block_rows):
        stop = min(start + block_rows, X.shape[0])
        load_block(X, start, stop, block, scales)
        np.dot(block, columns, correlations)
        for row in range(start, stop):
            y = block[row - start]
            _code_one(
                y, correlations[row - start], atoms, cosines, sines, index_mask, cd_sweeps,
                closeness, products, chosen, support[row], values[row], residuals[row],
            )  # fmt: skip
            scale = scales[row - start]
            errors[row] = norm(residuals[row]) * scale
            if scale != 1.0:
                values[row] *= scale
                residuals[row] *= scale
            if members.shape[0] > 0:
                _store_members(chosen, support[row], members[row])


@kernel
def _code_one(
    y, correlations, atoms, cosines, sines, index_mask, cd_sweeps,
    closeness, products, chosen, support, values, residual,
):  # fmt: skip
    """Fill support (s,), values (s,), residual (m,) and chosen (s, m) for the signal y (m,)."""
    support[:] = -1
    values[:] = 0.0
    residual[:] = y
    negligible = norm(y) * (1e-6 if y.itemsize == 4 else 1e-13)
    for k in range(support.shape[0]):
        remaining = norm(residual)
        if remaining <= negligible:
            return
        if k > 0:
            _correlate(atoms, residual, correlations)
        j = _closest_cone(correlations, remaining, cosines, sines, index_mask, support, k, closeness)
        support[k] = j
        values[k], exact = _choose(atoms[j], cosines[j], sines[j], residual, chosen[k])
        if not exact:
            if k > 0:
                _least_squares(chosen, y, products, values, k + 1)
            _subtract(y, chosen, values, k + 1, residual)
            exact = k > 0 and _descend(
                atoms, cosines, sines, cd_sweeps, chosen, support, values, k + 1, residual
            )
        if exact:
            residual[:] = 0.0
            return


@sum_kernel
def _correlate(atoms, residual, correlations):
    """Fill correlations[:n] with the inner products of atoms (n, m) and residual (m,)."""
    for j in range(atoms.shape[0]):
        correlations[j] = dot(atoms[j], residual)


@kernel
def _closest_cone(correlations, length, cosines, sines, index_mask, support, k, closeness):
    """Return the unused cone at the smallest angle from a residual of that length.

    A cone that contains the residual beats any that does not; among several the centre counts.
    """
    n = correlations.shape[0]
    inverse = 1.0 / length
    for j in range(n):
        p = min(abs(correlations[j]) * inverse, 1.0)
        outside = cosines[j] * p + sines[j] * np.sqrt(1.0 - p * p)
        closeness[j] = 1.0 + p if p >= cosines[j] else outside
    for q in range(k):
        closeness[support[q]] = 0.0
    # cones that only pad have cosine zero, so they would contain everything
    for j in range(n - 1, -1, -1):
        if cosines[j] > 0.0:
            break
        closeness[j] = 0.0
    return argmax_abs(closeness, index_mask)


@kernel
def _choose(centre, cosine, sine, residual, member):
    """Fill member (m,) with the cone's vector closest to +-residual.

    Return its coefficient and whether the residual lies inside the cone.
    """
    length = norm(residual)
    product = dot(centre, residual)
    sign = 1.0 if product >= 0 else -1.0
    if length == 0.0:
        member[:] = centre
        return 0.0 * product, True
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
def _least_squares(chosen, y, products, values, k):
    """Fill values[:k] with the coefficients of y on the first k rows of chosen (s, m).

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
        value = dot(chosen[p], y)
        for t in range(p):
            pivot -= products[p, t] * products[p, t]
            value -= products[p, t] * values[t]
        products[p, p] = 1.0 / np.sqrt(pivot) if pivot > 1e-12 else 0.0
        values[p] = value * products[p, p]
    for p in range(k - 1, -1, -1):
        for t in range(p + 1, k):
            values[p] -= products[t, p] * values[t]
        values[p] *= products[p, p]


@kernel
def _subtract(y, chosen, values, k, residual):
    """Fill residual (m,) with y minus the first k terms."""
    residual[:] = y
    for q in range(k):
        _add(residual, -values[q], chosen[q])


@kernel
def _descend(atoms, cosines, sines, cd_sweeps, chosen, support, values, k, residual):
    """Let each of the first k atoms choose again in turn; True if one made the fit exact."""
    for _ in range(cd_sweeps):
        for q in range(k):
            _add(residual, values[q], chosen[q])
            j = support[q]
            values[q], exact = _choose(atoms[j], cosines[j], sines[j], residual, chosen[q])
            if exact:
                return True
            _add(residual, -values[q], chosen[q])
    return False


@kernel
def _add(vector, factor, other):
    """Add factor * other (m,) to vector (m,) in place."""
    for i in range(vector.shape[0]):
        vector[i] += factor * other[i]


@kernel
def _store_members(chosen, support, members):
    """Copy the actual atoms in use to members (s, m); zeros for the rest."""
    for q in range(support.shape[0]):
        for i in range(members.shape[1]):
            members[q, i] = chosen[q, i] if support[q] >= 0 else 0.0
