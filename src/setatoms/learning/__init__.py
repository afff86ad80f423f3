"""Dictionary learning: AK-SVD, set-atoms, and how their radii adapt."""

from setatoms.learning.aksvd import aksvd, random_atoms
from setatoms.learning.atoms import ConeAtoms, GaussianAtoms, VectorAtoms
from setatoms.learning.loop import History, Learned, learn
from setatoms.learning.radii import AdaptiveRadii, FixedRadii, count_atoms, distribute

__all__ = [
    "AdaptiveRadii",
    "ConeAtoms",
    "FixedRadii",
    "GaussianAtoms",
    "History",
    "Learned",
    "VectorAtoms",
    "aksvd",
    "count_atoms",
    "distribute",
    "learn",
    "random_atoms",
]
