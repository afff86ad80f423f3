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

from setatoms._compile import inlined, kernel
from setatoms.backends import CHUNK_ROWS
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
    store_members,
    take_rows,
)
from setatoms.coding.blocks import Block, Dictionary, allocate_block, correlate_block, prepare
from setatoms.coding.codes import Codes
from setatoms.coding.gauss_active_set import solve
from setatoms.coding.gauss_descent import descend
from setatoms.coding.gauss_group import MOST_PLACES
from setatoms.coding.gauss_rounds import (
    DECLINED,
    DONE,
    OPEN,
    Rounds,
    allocate_rounds,
    solve_in_rounds,
)
from setatoms.coding.gauss_start import choose_greedily
from setatoms.coding.gauss_table import Work, allocate_work
from setatoms.coding.validation import (
    check_count,
    check_positive,
    check_radii,
    check_signals_and_atoms,
)
from setatoms.lanes import subtract_rows
from setatoms.vectors import add, copy, dot, multiply, norm

# Multiplications with atoms after which coding has taken longer than waking a thread.
_WORTH_A_THREAD = 400_000


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
    _warn_of_capped(codes, coder.budget.max_sweeps)
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
    most_rows = CHUNK_ROWS

    def __init__(
        self,
        atoms: NDArray[Any],
        radii: NDArray[np.float64],
        lam: float,
        gamma: float,
        max_sweeps: int,
        tol: float,
    ) -> None:
        # plain numbers: another type would be compiled for anew
        lam, gamma = float(lam), float(gamma)
        n_features = atoms.shape[1]
        self.n_atoms = len(atoms)
        # At a minimum no more atoms than features are in use; a few more may be on the way.
        self.width = min(self.n_atoms, n_features + 8)
        dictionary = prepare(atoms)
        spreads = np.ones(dictionary.columns.shape[1])
        # beyond these limits an atom is as good as rigid, or free, and squares would overflow
        own = lam * np.clip(radii, 1e-10, 1e50) ** 2
        spreads[: self.n_atoms] = own
        self.gaussians = Gaussians(dictionary, spreads, gamma / (2 * lam), float(own.max()), lam)
        self.budget = Budget(int(max_sweeps), float(tol))
        self.halt = dictionary.halt
        self.most_sweeps = self.budget.max_sweeps
        self.rows_a_thread = rows_of(_WORTH_A_THREAD, dictionary)
        self.spaces = WorkSpaces(_allocate_space, dictionary, self.width)

    def take_turns(self, X: NDArray[Any], out: Outputs, turns: Turns) -> None:
        """Take some chunks of the rows of X (n, n_features), if any are left, and code them."""
        space = self.spaces.get(turns.chunk_rows)
        _take_turns(X, self.gaussians, self.budget, NO_START, space, out, turns)


class Start(NamedTuple):
    """Codes to start from: atoms and z of each signal; with no rows, from nothing."""

    support: NDArray[np.int32]  # (n, width), -1 pads
    z: NDArray[np.float64]  # (n, width)

    def rows(self, start: int, stop: int) -> Start:
        """Return views of some rows."""
        return Start(self.support[start:stop], self.z[start:stop])


NO_START = Start(np.empty((0, 0), np.int32), np.empty((0, 0)))


class Gaussians(NamedTuple):
    """A dictionary of Gaussian atoms with the constants of `setatoms.coding.gauss_active_set`."""

    dictionary: Dictionary
    spreads: NDArray[np.float64]  # (n_padded,): lam rho^2, 1 where it pads
    threshold: float  # gamma / (2 lam)
    widest: float  # the largest spread of an atom
    lam: float


class Budget(NamedTuple):
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


class _Space(NamedTuple):
    """Work space of one thread."""

    block: Block
    rows: _Rows
    work: Work
    rounds: Rounds
    members: NDArray[np.float64]  # (width, n_features): actual atoms of the signal at hand
    spreads: NDArray[np.float64]  # (n_padded,): how far its atoms may lean


