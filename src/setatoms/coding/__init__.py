"""Sparse coding: one folder for each coder, what they share beside them, all returning `Codes`."""

from setatoms.coding.codes import Codes
from setatoms.coding.functions import cone_omp, gauss_l1, omp

__all__ = ["Codes", "cone_omp", "gauss_l1", "omp"]
