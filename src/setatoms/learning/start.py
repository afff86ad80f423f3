"""Where learning starts: rows that point in different directions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import kernel
from setatoms.vectors import copy, inner_product, multiply

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
    rows = np.ascontiguousarray(rows, np.float64)
    squares = (rows**2).sum(axis=1)
    nothing = max(_NOTHING * squares.sum(), _LEAST)
    _choose(rows, squares, squares.copy(), nothing, rng.random(n_atoms), atoms)
    return atoms


@kernel
def _choose(rows, squares, left, nothing, draws, atoms):
    """Fill atoms (n_atoms, m) with normalised rows (n, m) until they leave nothing of any row.

    left (n,) is what the best of them leaves of each; draws are from [0, 1).
    """
    n, m = rows.shape
    total = 0.0
    for i in range(n):
        total += left[i]
    for k in range(atoms.shape[0]):
        if not total > nothing:
            break
        chosen = _find(draws[k] * total, left)
        copy(rows[chosen], atoms[k])
        multiply(atoms[k], 1.0 / np.sqrt(squares[chosen]))
        total = 0.0
        for i in range(n):
            along = inner_product(m, rows[i], atoms[k])
            left[i] = min(left[i], max(squares[i] - along * along, 0.0))
            total += left[i]


@kernel
def _find(sought, weights):
    """Return the first place up to which weights (n,) add up to more than what is sought."""
    total, place = weights[0], 0
    while total <= sought and place < weights.shape[0] - 1:
        place += 1
        total += weights[place]
    return place
