"""Gaussian atoms made ready for Gauss-L1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from setatoms.backends import CHUNK_ROWS
from setatoms.coding.batch import allocate, rows_of, shared_spaces, signals
from setatoms.coding.blocks import Layout, prepare, sizes_of
from setatoms.coding.chunks import Chunks, Outputs
from setatoms.coding.gauss.kernels import code_chunks
from setatoms.coding.gauss.problem import NO_CODES, Budget, Gaussians
from setatoms.coding.gauss.space import allocate_space

# Multiplications with atoms after which coding has taken longer than starting a thread.
_WORTH_A_THREAD = 400_000
# From this tolerance on, single precision will do, if numbers are not beyond this many times 1.
_COARSE, _IN_RANGE = 1e-5, 1e10
# The start is done when no coefficient would move by more than this share of the threshold. Greedy
# steps are cheaper than the rounds that they save, but beyond a tolerance there are few to save.
_START_SHARE, _SHORT_START_SHARE, _SHORT_START = 0.15, 0.25, 1e-3


def precision_for(tol: float, threshold: float) -> tuple[type[np.floating[Any]], float]:
    """Return in which precision to look for codes, and the largest ||y||^2 that it is for.

    Radii have no say in it: they change while atoms learn, in the same work space.
    """
    if tol >= _COARSE and 1 / _IN_RANGE < threshold < _IN_RANGE:
        return np.float32, _IN_RANGE**2
    return np.float64, np.inf


class GaussCoder:
    """A dictionary of Gaussian atoms made ready for Gauss-L1."""

    minimises = True
    most_rows = CHUNK_ROWS
    usual_sweeps = 8  # rounds; hardly a row has more

    def __init__(
        self,
        atoms: NDArray[Any] | Layout,
        radii: NDArray[np.float64],
        lam: float,
        gamma: float,
        max_sweeps: int,
        tol: float,
    ) -> None:
        # plain numbers: another type would be compiled for anew
        lam, gamma = float(lam), float(gamma)
        threshold = gamma / (2 * lam)
        # beyond these limits an atom is as good as rigid, or free, and squares would overflow
        own = lam * np.minimum(np.maximum(radii, 1e-10), 1e50) ** 2
        widest = float(own.max())
        dtype, farthest = precision_for(tol, threshold)
        if dtype == np.float32 and widest > _IN_RANGE:
            widest = np.inf  # too much for any signal, which then goes alone
        self.layout = layout = prepare(atoms, dtype)
        n_features = layout.atoms.shape[1]
        self.n_atoms = len(layout.atoms)
        # At a minimum no more atoms than features are in use; a few more may be on the way.
        self.width = min(self.n_atoms, n_features + 8)
        spreads = np.ones(layout.columns.shape[1])
        spreads[: self.n_atoms] = own
        self.gaussians = Gaussians(layout, spreads, threshold, widest, farthest, lam)
        resolution = 4 * float(np.finfo(dtype).eps)
        start_share = _SHORT_START_SHARE if tol > _SHORT_START else _START_SHARE
        self.budget = Budget(int(max_sweeps), float(tol), resolution, start_share)
        self.most_sweeps = self.budget.max_sweeps
        self.rows_per_thread = rows_of(_WORTH_A_THREAD, layout)
        self.spaces = shared_spaces(allocate_space, sizes_of(layout), self.width)

    def code_chunks(self, X: NDArray[Any], out: Outputs, chunks: Chunks) -> None:
        """Take some chunks of the rows of X (n, n_features), if any are left, and code them."""
        space = self.spaces.get(chunks.chunk_rows)
        code_chunks(X, self.gaussians, self.budget, NO_CODES, space, out, chunks)

    def solvers(self, X: NDArray[Any]) -> list[str]:
        """Return which solver ended with each row of X (n, n_features): to test and to tune.

        "groups" of rows, "newton" for rows alone, or "descent" where a row does not work out there.
        """
        names: list[str] = []
        for start in range(0, len(X), self.most_rows):
            rows = signals(X, start, min(start + self.most_rows, len(X)))
            chunks = Chunks(np.zeros(1, np.int64), len(rows), 1, np.empty(0), len(rows))
            self.code_chunks(rows, out := allocate(self, rows), chunks)
            space = self.spaces.get(len(rows)).rows
            settled, refined = space.settled[: len(rows)], space.refined[: len(rows)]
            in_groups = settled | (out.n_sweeps >= self.budget.max_sweeps) & ~refined
            alone = np.where(refined, "newton", "descent")
            names.extend(np.where(in_groups, "groups", alone).tolist())
        return names
