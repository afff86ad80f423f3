"""Where learning starts: rows that point in different directions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Rows to choose an atom from: with many more, what nobody else represents would always be chosen.
_CANDIDATES_PER_ATOM = 4
# What is left of rows that others represent but for rounding: as a share of all, and of tiny ones.
_NOTHING, _LEAST = 1e-12, float(np.finfo(np.float64).tiny)


def random_atoms(
    n_atoms: int, n_features: int, rng: np.random.RandomState | np.random.Generator
) -> Array:
    """Return atoms (n_atoms, n_features) in random directions: normalised Gaussian noise.

    Parameters
    ----------
    n_atoms : int
        How many.
    n_features : int
        The length of each.
    rng : numpy.random.RandomState or numpy.random.Generator
        Draws the noise.
    """
    atoms = rng.standard_normal((n_atoms, n_features))
    return np.asarray(atoms / np.linalg.norm(atoms, axis=1, keepdims=True))


def spread_atoms(X: Array, n_atoms: int, rng: np.random.Generator) -> Array:
    """Return atoms (n_atoms, n_features): normalised rows of X that point in different directions.

    As k-means++ does for points: every row is drawn with a probability proportional to the square
    of what the best of the atoms before it leaves of the row. Where they leave nothing of any row,
    the rest are random directions.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Signals.
    n_atoms : int
        Number of atoms.
    rng : numpy.random.Generator
        Draws them.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[3.0, 0.0], [0.0, 2.0], [-1.0, 0.0], [0.0, 5.0]])
    >>> atoms = spread_atoms(X, 2, np.random.default_rng(0))
    >>> float(abs(atoms[0] @ atoms[1]))
    0.0
    """
    atoms = random_atoms(n_atoms, X.shape[1], rng)
    n_rows = min(len(X), _CANDIDATES_PER_ATOM * n_atoms)
    rows = X[np.sort(rng.choice(len(X), n_rows, replace=False))] if n_rows < len(X) else X
    squares = (rows**2).sum(axis=1)
    left = squares.copy()
    nothing = max(_NOTHING * squares.sum(), _LEAST)
    for k in range(n_atoms):
        reached = left.cumsum()
        if not reached[-1] > nothing:
            break
        place = np.searchsorted(reached, rng.random() * reached[-1], side="right")
        chosen = min(int(place), len(rows) - 1)
        atoms[k] = rows[chosen] / np.sqrt(squares[chosen])
        # not by BLAS, which would split the product between threads
        along = np.einsum("ij,j->i", rows, atoms[k])
        np.minimum(left, np.maximum(squares - along**2, 0.0), out=left)
    return atoms
