"""What explanations need to know of a fitted model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setatoms.coding import Codes
from setatoms.learning.atoms import ConeAtoms, GaussianAtoms, VectorAtoms

Array = NDArray[np.float64]

_LARGEST = float(np.finfo(np.float64).max)


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
    mean, scale : ndarray of shape (n_features,)
        A standardised value ``z`` of a feature is ``mean + scale * z`` in its own unit.
    names : tuple of str
        What the features are called.
    n_jobs : int or None, default=-1
        Threads; results do not depend on it.
    """

    kind: GaussianAtoms | ConeAtoms | VectorAtoms
    atoms: Array
    radii: Array
    mean: Array
    scale: Array
    names: tuple[str, ...]
    n_jobs: int | None = -1

    def code(self, Z: Array, *, actual_atoms: bool = False) -> Codes:
        """Represent the standardised rows Z (n, n_features)."""
        return self.kind.code(
            Z, self.atoms, self.radii, n_jobs=self.n_jobs, actual_atoms=actual_atoms
        )

    def in_own_units(self, Z: Array) -> Array:
        """Return standardised rows Z (n, n_features) in the units of their columns, finite."""
        with np.errstate(over="ignore"):
            rows = self.mean + self.scale * Z
        return np.clip(rows, -_LARGEST, _LARGEST, out=rows)
