"""A dictionary made ready for orthogonal matching pursuit, and the work space it takes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms.coding.batch import rows_of, shared_spaces
from setatoms.coding.blocks import (
    Layout,
    SignalBlock,
    Sizes,
    allocate_block,
    in_single_precision,
    prepare,
    sizes_of,
)
from setatoms.coding.chunks import Chunks, Outputs
from setatoms.coding.omp.coarse import CoarseSpace, allocate_coarse
from setatoms.coding.omp.kernels import code_chunks
from setatoms.coding.omp.pairs import OmpPairs, allocate_pairs
from setatoms.coding.omp.steps import MOST_STEPS, OmpSteps, allocate_steps
from setatoms.lanes import aligned_zeros

# Multiplications with atoms after which coding has taken longer than starting a thread.
_WORTH_A_THREAD = 4_000_000
# Multiplications with atoms, per signal, from which single precision pays.
_LARGE = 7_500
_NONE = np.empty((0, 0), np.float32)


class OmpCoder:
    """A dictionary made ready for orthogonal matching pursuit."""

    minimises = False
    most_rows = 2048

    def __init__(self, atoms: NDArray[Any] | Layout, n_nonzero: int) -> None:
        self.layout = prepare(atoms)
        self.n_atoms = len(self.layout.atoms)
        self.width = int(n_nonzero)
        self.most_sweeps = self.usual_sweeps = self.width
        self.rows_per_thread = rows_of(_WORTH_A_THREAD, self.layout)
        self.coarse = self._coarse()
        sizes = sizes_of(self.layout), sizes_of(self.coarse)
        self.spaces = shared_spaces(_allocate, *sizes, self.width)

    def code_chunks(self, X: NDArray[Any], out: Outputs, chunks: Chunks) -> None:
        """Take some chunks of the rows of X (n, n_features), if any are left, and code them."""
        code_chunks(X, self.layout, self.coarse, self.spaces.get(0), out, chunks)

    def _coarse(self) -> Layout:
        """Return the atoms to choose among in single precision; where that is no use, none."""
        if self.width <= MOST_STEPS and self.layout.columns.size >= _LARGE:
            return in_single_precision(self.layout)
        return self.layout._replace(columns=_NONE, gram=_NONE, block_rows=0)


class _Work(NamedTuple):
    """Work space of the kernels."""

    block: SignalBlock
    pairs: OmpPairs
    steps: OmpSteps
    coarse: CoarseSpace
    basis: NDArray[np.float64]  # (n_nonzero, n_padded): products of atoms with directions
    order: NDArray[np.int64]  # (n_nonzero,): 0, 1, ...
    factor: NDArray[np.float64]  # (n_nonzero, n_nonzero): Cholesky, of the support's Gram matrix
    along: NDArray[np.float64]  # (n_nonzero,): coefficients of the directions
    x: NDArray[np.float64]  # (n_nonzero,): coefficients of the atoms


def _allocate(_n: int, sizes: Sizes, coarse: Sizes, n_nonzero: int) -> _Work:
    n_padded, block_rows = sizes.n_padded, max(sizes.block_rows, coarse.block_rows)
    return _Work(
        block=allocate_block(sizes),
        pairs=allocate_pairs(n_padded, block_rows),
        steps=allocate_steps(n_padded, block_rows, n_nonzero),
        coarse=allocate_coarse(sizes, coarse),
        basis=aligned_zeros((n_nonzero, n_padded)),
        order=np.arange(n_nonzero),
        factor=np.empty((n_nonzero, n_nonzero)),
        along=np.empty(n_nonzero),
        x=np.empty(n_nonzero),
    )
