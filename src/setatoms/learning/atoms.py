"""The kinds of atoms, alike to the learning loop: how they code, sum up and keep apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import kernel
from setatoms.backends import CHUNK_ROWS, run_chunks
from setatoms.coding import Codes
from setatoms.coding.batch import Coder, Outputs, allocate, as_codes, code, errors, signals
from setatoms.coding.cone_omp import ConeCoder
from setatoms.coding.gauss_l1 import NO_START, GaussCoder, Start
from setatoms.coding.omp import OmpCoder
from setatoms.geometry import pull_back, separate
from setatoms.learning.missing import GREEDY, Filled, Gaps, Mask, fill_rows
from setatoms.learning.statistics import Statistics
from setatoms.vectors import add, dot

Array = NDArray[np.float64]
# what a pass adds up: pull (n_atoms, n_features), weight, u0 and u1 (n_atoms,)
Sums = tuple[Array, Array, Array, Array]

# Sums are kept for at most this many parts at a time.
_MOST_PARTS = 64


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

    def remember(self, X: Array, atoms: Array) -> Start:
        """Keep nothing from one pass to the next: two greedy choices are cheap."""
        return NO_START

    def statistics(
        self,
        X: Array,
        atoms: Array,
        radii: Array,
        memory: Start,
        *,
        missing: Mask | None = None,
        n_jobs: int | None,
    ) -> Statistics:
        """Code the rows of X, fill them in place where `missing`, and sum what moves the atoms."""
        coder = self.coder(atoms, radii)

        def fill(start: int, stop: int, out: Outputs) -> None:
            coder.fill(signals(X, start, stop), out)

        def add_up(out: Outputs, sums: Sums) -> float:
            _add_cones(out.support, out.values, out.residuals, *sums)
            return float(np.sum(out.errors**2))

        return _collect(coder, X, fill, add_up, n_jobs, self.gaps, missing)

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
        return Gaps(lam=self.lam, price=0.0)

    def remember(self, X: Array, atoms: Array) -> Start:
        """Keep each signal's code: the next pass, with atoms little changed, starts from it."""
        shape = (len(X), min(len(atoms), X.shape[1]))
        return Start(np.full(shape, -1, np.int32), np.zeros(shape))

    def statistics(
        self,
        X: Array,
        atoms: Array,
        radii: Array,
        memory: Start,
        *,
        missing: Mask | None = None,
        n_jobs: int | None,
    ) -> Statistics:
        """Code the rows of X, fill them in place where `missing`, and sum what moves the atoms."""
        coder = GaussCoder(atoms, radii, self.lam, self.gamma, self.fit_max_sweeps, self.fit_tol)

        def fill(start: int, stop: int, out: Outputs) -> None:
            coder.fill_from(signals(X, start, stop), memory.rows(start, stop), out)

        def add_up(out: Outputs, sums: Sums) -> float:
            spreads = coder.gaussians.spreads
            _add_gaussians(atoms, spreads, out.support, out.values, out.residuals, *sums)
            return float(out.objective.sum())

        return _collect(coder, X, fill, add_up, n_jobs, self.gaps, missing)

    def separate(self, atoms: Array, radii: Array, rng: np.random.Generator) -> tuple[Array, int]:
        """Return the atoms as they are."""
        return atoms, 0

    def hold_back(self, moved: Array, atoms: Array, radii: Array) -> tuple[Array, int]:
        """Return the moved atoms as they are."""
        return moved, 0


def _collect(
    coder: Coder,
    X: Array,
    fill: Callable[[int, int, Outputs], None],
    add: Callable[[Outputs, Sums], float],
    n_jobs: int | None,
    gaps: Gaps,
    missing: Mask | None,
) -> Statistics:
    """Code all rows with ``fill`` and ``add`` up, by parts that depend on their number alone.

    Rows of X are filled in place where entries are ``missing``, which cost what ``gaps`` says.
    """

    def part(start: int, stop: int) -> Statistics:
        pull = np.zeros((coder.n_atoms, X.shape[1]))
        weight, u0, u1 = np.zeros((3, coder.n_atoms))
        error = objective = 0.0
        for first in range(start, stop, CHUNK_ROWS):
            last = min(first + CHUNK_ROWS, stop)
            out = allocate(coder, X[first:last])
            fill(first, last, out)
            if missing is not None:
                gaps.close(X[first:last], missing[first:last], out)
            objective += add(out, (pull, weight, u0, u1))
            error += float(out.errors.sum())
        return Statistics(pull, weight, u0, u1, error, objective, stop - start)

    part_rows = max(CHUNK_ROWS, -(-len(X) // _MOST_PARTS))
    return reduce(Statistics.merge, run_chunks(part, len(X), n_jobs=n_jobs, chunk_rows=part_rows))


@kernel
def _add_cones(support, values, residuals, pull, weight, u0, u1):
    """Add x r to pull (n, m), x^2 to weight (n,), the use of each atom to u0 and u1 (n,)."""
    for row in range(support.shape[0]):
        residual = residuals[row]
        for q in range(support.shape[1]):
            j = support[row, q]
            if j < 0:
                break
            x = values[row, q]
            weight[j] += x * x
            u0[j] += 1.0
            u1[j] += abs(x)
            add(pull[j], x, residual)


@kernel
def _add_gaussians(atoms, spreads, support, values, residuals, pull, weight, u0, u1):
    """Add the actual atoms alpha d + beta r = unit(d + v x r), split into d and r, to the sums."""
    for row in range(support.shape[0]):
        residual = residuals[row]
        square = dot(residual, residual)
        for q in range(support.shape[1]):
            j = support[row, q]
            if j < 0:
                break
            x = values[row, q]
            lean = spreads[j] * x
            alpha = 1.0 / np.sqrt(1.0 + 2.0 * lean * dot(atoms[j], residual) + lean * lean * square)
            weight[j] += alpha
            u0[j] += 1.0
            u1[j] += abs(x)
            add(pull[j], lean * alpha, residual)
