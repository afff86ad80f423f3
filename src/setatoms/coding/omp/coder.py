"""A dictionary made ready for orthogonal matching pursuit, and the work space it takes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms.coding.batch import Chunks, Outputs, WorkSpaces, rows_of
from setatoms.coding.blocks import Layout, SignalBlock, allocate_block, prepare
from setatoms.coding.omp.kernels import code_chunks
from setatoms.coding.omp.pairs import OmpPairs, allocate_pairs
from setatoms.lanes import aligned_zeros

# Multiplications with atoms after which coding has taken longer than starting a thread.
_WORTH_A_THREAD = 4_000_000


class OmpCoder:
    """A dictionary made ready for orthogonal matching pursuit."""

    minimises = False
    most_rows = 2048

    def __init__(self, atoms: NDArray[Any] | Layout, n_nonzero: int) -> None:
        self.layout = prepare(atoms)
        self.n_atoms = len(self.layout.atoms)
        self.width = int(n_nonzero)
        self.most_sweeps = self.width
        self.rows_per_thread = rows_of(_WORTH_A_THREAD, self.layout)
        self.spaces = WorkSpaces(_allocate, self.layout, self.width)

    def code_chunks(self, X: NDArray[Any], out: Outputs, chunks: Chunks) -> None:
        """Take some chunks of the rows of X (n, n_features), if any are left, and code them."""
        code_chunks(X, self.layout, self.spaces.get(0), out, chunks)


class _Work(NamedTuple):
    """Work space of the kernels."""

    block: SignalBlock
    pairs: OmpPairs
    basis: NDArray[np.float64]  # (n_nonzero, n_padded): products of atoms with directions
    order: NDArray[np.int64]  # (n_nonzero,): 0, 1, ...
    factor: NDArray[np.float64]  # (n_nonzero, n_nonzero): Cholesky, of the support's Gram matrix
    along: NDArray[np.float64]  # (n_nonzero,): coefficients of the directions
    x: NDArray[np.float64]  # (n_nonzero,): coefficients of the atoms


def _allocate(_n: int, layout: Layout, n_nonzero: int) -> _Work:
    n_padded = layout.columns.shape[1]
    return _Work(
        block=allocate_block(layout),
        pairs=allocate_pairs(layout),
        basis=aligned_zeros((n_nonzero, n_padded)),
        order=np.arange(n_nonzero),
        factor=np.empty((n_nonzero, n_nonzero)),
        along=np.empty(n_nonzero),
        x=np.empty(n_nonzero),
    )
