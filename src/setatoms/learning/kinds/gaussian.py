"""Gaussian atoms around a centre."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import kernel
from setatoms.backends import CHUNK_ROWS, fetch_add
from setatoms.coding.batch import signals
from setatoms.coding.blocks import Layout
from setatoms.coding.chunks import CHUNKS_PER_CALL, outputs_for
from setatoms.coding.gauss.coder import GaussCoder
from setatoms.coding.gauss.kernels import fill_gaussian
from setatoms.coding.gauss.problem import NO_CODES, KnownCodes
from setatoms.learning.kinds.base import AtomKind
from setatoms.learning.kinds.listed import register
from setatoms.learning.missing import Gaps, Mask
from setatoms.learning.passes import (
    Memory,
    count_use,
    fill_in,
    filling_of,
    has_room_for_codes,
    sum_parts,
)
from setatoms.learning.statistics import Statistics
from setatoms.vectors import add, dot

Array = NDArray[np.float64]


@register
@dataclass(frozen=True)
class GaussianAtoms(AtomKind):
    """Gaussian atoms, coded by Gauss-L1; free to overlap. Coding may be coarser while learning.

    Parameters
    ----------
    lam : float, default=1.0
        The weight of the representation error.
    gamma : float, default=1.0
        The weight of the 1-norm; larger means fewer atoms per row.
    max_sweeps : int, default=10000
        Sweeps per row at most.
    tol : float, default=1e-7
        Coding stops when a sweep lowers the objective by less than this share.
    fit_max_sweeps : int, default=5
        The same as `max_sweeps`, while learning.
    fit_tol : float, default=1e-2
        The same as `tol`, while learning.
    """

    name = "gaussian"
    distributions = ("linear", "50-50", "80-20")

    lam: float = 1.0
    gamma: float = 1.0
    max_sweeps: int = 10_000
    tol: float = 1e-7
    fit_max_sweeps: int = 5
    fit_tol: float = 1e-2

    @classmethod
    def for_member(cls, parameters: Mapping[str, Any]) -> Self:
        """Return Gaussians with the price of an ensemble, coded in one sweep.

        Members differ by far more than their codes gain by further sweeps or a finer tolerance: the
        mean AUC of ensembles on ADBench's tables changes by 0.0002, and scores take half of the
        time.
        """
        return cls(gamma=parameters["gamma"], max_sweeps=1, tol=1e-2, fit_max_sweeps=1)

    def coder(self, atoms: Array | Layout, radii: Array) -> GaussCoder:
        """Return the atoms made ready for Gauss-L1, as precise as scores must be."""
        return GaussCoder(atoms, radii, self.lam, self.gamma, self.max_sweeps, self.tol)

    def _learner(self, atoms: Array, radii: Array) -> GaussCoder:
        """Return the atoms made ready for Gauss-L1, as precise as learning must be."""
        return GaussCoder(atoms, radii, self.lam, self.gamma, self.fit_max_sweeps, self.fit_tol)

    @property
    def gaps(self) -> Gaps:
        """What missing entries cost: nothing, as the 1-norm of the code holds them."""
        return Gaps(lam=float(self.lam), price=0.0)

    def remember(self, X: Array, atoms: Array, radii: Array) -> Memory:
        """Keep each signal's code: the next pass, with atoms little changed, starts from it.

        Of very many signals there is no room for codes, and each pass starts from nothing, which
        takes a third longer.
        """
        shape = (len(X), min(len(atoms), X.shape[1]))
        codes = NO_CODES
        if has_room_for_codes(len(X), atoms):
            codes = KnownCodes(np.full(shape, -1, np.int32), np.zeros(shape))
        return Memory(self._learner(atoms, radii), X, codes)

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
        coder = self._learner(atoms, radii)
        rows, filling = signals(X, 0, len(X)), filling_of(X, self.gaps, missing)
        call = partial(_sum_gaussians, rows, coder.gaussians, coder.budget, memory.codes, filling)
        return sum_parts(call, coder, X, memory, n_jobs)

    def stiffness(self, statistics: Statistics, radii: Array) -> Array:
        """Return by how much the pull on each atom falls (n_atoms,) as it moves, per distance.

        Actual atoms follow their centres, so what is left of rows hardly changes: by x where the
        pull is v x r.
        """
        return np.minimum(self.lam * radii**2 * statistics.sq_sum, statistics.weight)


@kernel
def _sum_gaussians(X, gaussians, budget, codes, filling, space, out, parts):
    """Take parts in turn, code the rows of each and add them up."""
    for _ in range(CHUNKS_PER_CALL):
        part = fetch_add(parts.counter)
        start = part * parts.n_rows
        stop = min(start + parts.n_rows, X.shape[0])
        for first in range(start, stop, CHUNK_ROWS):
            if gaussians.layout.halt[0] != 0:
                return
            last = min(first + CHUNK_ROWS, stop)
            here = outputs_for(first, last, X.shape[0], out)
            known = KnownCodes(codes.support[first:last], codes.z[first:last])
            fill_gaussian(X[first:last], gaussians, budget, known, space, here, last - first)
            fill_in(first, last, filling, here)
            _add_gaussians(part, gaussians.layout.atoms, gaussians.spreads, here, parts.sums)


@kernel
def _add_gaussians(part, atoms, spreads, out, sums):
    """Add the actual atoms alpha d + beta r = unit(d + v x r), split into d and r, to the sums."""
    pull, weight = sums.pull[part], sums.weight[part]
    for row in range(out.errors.shape[0]):
        sums.error[part] += out.errors[row]
        sums.objective[part] += out.objective[row]
        residual = out.residuals[row]
        square = dot(residual, residual)
        for q in range(out.support.shape[1]):
            j = out.support[row, q]
            if j < 0:
                break
            x = out.values[row, q]
            lean = spreads[j] * x
            alpha = 1.0 / np.sqrt(1.0 + 2.0 * lean * dot(atoms[j], residual) + lean * lean * square)
            weight[j] += alpha
            add(pull[j], lean * alpha, residual)
            count_use(part, j, x, sums)
