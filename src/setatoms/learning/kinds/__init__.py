"""The kinds of atoms: one file for each; everything else knows them by what they declare."""

from setatoms.learning.kinds.base import AtomKind
from setatoms.learning.kinds.cone import ConeAtoms
from setatoms.learning.kinds.gaussian import GaussianAtoms
from setatoms.learning.kinds.listed import KINDS, find_kind, register
from setatoms.learning.kinds.vector import VectorAtoms

__all__ = [
    "KINDS",
    "AtomKind",
    "ConeAtoms",
    "GaussianAtoms",
    "VectorAtoms",
    "find_kind",
    "register",
]
