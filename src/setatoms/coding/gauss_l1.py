"""Gauss-L1: sparse coding with Gaussian atoms.

A Gaussian atom may be any unit vector ``a``, at a price that grows with its distance from the
centre ``d``. A signal ``y`` is coded by minimising, over unit ``a_j`` and coefficients ``x``,

    sum_j ||a_j - d_j||^2 / rho_j^2  +  lam ||y - sum_j x_j a_j||^2  +  gamma ||x||_1.

The problem is not convex; the solver in `setatoms.coding.gauss_active_set` ends in a stationary
point and never raises the objective on the way.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from setatoms._compile import kernel
from setatoms.coding.batch import Outputs, as_codes, code
from setatoms.coding.blocks import Dictionary, allocate_block, correlate_block, prepare
from setatoms.coding.codes import Codes
from setatoms.coding.gauss_active_set import solve
from setatoms.coding.gauss_descent import descend
from setatoms.coding.gauss_table import allocate_work
from setatoms.coding.validation import (
    check_count,
    check_positive,
    check_radii,
    check_signals_and_atoms,
)
from setatoms.vectors import add, copy, dot, multiply, norm


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
    rows, centres = check_signals_and_atoms(X, atoms)
    coder = GaussCoder(
        centres,
        check_radii(radii, len(centres), low=np.finfo(np.float64).tiny, high=np.inf),
        check_positive("lam", lam),
        check_positive("gamma", gamma),
        check_count("max_sweeps", max_sweeps),
        check_positive("tol", tol),
    )
    codes = as_codes(coder, code(coder, rows, n_jobs=n_jobs, members=actual_atoms))
    _warn_of_capped(codes, coder.max_sweeps)
    return codes


def _warn_of_capped(codes: Codes, max_sweeps: int) -> None:
    n_capped = int(np.sum(codes.n_sweeps == max_sweeps))
    if n_capped:
        warnings.warn(
            f"{n_capped} of {len(codes.errors)} signals were stopped at max_sweeps={max_sweeps}; "
            "raise max_sweeps or tol",
            ConvergenceWarning,
            stacklevel=3,
        )


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
        n_features = atoms.shape[1]
        self.n_atoms = len(atoms)
        # At a minimum no more atoms than features are in use; a few more may be on the way.
        self.width = min(self.n_atoms, n_features + 8)
        self.max_sweeps = max_sweeps
        self.tol = tol
        self.lam = lam
        dictionary = prepare(atoms)
        spreads = np.ones(dictionary.columns.shape[1])
        # beyond these limits an atom is as good as rigid, or free, and squares would overflow
        own = lam * np.clip(radii, 1e-10, 1e50) ** 2
        spreads[: self.n_atoms] = own
        self.gaussians = _Gaussians(dictionary, spreads, gamma / (2 * lam), float(own.max()))

    def fill(self, X: NDArray[Any], out: Outputs) -> None:
        """Code the rows of X (n, n_features) into ``out``."""
        self.fill_from(X, NO_START, out)

    def fill_from(self, X: NDArray[Any], start: Start, out: Outputs) -> None:
        """Code the rows of X from known codes, which are replaced by the new ones."""
        gaussians, budget = self.gaussians, _Budget(self.max_sweeps, self.tol)
        n_features, n_padded = gaussians.dictionary.columns.shape
        rows = _allocate_rows(len(X), n_features, n_padded, self.width)
        block = allocate_block(gaussians.dictionary)
        _correlate(X, gaussians.dictionary, block, rows)
        _solve_rows(gaussians, budget, start, allocate_work(n_padded, self.width), rows, out)
        _leave_residuals(gaussians.dictionary.atoms, rows, out)
        unsettled = np.flatnonzero(~rows.settled & (out.n_sweeps < self.max_sweeps))
        if len(unsettled) or len(out.members):
            members = np.empty((len(X), self.width, n_features))
            _fill_members(gaussians.dictionary.atoms, gaussians.spreads, rows, out, members)
            _descend_rows(unsettled, gaussians, budget, np.empty(n_padded), rows, out, members)
            if len(out.members):
                out.members[:] = np.where((out.support >= 0)[:, :, None], members, 0)
        _unscale(self.lam, rows.scales, out)


class Start(NamedTuple):
    """Codes to start from: atoms and z of each signal; with no rows, from nothing."""

    support: NDArray[np.int32]  # (n, width), -1 pads
    z: NDArray[np.float64]  # (n, width)

    def rows(self, start: int, stop: int) -> Start:
        """Return views of some rows."""
        return Start(self.support[start:stop], self.z[start:stop])


NO_START = Start(np.empty((0, 0), np.int32), np.empty((0, 0)))


class _Gaussians(NamedTuple):
    """A dictionary of Gaussian atoms with the constants of `setatoms.coding.gauss_active_set`."""

    dictionary: Dictionary
    spreads: NDArray[np.float64]  # (n_padded,): lam rho^2, 1 where it pads
    threshold: float  # gamma / (2 lam)
    widest: float  # the largest spread of an atom


class _Budget(NamedTuple):
    """When a signal is done."""

    max_sweeps: int
    tol: float


class _Rows(NamedTuple):
    """What the steps of coding hand on for each of n signals."""

    signals: NDArray[np.float64]  # (n, n_features): extreme ones scaled
    scales: NDArray[np.float64]  # (n,)
    correlations: NDArray[np.float64]  # (n, n_padded)
    z: NDArray[np.float64]  # (n, width)
    tau: NDArray[np.float64]  # (n,)
    settled: NDArray[np.bool_]  # (n,)


def _allocate_rows(n: int, n_features: int, n_padded: int, width: int) -> _Rows:
    return _Rows(
        np.empty((n, n_features)),
        np.empty(n),
        np.empty((n, n_padded)),
        np.empty((n, width)),
        np.empty(n),
        np.empty(n, np.bool_),
    )


# Where spread * |x| * threshold can exceed this, z loses its hold on x: such signals go to descent.
_MOST_LEAN = 0.5


@kernel
def _correlate(X, dictionary, block, rows):
    """Fill signals, scales and correlations."""
    size = dictionary.block_rows
    for start in range(0, X.shape[0], size):
        stop = min(start + size, X.shape[0])
        correlate_block(X, start, stop, dictionary, block)
        for row in range(start, stop):
            rows.scales[row] = block.scales[row - start]
            copy(block.rows[row - start], rows.signals[row])
            copy(block.correlations[row - start], rows.correlations[row])


@kernel
def _solve_rows(gaussians, budget, start, work, rows, out):
    """Solve all signals within reach of the active set: support, values, z, objective, sweeps."""
    for row in range(rows.scales.shape[0]):
        square = dot(rows.signals[row], rows.signals[row])
        lean = gaussians.widest * gaussians.threshold * np.sqrt(square)
        k, sweeps, value, tau, settled = 0, 0, square, 0.0, False
        if rows.scales[row] == 1.0 and lean <= _MOST_LEAN:
            n_kept = _recall(row, start, work)
            k, sweeps, value, tau, settled = solve(
                rows.correlations[row], square, gaussians.dictionary, gaussians.spreads,
                gaussians.threshold, budget.max_sweeps, budget.tol, n_kept, work,
            )  # fmt: skip
            _memorise(row, k, work, start)
        for q in range(out.support.shape[1]):
            used = q < k
            out.support[row, q] = work.kept_active[q] if used else -1
            rows.z[row, q] = work.kept[0, q] if used else 0.0
            out.values[row, q] = work.kept[0, q] * work.kept[1, q] if used else 0.0
        rows.tau[row] = tau
        rows.settled[row] = settled
        out.objective[row] = value
        out.n_sweeps[row] = sweeps


@kernel
def _recall(row, start, work):
    """Load the code to start from; return its number of atoms."""
    k = 0
    if start.support.shape[0] > 0:
        while k < start.support.shape[1] and start.support[row, k] >= 0:
            work.kept_active[k] = start.support[row, k]
            work.kept[0, k] = start.z[row, k]
            k += 1
    return k


@kernel
def _memorise(row, k, work, start):
    """Save the code for the next time."""
    if start.support.shape[0] > 0:
        for q in range(start.support.shape[1]):
            start.support[row, q] = work.kept_active[q] if q < k else -1
            start.z[row, q] = work.kept[0, q] if q < k else 0.0


@kernel
def _leave_residuals(atoms, rows, out):
    """Fill residuals with (y - sum z d)/(1 + tau), and errors."""
    for row in range(rows.scales.shape[0]):
        residual = out.residuals[row]
        copy(rows.signals[row], residual)
        for q in range(out.support.shape[1]):
            if out.support[row, q] < 0:
                break
            add(residual, -rows.z[row, q], atoms[out.support[row, q]])
        multiply(residual, 1.0 / (1.0 + rows.tau[row]))
        out.errors[row] = norm(residual)


@kernel
def _fill_members(atoms, spreads, rows, out, members):
    """Fill members (n, width, m) with the actual atoms unit(d + v x r)."""
    for row in range(rows.scales.shape[0]):
        for q in range(out.support.shape[1]):
            j, member = out.support[row, q], members[row, q]
            if j < 0:
                break
            copy(atoms[j], member)
            add(member, spreads[j] * out.values[row, q], out.residuals[row])
            multiply(member, 1.0 / norm(member))


@kernel
def _descend_rows(chosen, gaussians, budget, spreads, rows, out, members):
    """Finish the chosen signals by coordinate descent; spreads (n,) is work space."""
    for row in chosen:
        scale = rows.scales[row]
        # y and x shrink by the scale, so atoms grow softer and the threshold lower
        for j in range(spreads.shape[0]):
            spreads[j] = min(gaussians.spreads[j] * scale * scale, 1e100)
        out.n_sweeps[row], out.objective[row] = descend(
            gaussians.dictionary.atoms, spreads, gaussians.threshold / scale,
            budget.max_sweeps, budget.tol, out.n_sweeps[row], out.objective[row],
            out.support[row], out.values[row], members[row], out.residuals[row],
        )  # fmt: skip
        out.errors[row] = norm(out.residuals[row])


@kernel
def _unscale(lam, scales, out):
    """Undo the scaling of signals; give the objective its unit."""
    for row in range(scales.shape[0]):
        out.objective[row] *= lam
        scale = scales[row]
        if scale != 1.0:
            # far signals have an objective beyond the range of floats
            out.objective[row] = min(out.objective[row] * scale * scale, 1e308)
            out.errors[row] *= scale
            multiply(out.values[row], scale)
            multiply(out.residuals[row], scale)