def _allocate_space(n: int, dictionary: Dictionary, width: int) -> _Space:
    n_features, n_padded = dictionary.columns.shape
    rows = _Rows(
        np.empty((n, n_features)),
        np.empty(n),
        np.empty((n, n_padded)),
        np.empty((n, width)),
        np.empty(n),
        np.empty(n, np.bool_),
    )
    return _Space(
        block=allocate_block(dictionary),
        rows=rows,
        work=allocate_work(n_padded, width),
        rounds=allocate_rounds(n, n_padded),
        members=np.empty((width, n_features)),
        spreads=np.empty(n_padded),
    )


# Where spread * |x| * threshold can exceed this, z loses its hold on x: such signals go to descent.
_MOST_LEAN = 0.5
# A fresh code of more atoms has rounds to go, and the other solver need not start each one anew.
_MOST_FRESH = 10


@kernel
def _take_turns(X, gaussians, budget, start, space, out, turns):
    """Code the next chunks of the rows of X (n, m), from no known codes."""
    for _ in range(CHUNKS_A_CALL):
        first, last = take_rows(turns, X.shape[0])
        if first < last:
            here = outputs_for(first, last, X.shape[0], out)
            fill_gaussian(X[first:last], gaussians, budget, start, space, here)
            report_errors(first, here, turns)


@inlined
def fill_gaussian(X, gaussians, budget, start, space, out):
    """Code the rows of X (n, m) into out, from known codes, which are replaced by the new ones."""
    _correlate(X, gaussians.dictionary, space.block, space.rows)
    _solve_rows(gaussians, budget, start, space.work, space.rounds, space.rows, out)
    _leave_residuals(gaussians.dictionary.atoms, space.rows, out)
    for row in range(X.shape[0]):
        left = not space.rows.settled[row] and out.n_sweeps[row] < budget.max_sweeps
        if left or out.members.shape[0] > 0:
            _fill_members(row, gaussians, out, space.members)
            if left:
                _descend(row, gaussians, budget, space, out)
            if out.members.shape[0] > 0:
                store_members(space.members, out.support[row], out.members[row])
        _unscale(row, gaussians.lam, space.rows.scales[row], out)


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


@inlined
def _solve_rows(gaussians, budget, start, work, rounds, rows, out):
    """Solve all signals within reach: support, values, z, objective, sweeps."""
    _begin_rows(gaussians, start, work, rounds, rows, out)
    solve_in_rounds(gaussians, budget, rounds, rows, out)
    for row in range(out.errors.shape[0]):
        if rounds.state[row] == DECLINED:
            if start.support.shape[0] > 0 and start.support[row, 0] >= 0:
                # an old code that does not work out leads astray: better a fresh start
                rounds.counts[row] = 0
            _solve_alone(row, gaussians, budget, work, rounds, rows, out)
        _pad(rounds.counts[row], out.support[row], rows.z[row], out.values[row])
        if start.support.shape[0] > 0:
            _memorise(row, out.support[row], rows.z[row], start)


@kernel
def _begin_rows(gaussians, start, work, rounds, rows, out):
    """Give every signal its first atoms; one out of reach gets none and is done."""
    for row in range(out.errors.shape[0]):
        square = dot(rows.signals[row], rows.signals[row])
        lean = gaussians.widest * gaussians.threshold * np.sqrt(square)
        k, most, state = 0, MOST_PLACES, DONE
        if rows.scales[row] == 1.0 and lean <= _MOST_LEAN:
            k = _recall(row, start, out.support[row], rows.z[row])
            if k == 0:
                k, most = _choose(row, gaussians, work, rows, out), _MOST_FRESH
            state = OPEN if k <= most else DECLINED
        rounds.counts[row], rounds.state[row], rounds.squares[row] = k, state, square
        out.objective[row], out.n_sweeps[row] = square, 0
        rows.tau[row], rows.settled[row] = 0.0, False


@kernel
def _choose(row, gaussians, work, rows, out):
    """Choose the first atoms of a signal; return how many."""
    dictionary, threshold = gaussians.dictionary, gaussians.threshold
    k = choose_greedily(rows.correlations[row], dictionary, threshold, work)
    for q in range(k):
        out.support[row, q], rows.z[row, q] = work.active[q], work.z_all[work.active[q]]
    return k


