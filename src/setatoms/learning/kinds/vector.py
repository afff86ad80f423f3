"""Ordinary atoms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setatoms.coding.blocks import Layout
from setatoms.coding.omp.coder import OmpCoder
from setatoms.learning.kinds.base import AtomKind
from setatoms.learning.kinds.listed import register

Array = NDArray[np.float64]


@register
@dataclass(frozen=True)
class VectorAtoms(AtomKind):
    """Ordinary atoms, coded by OMP; their radii are 0 and go unread.

    Parameters
    ----------
    n_nonzero : int, default=2
        Atoms per row.
    """

    name = "vector"
    has_radii = False
    distributions = ()

    n_nonzero: int = 2

    def coder(self, atoms: Array | Layout, radii: Array) -> OmpCoder:
        """Return the atoms made ready for OMP."""
        return OmpCoder(atoms, self.n_nonzero)
