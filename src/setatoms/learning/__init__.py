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
from setatoms.learning.loop import Keeper, Learned, Signals, Standing, Whole, learn, learn_from
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
    "Keeper",
    "Learned",
    "Signals",
    "Standing",
    "VectorAtoms",
    "Whole",
    "aksvd",
    "count_atoms",
    "distribute",
    "find_kind",
    "learn",
    "learn_from",
    "random_atoms",
    "register",
]
