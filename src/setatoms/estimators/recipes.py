"""From a table to a learned dictionary: the parameters of an estimator, resolved for one shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from setatoms.estimators.sizes import check_start, count_checked_atoms
from setatoms.learning.aksvd import aksvd
from setatoms.learning.dictionary import FittedDictionary
from setatoms.learning.history import history_of_errors
from setatoms.learning.kinds import AtomKind, VectorAtoms
from setatoms.learning.loop import Learned, learn
from setatoms.learning.radii import AdaptiveRadii, FixedRadii, distribute
from setatoms.learning.start import random_atoms, spread_atoms

# The start of the paper: two non-zeros, fifty iterations.
AKSVD_NONZERO = 2
AKSVD_ITERATIONS = 50

Table = NDArray[np.float64]
Mask = NDArray[np.bool_]
OnStep = Callable[[float, str], None]


class Recipe(Protocol):
    """How to learn; one recipe serves any number of tables of the same width."""

    @property
    def n_steps(self) -> int:
        """How often `learn` calls `on_step`."""

    @property
    def kind_names(self) -> frozenset[str]:
        """The kinds of atoms that are learned."""

    def shortened(self) -> Recipe:
        """Return a recipe of the same kind that takes a third of the time."""

    def leaves_unseen(self, n_samples: int) -> bool:
        """Tell whether learning leaves most of that many rows aside, so that these are unseen."""

    def learn(
        self, X: Table, rng: np.random.Generator, on_step: OnStep, missing: Mask | None = None
    ) -> Any:
        """Learn from `X` (n_samples, n_features); call ``on_step(1, note)`` as it proceeds.

        `X` is filled in place where entries are `missing`.
        """


@dataclass(frozen=True)
class SetAtomRecipe:
    """Start from atoms, then learn set-atoms whose radii follow a schedule."""

    kind: AtomKind
    n_atoms: int
    init: str | Table
    rho_bar: Table
    adapt: str | None
    n_iter: int
    adapt_every: int
    n_jobs: int | None
    tol: float = 0.0
    start_iter: int = AKSVD_ITERATIONS
    start_spread: bool = False  # AK-SVD begins with rows far from each other, not with noise

    @property
    def n_steps(self) -> int:
        """Iterations of the start and of learning."""
        return self.n_iter + (self.start_iter if self._starts_with_aksvd else 0)

    @property
    def kind_names(self) -> frozenset[str]:
        """The kind of its atoms, alone."""
        return frozenset([self.kind.name])

    @property
    def schedule(self) -> FixedRadii | AdaptiveRadii:
        """Which radii atoms have, and when that changes."""
        if self.adapt is None:
            return FixedRadii(self.rho_bar)
        return AdaptiveRadii(self.rho_bar, self.n_iter, self.adapt_every, norm=self.adapt)

    @property
    def _starts_with_aksvd(self) -> bool:
        return isinstance(self.init, str) and self.init == "aksvd"

    def shortened(self) -> SetAtomRecipe:
        """Return the same recipe with a third of the iterations, rounded down, at least one."""
        return replace(
            self,
            n_iter=_third(self.n_iter),
            adapt_every=_third(self.adapt_every),
            start_iter=_third(self.start_iter),
        )

    def leaves_unseen(self, n_samples: int) -> bool:
        """Return False: all rows are learned from."""
        return False

    def learn(
        self, X: Table, rng: np.random.Generator, on_step: OnStep, missing: Mask | None = None
    ) -> Learned:
        """Learn from `X` (n_samples, n_features); call ``on_step(1, note)`` as it proceeds.

        `X` is filled in place where entries are `missing`.
        """
        schedule = self.schedule  # complains before anything takes time
        return learn(
            X,
            self._start(X, rng, on_step, missing),
            self.kind,
            schedule,
            n_iter=self.n_iter,
            rng=rng,
            tol=self.tol,
            missing=missing,
            n_jobs=self.n_jobs,
            on_iteration=_report(on_step),
        )

    def _start(
        self, X: Table, rng: np.random.Generator, on_step: OnStep, missing: Mask | None
    ) -> Table:
        if not isinstance(self.init, str):
            return self.init
        if not self._starts_with_aksvd:
            return random_atoms(self.n_atoms, X.shape[1], rng)
        return aksvd(
            X,
            self.n_atoms,
            n_nonzero=min(AKSVD_NONZERO, X.shape[1] - 1, self.n_atoms),
            n_iter=self.start_iter,
            init=spread_atoms(X, self.n_atoms, rng) if self.start_spread else None,
            # drawn all the same, so that what follows does not depend on the start
            random_state=int(rng.integers(2**31)),
            tol=self.tol,
            missing=missing,
            n_jobs=self.n_jobs,
            on_iteration=_report(on_step),
        )


@dataclass(frozen=True)
class VectorRecipe:
    """Learn plain vectors by AK-SVD."""

    kind: VectorAtoms
    n_atoms: int
    init: str | Table
    n_iter: int
    n_jobs: int | None
    tol: float = 0.0

    @property
    def n_steps(self) -> int:
        """Iterations of AK-SVD."""
        return self.n_iter

    @property
    def kind_names(self) -> frozenset[str]:
        """The kind of its atoms, alone."""
        return frozenset([self.kind.name])

    def shortened(self) -> VectorRecipe:
        """Return the same recipe with a third of the iterations, rounded down, at least one."""
        return replace(self, n_iter=_third(self.n_iter))

    def leaves_unseen(self, n_samples: int) -> bool:
        """Return False: all rows are learned from."""
        return False

    def learn(
        self, X: Table, rng: np.random.Generator, on_step: OnStep, missing: Mask | None = None
    ) -> Learned:
        """Learn from `X` (n_samples, n_features); call ``on_step(1, note)`` as it proceeds.

        `X` is filled in place where entries are `missing`.
        """
        errors: list[float] = []

        def record(k: int, error: float) -> None:
            errors.append(error)
            _report(on_step)(k, error)

        atoms = aksvd(
            X,
            self.n_atoms,
            n_nonzero=self.kind.n_nonzero,
            n_iter=self.n_iter,
            init=None if isinstance(self.init, str) else self.init,
            random_state=int(rng.integers(2**31)),
            tol=self.tol,
            missing=missing,
            n_jobs=self.n_jobs,
            on_iteration=record,
        )
        # a vector is a set-atom of radius 0
        radii, history = np.zeros(self.n_atoms), history_of_errors(errors, self.n_atoms)
        return Learned(FittedDictionary(self.kind, atoms, radii, history))


def set_atom_recipe(
    estimator: Any, kind: AtomKind, n_samples: int, n_features: int
) -> SetAtomRecipe:
    """Resolve the parameters that all kinds of set-atoms share for a table of this shape."""
    n_atoms = count_checked_atoms(estimator.n_atoms, n_samples, n_features)
    return SetAtomRecipe(
        kind=kind,
        n_atoms=n_atoms,
        init=check_start(estimator.init, ("aksvd", "random"), n_atoms, n_features),
        rho_bar=distribute(estimator.radii_distribution, n_atoms, estimator.radii),
        adapt=estimator.adapt if estimator.learn else None,
        n_iter=estimator.n_iter if estimator.learn else 0,
        adapt_every=estimator.adapt_every,
        n_jobs=estimator.n_jobs,
        tol=estimator.learn_tol,
    )


def _third(n_iter: int) -> int:
    return min(n_iter, max(1, n_iter // 3))


def _report(on_step: OnStep) -> Callable[[int, float], None]:
    return lambda _, error: on_step(1.0, f"error {error:.4g}")