@kernel
def _recall(row, start, support, z):
    """Load the code to start from; return its number of atoms."""
    k = 0
    if start.support.shape[0] > 0:
        while k < start.support.shape[1] and start.support[row, k] >= 0:
            support[k], z[k] = start.support[row, k], start.z[row, k]
            k += 1
    return k


@kernel
def _memorise(row, support, z, start):
    """Save the code for the next time."""
    for q in range(start.support.shape[1]):
        start.support[row, q], start.z[row, q] = support[q], z[q]


@inlined
def _solve_alone(row, gaussians, budget, work, rounds, rows, out):
    """Solve a signal from the code it has so far, or greedily from none."""
    n_kept = min(rounds.counts[row], work.width)
    for q in range(n_kept):
        work.kept_active[q], work.kept[0, q] = out.support[row, q], rows.z[row, q]
    k, sweeps, value, tau, settled = solve(
        rows.correlations[row], rounds.squares[row], gaussians.dictionary, gaussians.spreads,
        gaussians.threshold, budget.max_sweeps, budget.tol, n_kept, work,
    )  # fmt: skip
    for q in range(k):
        out.support[row, q] = work.kept_active[q]
        rows.z[row, q] = work.kept[0, q]
        out.values[row, q] = work.kept[0, q] * work.kept[1, q]
    rounds.counts[row], out.objective[row], out.n_sweeps[row] = k, value, sweeps
    rows.tau[row], rows.settled[row] = tau, settled


@kernel
def _pad(k, support, z, x):
    """Mark the places from k on as unused."""
    for q in range(k, support.shape[0]):
        support[q], z[q], x[q] = -1, 0.0, 0.0


@kernel
def _leave_residuals(atoms, rows, out):
    """Fill residuals with (y - sum z d)/(1 + tau), and errors."""
    for row in range(out.errors.shape[0]):
        support, share = out.support[row], 1.0 / (1.0 + rows.tau[row])
        k = 0
        while k < support.shape[0] and support[k] >= 0:
            k += 1
        left = subtract_rows(
            atoms.shape[1], out.residuals[row], rows.signals[row],
            atoms, support, rows.z[row], k, share,
        )  # fmt: skip
        out.errors[row] = share * np.sqrt(left)


@kernel
def _fill_members(row, gaussians, out, members):
    """Fill members (width, m) with a signal's actual atoms unit(d + v x r)."""
    for q in range(out.support.shape[1]):
        j, member = out.support[row, q], members[q]
        if j < 0:
            break
        copy(gaussians.dictionary.atoms[j], member)
        add(member, gaussians.spreads[j] * out.values[row, q], out.residuals[row])
        multiply(member, 1.0 / norm(member))


@kernel
def _descend(row, gaussians, budget, space, out):
    """Finish an unsettled signal by coordinate descent."""
    scale, spreads = space.rows.scales[row], space.spreads
    # y and x shrink by the scale, so atoms grow softer and the threshold lower
    for j in range(spreads.shape[0]):
        spreads[j] = min(gaussians.spreads[j] * scale * scale, 1e100)
    out.n_sweeps[row], out.objective[row] = descend(
        gaussians.dictionary.atoms, spreads, gaussians.threshold / scale,
        budget.max_sweeps, budget.tol, gaussians.dictionary.halt,
        out.n_sweeps[row], out.objective[row],
        out.support[row], out.values[row], space.members, out.residuals[row],
    )  # fmt: skip
    out.errors[row] = norm(out.residuals[row])


@kernel
def _unscale(row, lam, scale, out):
    """Undo the scaling of a signal; give the objective its unit."""
    out.objective[row] *= lam
    if scale != 1.0:
        # far signals have an objective beyond the range of floats
        out.objective[row] = min(out.objective[row] * scale * scale, 1e308)
        out.errors[row] *= scale
        multiply(out.values[row], scale)
        multiply(out.residuals[row], scale)
