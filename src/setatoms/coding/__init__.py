"""Sparse coding: one file a coder, all returning `Codes`."""

from setatoms.coding.codes import Codes
from setatoms.coding.cone_omp import cone_omp
from setatoms.coding.gauss_l1 import gauss_l1
from setatoms.coding.omp import omp

__all__ = ["Codes", "cone_omp", "gauss_l1", "omp"]
