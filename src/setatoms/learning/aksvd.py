"""AK-SVD: learn ordinary atoms by alternating OMP and one rank-one step an atom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state

from setatoms._compile import kernel
from setatoms.backends import single_threaded_blas
from setatoms.coding.batch import code
from setatoms.coding.omp import OmpCoder
from setatoms.coding.validation import check_count, check_n_nonzero
from setatoms.learning.missing import GREEDY, Mask
from setatoms.vectors import add, copy, dot, fill, multiply, norm


# held once for all passes: setting the limit takes as long as coding hundreds of signals
@single_threaded_blas()
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
        Signals, one a row.
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
    rows: NDArray[np.float64] = check_array(X, dtype=np.float64, order="C", input_name="X")
    n_atoms = check_count("n_atoms", n_atoms)
    n_nonzero = check_n_nonzero(n_nonzero, n_atoms)
    n_iter = check_count("n_iter", n_iter, least=0)
    if init is None:
        init = random_atoms(n_atoms, rows.shape[1], check_random_state(random_state))
    atoms = _check_start(init, (n_atoms, rows.shape[1]))
    first, users = np.empty(n_atoms + 1, np.int64), np.empty(len(rows) * n_nonzero, np.int64)
    direction = np.empty(rows.shape[1])
    for k in range(1, n_iter + 1):
        out = code(OmpCoder(atoms, n_nonzero), rows, n_jobs=n_jobs)
        if missing is not None:
            GREEDY.close(rows, missing, out)
        error = float(out.errors.mean())
        before = atoms.copy()
        _list_users(out.support, first, users)
        n_unused = int(np.count_nonzero(first[1:] == first[:-1]))
        worst_first = _largest_first(out.errors, n_unused)
        _update_atoms(rows, atoms, first, users, worst_first, direction, out)
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


def random_atoms(
    n_atoms: int, n_features: int, rng: np.random.RandomState | np.random.Generator
) -> NDArray[np.float64]:
    """Return unit vectors (n_atoms, n_features) in random directions."""
    atoms = rng.standard_normal((n_atoms, n_features))
    return atoms / np.linalg.norm(atoms, axis=1, keepdims=True)


def _check_start(init: ArrayLike, shape: tuple[int, int]) -> NDArray[Any]:
    """Return a normalised copy of the atoms to start from."""
    atoms = check_array(init, dtype=np.float64, order="C", input_name="init")
    if atoms.shape != shape:
        raise ValueError(f"init has shape {atoms.shape}, but n_atoms and X ask for {shape}")
    lengths = np.linalg.norm(atoms, axis=1, keepdims=True)
    if not lengths.all():
        raise ValueError(f"init[{int(np.argmin(lengths))}] is zero; an atom needs a direction")
    return np.ascontiguousarray(atoms / lengths)


def _largest_first(errors: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Return where the n largest are, equal ones in order."""
    # most of the time every atom is used, and sorting takes as long as a quarter of the coding
    return np.argsort(-errors, kind="stable")[:n] if n else np.empty(0, np.int64)


@kernel
def _update_atoms(X, atoms, first, users, worst_first, direction, out):
    """Update atoms (n, m), out.values and out.residuals in place, one atom after another.

    Atom j stands at the flat places users[first[j]:first[j + 1]] of the support.
    """
    n_replaced = 0
    for j in range(atoms.shape[0]):
        if first[j + 1] > first[j]:
            mine = users[first[j] : first[j + 1]]
            _update_one(atoms[j], mine, out.values, out.residuals, direction)
        elif n_replaced < worst_first.shape[0]:
            signal = X[worst_first[n_replaced]]
            n_replaced += 1
            length = norm(signal)
            if length > 0.0:
                copy(signal, atoms[j])
                multiply(atoms[j], 1.0 / length)


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


@kernel
def _update_one(atom, users, values, residuals, direction):
    """Move atom (m,) to the best direction for its users and keep values and residuals in step."""
    s = values.shape[1]
    fill(direction, 0.0)
    weight = 0.0
    for position in users:
        x = values[position // s, position % s]
        weight += x * x
        add(direction, x, residuals[position // s])
    add(direction, weight, atom)
    length = norm(direction)
    if length < 1e-12:
        return
    multiply(direction, 1.0 / length)
    turn = dot(direction, atom)
    for position in users:
        residual = residuals[position // s]
        old = values[position // s, position % s]
        new = dot(residual, direction) + old * turn
        for i in range(atom.shape[0]):
            residual[i] += old * atom[i] - new * direction[i]
        values[position // s, position % s] = new
    copy(direction, atom)
