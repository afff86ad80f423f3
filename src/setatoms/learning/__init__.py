"""Dictionary learning: AK-SVD, set-atoms, and how their radii adapt."""

from setatoms.learning.aksvd import aksvd
from setatoms.learning.dictionary import FittedDictionary
from setatoms.learning.history import History
from setatoms.learning.kinds import (
    KINDS,
    AtomKind,
    ConeAtoms,
    GaussianAtoms,
    VectorAtoms,
    find_kind,
    register,
)
from setatoms.learning.loop import Learned, learn
from setatoms.learning.radii import AdaptiveRadii, FixedRadii, count_atoms, distribute
from setatoms.learning.start import random_atoms

__all__ = [
    "KINDS",
    "AdaptiveRadii",
    "AtomKind",
    "ConeAtoms",
    "FittedDictionary",
    "FixedRadii",
    "GaussianAtoms",
    "History",
    "Learned",
    "VectorAtoms",
    "aksvd",
    "count_atoms",
    "distribute",
    "find_kind",
    "learn",
    "random_atoms",
    "register",
]
