"""The kinds of atoms, alike to the learning loop: how they code, sum up and keep apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setatoms.coding import Codes
from setatoms.coding.batch import Coder, as_codes, code, errors
from setatoms.coding.cone_omp import ConeCoder
from setatoms.coding.gauss_l1 import GaussCoder, Start
from setatoms.coding.omp import OmpCoder
from setatoms.geometry import pull_back, separate
from setatoms.learning.missing import GREEDY, Filled, Gaps, Mask, fill_rows
from setatoms.learning.passes import Memory, sum_over_cones, sum_over_gaussians
from setatoms.learning.statistics import Statistics

Array = NDArray[np.float64]


class _Scoring:
    """What every kind offers once it can make a coder."""

    @property
    def gaps(self) -> Gaps:
        """What missing entries cost: a greedy code has no price on coefficients to hold them."""
        return GREEDY

    def coder(self, atoms: Array, radii: Array) -> Coder:
        """Return atoms (n_atoms, n_features) with radii (n_atoms,) made ready to code."""
        raise NotImplementedError

    def code(
        self,
        X: Array,
        atoms: Array,
        radii: Array,
        *,
        n_jobs: int | None = -1,
        actual_atoms: bool = False,
    ) -> Codes:
        """Represent the rows of X (n_samples, n_features)."""
        coder = self.coder(atoms, radii)
        return as_codes(coder, code(coder, X, n_jobs=n_jobs, members=actual_atoms))

    def errors(self, X: Array, atoms: Array, radii: Array, *, n_jobs: int | None = -1) -> Array:
        """Return the representation error of each row of X, the cheapest way."""
        return errors(self.coder(atoms, radii), X, n_jobs=n_jobs)

    def fill(
        self, X: Array, missing: Mask, atoms: Array, radii: Array, *, n_jobs: int | None = -1
    ) -> Filled:
        """Return the rows of X (n_samples, n_features) with `missing` entries as codes imply."""
        return fill_rows(self.coder(atoms, radii), self.gaps, X, missing, n_jobs=n_jobs)


@dataclass(frozen=True)
class VectorAtoms(_Scoring):
    """Ordinary atoms, coded by OMP; their radii are 0 and go unread."""

    n_nonzero: int = 2

    def coder(self, atoms: Array, radii: Array) -> OmpCoder:
        """Return the atoms made ready for OMP."""
        return OmpCoder(atoms, self.n_nonzero)


@dataclass(frozen=True)
class ConeAtoms(_Scoring):
    """Cones, coded by Cone-OMP; no two may overlap."""

    n_nonzero: int = 2
    cd_sweeps: int = 1
    min_separation: float = 0.01
    rotation: str = "symmetric"

    def coder(self, atoms: Array, radii: Array) -> ConeCoder:
        """Return the cones made ready for Cone-OMP."""
        return ConeCoder(atoms, radii, self.n_nonzero, self.cd_sweeps)

    def remember(self, X: Array, atoms: Array, radii: Array) -> Memory:
        """Keep no codes from one pass to the next: two greedy choices are cheap."""
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
        return sum_over_cones(self.coder(atoms, radii), X, memory, self.gaps, missing, n_jobs)

    def separate(self, atoms: Array, radii: Array, rng: np.random.Generator) -> tuple[Array, int]:
        """Part overlapping cones; return the atoms and how many pairs overlapped."""
        return separate(
            atoms, radii, min_separation=self.min_separation, rotation=self.rotation, rng=rng
        )

    def hold_back(self, moved: Array, atoms: Array, radii: Array) -> tuple[Array, int]:
        """Undo as much of a move from ``atoms`` as makes cones overlap."""
        return pull_back(moved, atoms, radii, min_separation=self.min_separation)


@dataclass(frozen=True)
class GaussianAtoms(_Scoring):
    """Gaussian atoms, coded by Gauss-L1; free to overlap. Coding may be coarser while learning."""

    lam: float = 1.0
    gamma: float = 1.0
    max_sweeps: int = 10_000
    tol: float = 1e-7
    fit_max_sweeps: int = 5
    fit_tol: float = 1e-2

    def coder(self, atoms: Array, radii: Array) -> GaussCoder:
        """Return the atoms made ready for Gauss-L1, as precise as scores must be."""
        return GaussCoder(atoms, radii, self.lam, self.gamma, self.max_sweeps, self.tol)

    @property
    def gaps(self) -> Gaps:
        """What missing entries cost: nothing, as the 1-norm of the code holds them."""
        return Gaps(lam=float(self.lam), price=0.0)

    def remember(self, X: Array, atoms: Array, radii: Array) -> Memory:
        """Keep each signal's code: the next pass, with atoms little changed, starts from it."""
        shape = (len(X), min(len(atoms), X.shape[1]))
        codes = Start(np.full(shape, -1, np.int32), np.zeros(shape))
        return Memory(self.coder(atoms, radii), X, codes)

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
        coder = GaussCoder(atoms, radii, self.lam, self.gamma, self.fit_max_sweeps, self.fit_tol)
        return sum_over_gaussians(coder, X, memory, self.gaps, missing, n_jobs)

    def separate(self, atoms: Array, radii: Array, rng: np.random.Generator) -> tuple[Array, int]:
        """Return the atoms as they are."""
        return atoms, 0

    def hold_back(self, moved: Array, atoms: Array, radii: Array) -> tuple[Array, int]:
        """Return the moved atoms as they are."""
        return moved, 0
