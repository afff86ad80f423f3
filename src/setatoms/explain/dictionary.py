"""What explanations need to know of a fitted model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setatoms.coding import Codes
from setatoms.learning.atoms import ConeAtoms, GaussianAtoms, VectorAtoms

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Dictionary:
    """Learned atoms, and the units in which rows came.

    Parameters
    ----------
    kind : GaussianAtoms, ConeAtoms or VectorAtoms
        What the atoms are and how a row is coded with them.
    atoms : ndarray of shape (n_atoms, n_features)
        Unit vectors, in standardised units.
    radii : ndarray of shape (n_atoms,)
        Their radii.
    in_own_units : callable
        From standardised rows (n_samples, n_features) to finite rows in the columns' own units.
    names : tuple of str
        What the features are called.
    n_jobs : int or None, default=-1
        Threads; results do not depend on it.
    """

    kind: GaussianAtoms | ConeAtoms | VectorAtoms
    atoms: Array
    radii: Array
    in_own_units: Callable[[Array], Array]
    names: tuple[str, ...]
    n_jobs: int | None = -1

    def code(self, Z: Array, *, actual_atoms: bool = False) -> Codes:
        """Represent the standardised rows Z (n, n_features)."""
        return self.kind.code(
            Z, self.atoms, self.radii, n_jobs=self.n_jobs, actual_atoms=actual_atoms
        )
