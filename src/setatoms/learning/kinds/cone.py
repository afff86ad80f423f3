"""Cones around a centre."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import kernel
from setatoms.backends import CHUNK_ROWS, fetch_add
from setatoms.coding.batch import signals
from setatoms.coding.blocks import Layout
from setatoms.coding.chunks import CHUNKS_PER_CALL, outputs_for
from setatoms.coding.cone.coder import ConeCoder
from setatoms.coding.cone.kernels import fill_cones
from setatoms.geometry import pull_back, separate
from setatoms.learning.kinds.base import AtomKind
from setatoms.learning.kinds.listed import register
from setatoms.learning.missing import Mask
from setatoms.learning.passes import Memory, count_use, fill_in, filling_of, sum_parts
from setatoms.learning.statistics import Statistics
from setatoms.vectors import add

Array = NDArray[np.float64]


@register
@dataclass(frozen=True)
class ConeAtoms(AtomKind):
    """Cones, coded by Cone-OMP; no two may overlap.

    Parameters
    ----------
    n_nonzero : int, default=2
        Atoms per row.
    cd_sweeps : int, default=1
        Rounds in which every chosen atom is adjusted to the others.
    min_separation : float, default=0.01
        The smallest distance between two cones.
    rotation : {"symmetric", "by-radius"}, default="symmetric"
        How two overlapping cones are parted: both by the same angle, or the narrower one further.
    """

    name = "cone"
    has_boundary = True
    distributions = ("80-20", "linear", "50-50")

    n_nonzero: int = 2
    cd_sweeps: int = 1
    min_separation: float = 0.01
    rotation: str = "symmetric"

    @classmethod
    def for_member(cls, parameters: Mapping[str, Any]) -> Self:
        """Return cones with the non-zeros of an ensemble."""
        return cls(n_nonzero=parameters["n_nonzero"])

    def resized(self, n_atoms: int, n_features: int) -> Self:
        """Return cones of which a row can use as many."""
        # as many non-zeros as features would represent every row exactly
        return replace(self, n_nonzero=min(self.n_nonzero, n_features - 1, n_atoms))

    def coder(self, atoms: Array | Layout, radii: Array) -> ConeCoder:
        """Return the cones made ready for Cone-OMP."""
        return ConeCoder(atoms, radii, self.n_nonzero, self.cd_sweeps)

    def remember(self, X: Array, atoms: Array, radii: Array) -> Memory:
        """Keep work space, but no codes: two greedy choices are cheap."""
        return Memory(self.coder(atoms, radii), X)

    def statistics(
        self,
        X: Array,
        atoms: Array,
        radii: Array,
        memory: Memory,
        *,
        missing: Mask | None = None,
        n_jobs: int | None,
    ) -> Statistics:
        """Code the rows of X, fill them in place where `missing`, and sum what moves the atoms."""
        coder = self.coder(atoms, radii)
        rows, filling = signals(X, 0, len(X)), filling_of(X, self.gaps, missing)
        call = partial(_sum_cones, rows, coder.cones, coder.cd_sweeps, filling)
        return sum_parts(call, coder, X, memory, n_jobs)

    def separate(self, atoms: Array, radii: Array, rng: np.random.Generator) -> tuple[Array, int]:
        """Part overlapping cones; return the atoms and how many pairs overlapped."""
        return separate(
            atoms, radii, min_separation=self.min_separation, rotation=self.rotation, rng=rng
        )

    def hold_back(self, moved: Array, atoms: Array, radii: Array) -> tuple[Array, int]:
        """Undo as much of a move from ``atoms`` as makes cones overlap."""
        return pull_back(moved, atoms, radii, min_separation=self.min_separation)


@kernel
def _sum_cones(X, cones, cd_sweeps, filling, space, out, parts):
    """Take parts in turn, code the rows of each and add them up."""
    for _ in range(CHUNKS_PER_CALL):
        part = fetch_add(parts.counter)
        start = part * parts.n_rows
        stop = min(start + parts.n_rows, X.shape[0])
        for first in range(start, stop, CHUNK_ROWS):
            if cones.layout.halt[0] != 0:
                return
            last = min(first + CHUNK_ROWS, stop)
            here = outputs_for(first, last, X.shape[0], out)
            fill_cones(X[first:last], cones, cd_sweeps, space, here)
            fill_in(first, last, filling, here)
            _add_cones(part, here, parts.sums)


@kernel
def _add_cones(part, out, sums):
    """Add x r to pull, x^2 to weight, the use of each atom to n_users, abs_sum and sq_sum."""
    pull, weight = sums.pull[part], sums.weight[part]
    for row in range(out.errors.shape[0]):
        sums.error[part] += out.errors[row]
        sums.objective[part] += out.errors[row] * out.errors[row]
        residual = out.residuals[row]
        for q in range(out.support.shape[1]):
            j = out.support[row, q]
            if j < 0:
                break
            x = out.values[row, q]
            weight[j] += x * x
            add(pull[j], x, residual)
            count_use(part, j, x, sums)
