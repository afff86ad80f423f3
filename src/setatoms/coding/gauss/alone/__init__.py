"""Gauss-L1 for the few signals that groups do not solve, one at a time, by Newton's method."""

from setatoms.coding.gauss.alone.refine import refine
from setatoms.coding.gauss.alone.space import Refinement, allocate_refinement

__all__ = ["Refinement", "allocate_refinement", "refine"]
