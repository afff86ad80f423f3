"""AK-SVD: learn ordinary atoms by alternating OMP and one rank-one step an atom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state

from setatoms._compile import kernel
from setatoms.coding.batch import code
from setatoms.coding.blocks import dot, norm
from setatoms.coding.omp import OmpCoder
from setatoms.coding.validation import check_count, check_n_nonzero


def aksvd(
    X: ArrayLike,
    n_atoms: int,
    *,
    n_nonzero: int = 2,
    n_iter: int = 50,
    init: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
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
    X = check_array(X, dtype=np.float64, order="C", input_name="X")
    n_atoms = check_count("n_atoms", n_atoms)
    n_nonzero = check_n_nonzero(n_nonzero, n_atoms)
    n_iter = check_count("n_iter", n_iter, least=0)
    if init is None:
        init = random_atoms(n_atoms, X.shape[1], check_random_state(random_state))
    atoms = _check_start(init, (n_atoms, X.shape[1]))
    for k in range(1, n_iter + 1):
        out = code(OmpCoder(atoms, n_nonzero), X, n_jobs=n_jobs)
        worst_first = np.argsort(-out.errors, kind="stable")[:n_atoms]
        _update_atoms(X, atoms, out.support, out.values, out.residuals, worst_first)
        if on_iteration is not None:
            on_iteration(k, float(out.errors.mean()))
    return atoms


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


@kernel
def _update_atoms(X, atoms, support, values, residuals, worst_first):
    """Update atoms (n, m), values (N, s) and residuals (N, m) in place, one atom after another."""
    first, users = _list_users(support, atoms.shape[0])
    n_replaced = 0
    direction = np.empty(atoms.shape[1])
    for j in range(atoms.shape[0]):
        mine = users[first[j] : first[j + 1]]
        if mine.shape[0] > 0:
            _update_one(atoms[j], mine, values, residuals, direction)
        elif n_replaced < worst_first.shape[0]:
            signal = X[worst_first[n_replaced]]
            n_replaced += 1
            length = norm(signal)
            if length > 0.0:
                atoms[j] = signal / length


@kernel
def _list_users(support, n_atoms):
    """Return first (n_atoms + 1,) and users: atom j stands at flat places users[first[j]:first[j+1]]."""
    first = np.zeros(n_atoms + 1, np.int64)
    for j in support.flat:
        if j >= 0:
            first[j + 1] += 1
    first = np.cumsum(first)
    users = np.empty(first[n_atoms], np.int64)
    place = first.copy()
    for position, j in enumerate(support.flat):
        if j >= 0:
            users[place[j]] = position
            place[j] += 1
    return first, users


@kernel
def _update_one(atom, users, values, residuals, direction):
    """Move atom (m,) to the best direction for its users and keep values and residuals in step."""
    s = values.shape[1]
    m = atom.shape[0]
    direction[:] = 0.0
    weight = 0.0
    for position in users:
        x = values[position // s, position % s]
        residual = residuals[position // s]
        weight += x * x
        for i in range(m):
            direction[i] += x * residual[i]
    for i in range(m):
        direction[i] += weight * atom[i]
    length = norm(direction)
    if length < 1e-12:
        return
    for i in range(m):
        direction[i] /= length
    turn = dot(direction, atom)
    for position in users:
        residual = residuals[position // s]
        old = values[position // s, position % s]
        new = dot(residual, direction) + old * turn
        for i in range(m):
            residual[i] += old * atom[i] - new * direction[i]
        values[position // s, position % s] = new
    atom[:] = direction
