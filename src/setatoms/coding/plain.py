"""Coders in plain NumPy: what a new coder needs before it is worth compiling."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms.coding.blocks import Layout, prepare
from setatoms.coding.chunks import (
    CHUNKS_PER_CALL,
    Chunks,
    Outputs,
    next_chunk,
    outputs_for,
)

Array = NDArray[np.float64]


class RowCodes(NamedTuple):
    """The codes of a few rows.

    Attributes
    ----------
    support : ndarray of shape (n, width)
        The atoms of each row, padded with -1.
    values : ndarray of shape (n, width)
        Their coefficients, padded with 0.
    actual_atoms : ndarray of shape (n, width, n_features)
        The actual atoms, padded with 0.
    """

    support: NDArray[np.integer[Any]]
    values: Array
    actual_atoms: Array


class PlainCoder(ABC):
    """A dictionary that codes rows in NumPy.

    Parameters
    ----------
    atoms : ndarray of shape (n_atoms, n_features), or Layout
        The centres.
    width : int
        The most atoms that a row can use.
    """

    minimises = False
    most_rows = 512
    most_sweeps = usual_sweeps = 1
    rows_per_thread = 2048

    def __init__(self, atoms: Array | Layout, width: int) -> None:
        self.layout = prepare(atoms)
        self.atoms = self.layout.atoms
        self.n_atoms, self.width = len(self.atoms), width

    @abstractmethod
    def code_rows(self, rows: Array) -> RowCodes:
        """Code rows (n, n_features), each on its own."""

    def code_chunks(self, X: Array, out: Outputs, chunks: Chunks) -> None:
        """Take some chunks of the rows of X (n, n_features), if any are left, and code them."""
        for _ in range(CHUNKS_PER_CALL):
            first, last = next_chunk(chunks, len(X))
            if first >= last or self.layout.halt[0]:
                return
            here = outputs_for(first, last, len(X), out)
            self._fill(X[first:last], here)
            if len(chunks.errors):
                chunks.errors[first:last] = here.errors

    def _fill(self, rows: Array, out: Outputs) -> None:
        codes = self.code_rows(rows)
        out.support[...], out.values[...] = codes.support, codes.values
        out.residuals[...] = rows - np.einsum("nq,nqm->nm", codes.values, codes.actual_atoms)
        out.errors[...] = np.sqrt(np.einsum("nm,nm->n", out.residuals, out.residuals))
        if len(out.members):
            out.members[...] = codes.actual_atoms
