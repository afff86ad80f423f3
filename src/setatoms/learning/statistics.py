"""What one pass over the signals must remember to move the atoms.

By default, learning moves the centre of an atom to

    d_j <- unit(weight_j d_j + pull_j)

with sums over the signals that use it: ``weight = sum alpha``, ``pull = sum beta r`` for Gaussian
atoms, whose actual atoms are ``alpha d + beta r``; ``weight = sum x^2``, ``pull = sum x r`` for
cones. Sums over parts of the data add up to the sums over all of it, so parts can be coded
anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Statistics:
    """Sums over a part of the signals.

    Attributes
    ----------
    pull : ndarray of shape (n_atoms, n_features)
    weight : ndarray of shape (n_atoms,)
    n_users : ndarray of shape (n_atoms,)
        Signals that use each atom.
    abs_sum : ndarray of shape (n_atoms,)
        Sum of the absolute coefficients of each atom.
    sq_sum : ndarray of shape (n_atoms,)
        Sum of the squared coefficients of each atom.
    error : float
        Sum of the signals' errors.
    objective : float
        Sum of what the coder minimises.
    n_rows : int
        Number of signals.
    """

    pull: Array
    weight: Array
    n_users: Array
    abs_sum: Array
    sq_sum: Array
    error: float
    objective: float
    n_rows: int

    @property
    def effective_users(self) -> Array:
        """How many signals use each atom, each counted by its share of the coefficients.

        An atom of one signal alone has one; if others use it a little, hardly more.
        """
        return self.abs_sum**2 / np.where(self.sq_sum > 0, self.sq_sum, 1.0)

    def apply(self, atoms: Array) -> Array:
        """Return the re-centred atoms (n_atoms, n_features); one that nothing used stays."""
        centres = self.weight[:, None] * atoms + self.pull
        lengths = np.linalg.norm(centres, axis=1)
        moved = (self.n_users > 0) & (lengths > 0)
        return np.where(moved[:, None], centres / np.where(moved, lengths, 1)[:, None], atoms)
