"""Gauss-L1: sparse coding with Gaussian atoms.

A Gaussian atom may be any unit vector ``a``, at a price that grows with its distance from the centre
``d``. A signal ``y`` is coded by minimising, over unit ``a_j`` and coefficients ``x``,

    sum_j ||a_j - d_j||^2 / rho_j^2  +  lam ||y - sum_j x_j a_j||^2  +  gamma ||x||_1.

The problem is not convex; the solver in `setatoms.coding.gauss_active_set` ends in a stationary point
and never raises the objective on the way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setatoms._compile import kernel
from setatoms.coding.batch import Outputs, as_codes, code
from setatoms.coding.blocks import dot, load_block, norm, prepare
from setatoms.coding.codes import Codes
from setatoms.coding.gauss_active_set import allocate_work, solve
from setatoms.coding.gauss_descent import descend
from setatoms.coding.validation import (
    check_count,
    check_positive,
    check_radii,
    check_signals_and_atoms,
)


def gauss_l1(
    X: ArrayLike,
    atoms: ArrayLike,
    radii: ArrayLike,
    *,
    lam: float = 1.0,
    gamma: float = 1.0,
    max_sweeps: int = 10_000,
    tol: float = 1e-7,
    n_jobs: int | None = -1,
    actual_atoms: bool = False,
) -> Codes:
    """Represent each signal with Gaussian atoms, weighing fit against sparsity and likelihood.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Signals, one a row.
    atoms : array-like of shape (n_atoms, n_features)
        Centres of the Gaussians, unit vectors.
    radii : array-like of shape (n_atoms,)
        Standard deviations, positive.
    lam : float, default=1.0
        Weight of the squared error.
    gamma : float, default=1.0
        Weight of the coefficients' 1-norm.
    max_sweeps : int, default=10_000
        Sweeps after which a signal is left as it is. A sweep settles the atoms in use and then
        looks at all others.
    tol : float, default=1e-7
        A signal is done when a sweep lowers its objective by less than this share.
    n_jobs : int or None, default=-1
        Threads; the result does not depend on it.
    actual_atoms : bool, default=False
        Return the members of the Gaussians that were used as well.

    Returns
    -------
    Codes
        With ``objective`` and ``n_sweeps`` for each signal.

    Examples
    --------
    >>> import numpy as np, setatoms
    >>> codes = setatoms.gauss_l1([[3.0, 0.3, 0.0]], np.eye(3), [0.1, 0.1, 0.1])
    >>> codes.support
    array([[0]], dtype=int32)
    >>> codes.coefficients.toarray().round(2)
    array([[2.5, 0. , 0. ]])
    """
    X, atoms = check_signals_and_atoms(X, atoms)
    radii = check_radii(radii, len(atoms), low=np.finfo(np.float64).tiny, high=np.inf)
    coder = GaussCoder(
        atoms,
        radii,
        check_positive("lam", lam),
        check_positive("gamma", gamma),
        check_count("max_sweeps", max_sweeps),
        check_positive("tol", tol),
    )
    return as_codes(coder, code(coder, X, n_jobs=n_jobs, members=actual_atoms))


class GaussCoder:
    """A dictionary of Gaussian atoms made ready for Gauss-L1."""

    minimises = True

    def __init__(
        self,
        atoms: NDArray[Any],
        radii: NDArray[np.float64],
        lam: float,
        gamma: float,
        max_sweeps: int,
        tol: float,
    ) -> None:
        # Double precision throughout: a code is a balance of terms that nearly cancel.
        self.dictionary = prepare(np.asarray(atoms, dtype=np.float64))
        self.n_atoms, n_features = atoms.shape
        # At a minimum no more atoms than features are in use; a few more may be on the way.
        self.width = min(self.n_atoms, n_features + 8)
        self.spreads = np.zeros(self.dictionary.columns.shape[1])
        self.spreads[: self.n_atoms] = lam * radii**2
        self.lam = lam
        self.threshold = gamma / (2 * lam)
        self.max_sweeps = max_sweeps
        self.tol = tol

    def fill(self, X: NDArray[Any], out: Outputs) -> None:
        """Code the rows of X (n, n_features) into ``out``."""
        _code_chunk(
            X, *self.dictionary, self.spreads, self.threshold, self.max_sweeps, self.tol,
            out.support, out.values, out.residuals, out.errors,
            out.members, out.objective, out.n_sweeps,
        )  # fmt: skip
        np.multiply(out.objective, self.lam, out=out.objective)


# Where spread * |x| * threshold can exceed this, z loses its hold on x: such signals go to descent.
_MOST_LEAN = 0.5


@kernel
def _code_chunk(
    X, atoms, columns, gram, block_rows, index_mask, spreads, threshold, max_sweeps, tol,
    support, values, residuals, errors, members, objective, n_sweeps,
):  # fmt: skip
    """Code the rows of X (n, m) and fill the outputs; objective in units of lam."""
    m, n_padded = columns.shape
    width = support.shape[1]
    block = np.empty((block_rows, m))
    scales = np.empty(block_rows)
    correlations = np.empty((block_rows, n_padded))
    work = allocate_work(n_padded, width)
    x, chosen, residual = np.empty(width), np.empty((width, m)), np.empty(m)
    scaled_spreads = np.empty(n_padded)
    lean = spreads.max() * threshold
    largest = np.finfo(objective.dtype).max
    for start in range(0, X.shape[0], block_rows):
        stop = min(start + block_rows, X.shape[0])
        load_block(X, start, stop, block, scales)
        np.dot(block, columns, correlations)
        for row in range(start, stop):
            y = block[row - start]
            scale = scales[row - start]
            square = dot(y, y)
            residual[:] = y
            k, sweeps, value, settled = 0, 0, square, False
            if scale == 1.0 and lean * np.sqrt(square) <= _MOST_LEAN:
                k, sweeps, value, tau, settled = solve(
                    correlations[row - start], square, gram, spreads, threshold, index_mask,
                    max_sweeps, tol, work,
                )  # fmt: skip
                _leave_residual(k, atoms, tau, work.kept_active, work.kept_z, residual)
                for q in range(k):
                    x[q] = work.kept_z[q] * work.kept_lift[q]
                if not settled or members.shape[0] > 0:
                    _fill_members(k, atoms, spreads, work.kept_active, x, residual, chosen)
            if not settled and sweeps < max_sweeps:
                # y and x shrink by the scale, so atoms grow softer and the threshold lower
                for j in range(spreads.shape[0]):
                    scaled_spreads[j] = min(spreads[j] * scale * scale, 1e100)
                k, sweeps, value = descend(
                    atoms, scaled_spreads, threshold / scale, max_sweeps, tol,
                    k, sweeps, value, work.kept_active, x, chosen, residual,
                )  # fmt: skip
            errors[row] = norm(residual) * scale
            objective[row] = min(value * scale * scale, largest)
            n_sweeps[row] = sweeps
            support[row, :] = -1
            values[row, :] = 0.0
            for q in range(k):
                support[row, q] = work.kept_active[q]
                values[row, q] = x[q] * scale
            for i in range(m):
                residuals[row, i] = residual[i] * scale
            if members.shape[0] > 0:
                members[row] = 0.0
                members[row, :k] = chosen[:k]


@kernel
def _leave_residual(k, atoms, tau, active, z, residual):
    """Turn residual (m,) from y to (y - sum z d)/(1 + tau) in place."""
    for q in range(k):
        atom = atoms[active[q]]
        for i in range(residual.shape[0]):
            residual[i] -= z[q] * atom[i]
    residual /= 1.0 + tau


@kernel
def _fill_members(k, atoms, spreads, active, x, residual, members):
    """Fill members[:k] (k, m) with the actual atoms unit(d + v x r)."""
    for q in range(k):
        atom, member = atoms[active[q]], members[q]
        pull = spreads[active[q]] * x[q]
        for i in range(residual.shape[0]):
            member[i] = atom[i] + pull * residual[i]
        member /= norm(member)
