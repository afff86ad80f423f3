"""Cones made ready for Cone-OMP, and the work space it takes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms.coding.batch import rows_of, shared_spaces
from setatoms.coding.blocks import Layout, SignalBlock, Sizes, allocate_block, sizes_of
from setatoms.coding.chunks import Chunks, Outputs
from setatoms.coding.cone.kernels import code_chunks
from setatoms.coding.cone.pairs import ConePairs, allocate_pairs
from setatoms.coding.cone.selection import prepare_cones

# Multiplications with atoms after which coding has taken longer than starting a thread.
_WORTH_A_THREAD = 2_000_000


class ConeCoder:
    """A dictionary of cones made ready for Cone-OMP."""

    minimises = False
    most_rows = 2048

    def __init__(
        self,
        atoms: NDArray[Any] | Layout,
        radii: NDArray[np.float64],
        n_nonzero: int,
        cd_sweeps: int,
    ) -> None:
        self.cones = prepare_cones(atoms, radii)
        self.layout = self.cones.layout
        # plain numbers: another type would be compiled for anew
        self.cd_sweeps = int(cd_sweeps)
        self.n_atoms = len(self.layout.atoms)
        self.width = int(n_nonzero)
        self.most_sweeps = self.usual_sweeps = self.width * (1 + self.cd_sweeps)
        self.rows_per_thread = rows_of(_WORTH_A_THREAD, self.layout)
        self.spaces = shared_spaces(_allocate, sizes_of(self.layout), self.width)

    def code_chunks(self, X: NDArray[Any], out: Outputs, chunks: Chunks) -> None:
        """Take some chunks of the rows of X (n, n_features), if any are left, and code them."""
        code_chunks(X, self.cones, self.cd_sweeps, self.spaces.get(0), out, chunks)


class _Work(NamedTuple):
    """Work space of the kernels."""

    block: SignalBlock
    pairs: ConePairs
    x: NDArray[np.float64]  # (n_nonzero,)
    residual: NDArray[np.float64]  # (n_features,)
    chosen: NDArray[np.float64]  # (n_nonzero, n_features): the actual atoms
    products: NDArray[np.float64]  # (n_nonzero, n_nonzero): Cholesky factor of their Gram matrix


def _allocate(_n: int, sizes: Sizes, n_nonzero: int) -> _Work:
    return _Work(
        block=allocate_block(sizes),
        pairs=allocate_pairs(sizes),
        x=np.empty(n_nonzero),
        residual=np.empty(sizes.n_features),
        chosen=np.empty((n_nonzero, sizes.n_features)),
        products=np.empty((n_nonzero, n_nonzero)),
    )
