"""AK-SVD: learn ordinary atoms by alternating OMP and one rank-one step an atom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state

from setatoms._compile import kernel
from setatoms.backends import run_chunks
from setatoms.coding.batch import allocate, code_into
from setatoms.coding.chunks import Outputs
from setatoms.coding.omp.coder import OmpCoder
from setatoms.coding.validation import check_count, check_magnitude, check_n_nonzero
from setatoms.lanes import Lanes, Vector, lane_kernel
from setatoms.learning.missing import GREEDY, Mask
from setatoms.learning.start import random_atoms
from setatoms.masked import gaps_as_nan
from setatoms.vectors import add, copy, dot, fill, multiply, norm

# Threads share the users of an atom with more than this, in parts of this size.
_SHARED_USERS = 4096


def aksvd(
    X: ArrayLike,
    n_atoms: int,
    *,
    n_nonzero: int = 2,
    n_iter: int = 50,
    init: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
    tol: float = 0.0,
    missing: Mask | None = None,
    n_jobs: int | None = -1,
    on_iteration: Callable[[int, float], None] | None = None,
) -> NDArray[np.float64]:
    """Learn a dictionary by approximate K-SVD.

    Every iteration codes all signals by OMP and then, atom after atom, with ``F`` what the signals
    that use the atom would leave without it and ``x`` their coefficients, sets ``d = unit(F' x)``,
    ``x = F d``. The k-th atom that no signal uses is replaced by the k-th worst represented signal.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Signals, one per row.
    n_atoms : int
        Atoms to learn.
    n_nonzero : int, default=2
        Atoms a signal may use.
    n_iter : int, default=50
        Iterations.
    init : array-like of shape (n_atoms, n_features), optional
        Atoms to start from; by default normalised Gaussian noise.
    random_state : int, RandomState or None, default=None
        Seed of the random start.
    tol : float, default=0.0
        Stop before `n_iter` when an iteration moves no atom by more than this.
    missing : ndarray of shape (n_samples, n_features), optional
        Which entries of `X` were not observed. They start as they are and follow the codes; if `X`
        is a float64 array in C order, it is changed in place there.
    n_jobs : int or None, default=-1
        Threads; the result does not depend on it.
    on_iteration : callable, optional
        Called as ``on_iteration(k, mean_error)`` after each iteration.

    Returns
    -------
    ndarray of shape (n_atoms, n_features)
        Unit vectors.

    Examples
    --------
    >>> import numpy as np, setatoms
    >>> X = np.repeat([[3.0, 4.0], [0.0, 2.0]], 5, axis=0)
    >>> atoms = setatoms.aksvd(X, 2, n_nonzero=1, random_state=0)
    >>> bool(setatoms.omp(X, atoms, n_nonzero=1).errors.max() < 1e-12)
    True
    """
    rows: NDArray[np.float64] = check_array(
        gaps_as_nan(X), dtype=np.float64, order="C", input_name="X"
    )
    n_atoms = check_count("n_atoms", n_atoms)
    n_nonzero = check_n_nonzero(n_nonzero, n_atoms)
    n_iter = check_count("n_iter", n_iter, least=0)
    if init is None:
        init = random_atoms(n_atoms, rows.shape[1], check_random_state(random_state))
    atoms = _check_start(init, (n_atoms, rows.shape[1]))
    return learn_vectors(
        rows,
        atoms,
        n_nonzero=n_nonzero,
        n_iter=n_iter,
        tol=tol,
        missing=missing,
        n_jobs=n_jobs,
        on_iteration=on_iteration,
    )


def learn_vectors(
    rows: NDArray[np.float64],
    atoms: NDArray[np.float64],
    *,
    n_nonzero: int,
    n_iter: int,
    tol: float,
    missing: Mask | None,
    n_jobs: int | None,
    on_iteration: Callable[[int, float], None] | None,
) -> NDArray[np.float64]:
    """Learn a dictionary as `aksvd` does, from float64 rows and unit atoms in C order.

    Atoms are changed in place, and so are the rows where entries are missing.
    """
    check_magnitude(rows)
    n_atoms = len(atoms)
    first, users = np.empty(n_atoms + 1, np.int64), np.empty(len(rows) * n_nonzero, np.int64)
    out = allocate(OmpCoder(atoms, n_nonzero), rows)
    for k in range(1, n_iter + 1):
        code_into(out, OmpCoder(atoms, n_nonzero), rows, n_jobs=n_jobs)
        if missing is not None:
            GREEDY.close(rows, missing, out)
        error = float(out.errors.mean())
        before = atoms.copy()
        _list_users(out.support, first, users)
        _replace_unused(atoms, first, rows, out.errors)
        _update_atoms(atoms, first, users, out, n_jobs)
        if missing is not None:
            GREEDY.close(rows, missing, out)
        if on_iteration is not None:
            on_iteration(k, error)
        if have_stopped(before, atoms, tol):
            break
    return atoms


def have_stopped(before: NDArray[np.float64], atoms: NDArray[np.float64], tol: float) -> bool:
    """Tell whether no atom has moved by more than `tol`; with 0, never."""
    return tol > 0 and bool(np.linalg.norm(atoms - before, axis=1).max() <= tol)


def _check_start(init: ArrayLike, shape: tuple[int, int]) -> NDArray[Any]:
    """Return a normalised copy of the atoms to start from."""
    atoms = check_array(init, dtype=np.float64, order="C", input_name="init")
    if atoms.shape != shape:
        raise ValueError(f"init has shape {atoms.shape}, but n_atoms and X ask for {shape}")
    lengths = np.linalg.norm(atoms, axis=1, keepdims=True)
    if not lengths.all():
        raise ValueError(f"init[{int(np.argmin(lengths))}] is zero; an atom needs a direction")
    return np.ascontiguousarray(atoms / lengths)


@kernel
def _list_users(support, first, users):
    """Fill first (n + 1,) and users (N * s,) by counting."""
    fill(first, 0)
    n_rows, s = support.shape
    for row in range(n_rows):
        for q in range(s):
            if support[row, q] >= 0:
                first[support[row, q] + 1] += 1
    for j in range(1, first.shape[0]):
        first[j] += first[j - 1]
    for row in range(n_rows):
        for q in range(s):
            if support[row, q] >= 0:
                users[first[support[row, q]]] = row * s + q
                first[support[row, q]] += 1
    # every entry has moved on to the start of the next atom
    for j in range(first.shape[0] - 1, 0, -1):
        first[j] = first[j - 1]
    first[0] = 0


def _replace_unused(
    atoms: NDArray[np.float64],
    first: NDArray[np.int64],
    rows: NDArray[np.float64],
    errors: NDArray[np.float64],
) -> None:
    """Put the worst represented rows, which have a direction, where atoms have no users."""
    unused = np.flatnonzero(first[1:] == first[:-1])
    if not len(unused):  # mostly so, and sorting takes as long as a quarter of the coding
        return
    worst_first = np.argsort(-errors, kind="stable")
    for j, row in zip(unused, worst_first, strict=False):
        length = norm(rows[row])
        if length > 0.0:
            atoms[j] = rows[row] * (1.0 / length)


def _update_atoms(
    atoms: NDArray[np.float64],
    first: NDArray[np.int64],
    users: NDArray[np.int64],
    out: Outputs,
    n_jobs: int | None,
) -> None:
    """Update atoms, values and residuals in place, one atom after another.

    Atom j stands at the flat places users[first[j]:first[j + 1]] of the support. Threads share the
    users of an atom that has many.
    """
    direction = np.empty(atoms.shape[1])
    busy = np.flatnonzero(np.diff(first) > _SHARED_USERS)
    start = 0
    for j in busy.tolist():
        _update_range(start, j, atoms, first, users, out.values, out.residuals, direction)
        mine = users[first[j] : first[j + 1]]
        _update_together(atoms[j], mine, out.values, out.residuals, n_jobs)
        start = j + 1
    _update_range(start, len(atoms), atoms, first, users, out.values, out.residuals, direction)


def _update_together(
    atom: NDArray[np.float64],
    users: NDArray[np.int64],
    values: NDArray[np.float64],
    residuals: NDArray[np.float64],
    n_jobs: int | None,
) -> None:
    """Update one atom, its users shared out in parts that depend on their number alone."""

    def pull(start: int, stop: int) -> tuple[NDArray[np.float64], float]:
        part = np.zeros(len(atom))
        return part, _add_pull(users[start:stop], values, residuals, part)

    def follow(start: int, stop: int) -> None:
        _follow(atom, direction, users[start:stop], values, residuals)

    parts = run_chunks(pull, len(users), n_jobs=n_jobs, chunk_rows=_SHARED_USERS)
    direction = np.sum([part for part, _ in parts], axis=0)
    if _aim(atom, sum(weight for _, weight in parts), direction):
        run_chunks(follow, len(users), n_jobs=n_jobs, chunk_rows=_SHARED_USERS)
        atom[:] = direction


@kernel
def _update_range(start, stop, atoms, first, users, values, residuals, direction):
    """Update those of atoms start to stop that have users; direction (m,) is work space."""
    for j in range(start, stop):
        mine = users[first[j] : first[j + 1]]
        fill(direction, 0.0)
        weight = _add_pull(mine, values, residuals, direction)
        if _aim(atoms[j], weight, direction):
            _follow(atoms[j], direction, mine, values, residuals)
            copy(direction, atoms[j])


@kernel
def _add_pull(users, values, residuals, pull):
    """Add x r of all users to pull (m,); return the sum of x^2."""
    s = values.shape[1]
    weight = 0.0
    for position in users:
        x = values[position // s, position % s]
        weight += x * x
        add(pull, x, residuals[position // s])
    return weight


@kernel
def _aim(atom, weight, pull):
    """Turn pull (m,), what users want of the atom, into its new direction; False if it has none."""
    add(pull, weight, atom)
    length = norm(pull)
    if length < 1e-12:
        return False
    multiply(pull, 1.0 / length)
    return True


@kernel
def _follow(atom, direction, users, values, residuals):
    """Bring values and residuals of users in step with the atom's new direction (m,)."""
    s, turn = values.shape[1], dot(direction, atom)
    for position in users:
        residual = residuals[position // s]
        old = values[position // s, position % s]
        new = dot(residual, direction) + old * turn
        _exchange(atom.shape[0], residual, atom, direction, old, new)
        values[position // s, position % s] = new


def _exchange_body(
    residual: Vector, atom: Vector, direction: Vector, old: Vector, new: Vector
) -> Lanes:
    return [residual + old * atom - new * direction], []


_exchange = lane_kernel(3, 2, _exchange_body, writes=(0,), any_length=True)
