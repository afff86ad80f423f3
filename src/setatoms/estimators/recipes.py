"""From a table to a learned dictionary: the parameters of an estimator, resolved for one shape."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from setatoms.estimators.checkpoint import Stage
from setatoms.estimators.sizes import check_start, count_checked_atoms
from setatoms.learning.aksvd import aksvd, learn_vectors
from setatoms.learning.dictionary import FittedDictionary
from setatoms.learning.history import history_of_errors
from setatoms.learning.kinds import AtomKind, VectorAtoms
from setatoms.learning.loop import Learned, learn_from
from setatoms.learning.radii import AdaptiveRadii, FixedRadii, distribute
from setatoms.learning.start import random_atoms, spread_atoms
from setatoms.rows import OnStep, Places, Rows, Task, as_whole

# The start of the paper: two non-zeros, fifty iterations.
AKSVD_NONZERO = 2
AKSVD_ITERATIONS = 50

# AK-SVD learns from so many rows at most.
MOST_AT_ONCE = 100_000

Table = NDArray[np.float64]
Prepare = Callable[[Table], Table]


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
        self,
        rows: Rows,
        prepare: Prepare,
        rng: np.random.Generator,
        on_step: OnStep,
        stage: Stage | None = None,
    ) -> Any:
        """Learn from rows, prepared; call ``on_step(1, note)`` as it proceeds.

        What is done is kept by `stage`, and not done again.
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
        self,
        rows: Rows,
        prepare: Prepare,
        rng: np.random.Generator,
        on_step: OnStep,
        stage: Stage | None = None,
    ) -> Learned:
        """Learn from rows, prepared; call ``on_step(1, note)`` as it proceeds.

        AK-SVD starts from all rows, or from a sample of 100,000.
        """
        schedule = self.schedule  # complains before anything takes time
        start = self._start(rows, prepare, rng, on_step, stage)
        return learn_from(
            rows.signals(prepare, self.n_jobs, start.filled),
            start.atoms,
            self.kind,
            schedule,
            n_iter=self.n_iter,
            rng=rng,
            tol=self.tol,
            on_iteration=_report(on_step),
            keeper=stage,
        )

    def _start(
        self,
        rows: Rows,
        prepare: Prepare,
        rng: np.random.Generator,
        on_step: OnStep,
        stage: Stage | None,
    ) -> Start:
        if not isinstance(self.init, str):
            return Start(self.init)
        if not self._starts_with_aksvd:
            return Start(random_atoms(self.n_atoms, rows.n_features, rng))
        task = Task(draw_places(rows.n_rows, rng), (self, prepare, rng), self.start_iter)
        start = Start(*run_once(rows, _start_with_aksvd, task, on_step, stage, "start"))
        if start.random is not None:
            # it may have been drawn from elsewhere
            rng.bit_generator.state = json.loads(start.random)
        # atoms follow the rows that they were learned from, if these are all
        return start if len(task.places) == rows.n_rows else start._replace(filled=None)


class Start(NamedTuple):
    """Where learning starts.

    Attributes
    ----------
    atoms : ndarray of shape (n_atoms, n_features)
        The atoms.
    filled : ndarray of shape (n_rows, n_features) or None
        The signals with their gaps closed, if they had any.
    random : str or None
        The state of the generator, if anything was drawn, as JSON.
    """

    atoms: Table
    filled: Table | None = None
    random: str | None = None


def _start_with_aksvd(
    table: Table, recipe: SetAtomRecipe, prepare: Prepare, rng: np.random.Generator, on_step: OnStep
) -> Start:
    signals = as_whole(table, prepare, recipe.n_jobs)
    X, n_atoms = signals.X, recipe.n_atoms
    start = spread_atoms(X, n_atoms, rng) if recipe.start_spread else None
    # drawn all the same, so that what follows does not depend on the start
    seed = int(rng.integers(2**31))
    if start is None:
        start = random_atoms(n_atoms, X.shape[1], np.random.RandomState(seed))
    atoms = learn_vectors(
        X,
        start,
        n_nonzero=min(AKSVD_NONZERO, X.shape[1] - 1, n_atoms),
        n_iter=recipe.start_iter,
        tol=recipe.tol,
        missing=signals.missing,
        n_jobs=recipe.n_jobs,
        on_iteration=_report(on_step),
    )
    random = json.dumps(rng.bit_generator.state)
    return Start(atoms, None if signals.missing is None else X, random)


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
        self,
        rows: Rows,
        prepare: Prepare,
        rng: np.random.Generator,
        on_step: OnStep,
        stage: Stage | None = None,
    ) -> Learned:
        """Learn from rows, prepared, or from a sample of 100,000 of them.

        What an atom becomes depends on the atoms before it and on the rows that use these, so
        there are no sums over parts of the rows to learn from.
        """
        places, seed = draw_places(rows.n_rows, rng), int(rng.integers(2**31))
        task = Task(places, (self, prepare, seed), self.n_iter)
        return Learned(run_once(rows, _learn_vectors, task, on_step, stage, "vectors"))


def _learn_vectors(
    table: Table, recipe: VectorRecipe, prepare: Prepare, seed: int, on_step: OnStep
) -> FittedDictionary:
    errors: list[float] = []

    def record(k: int, error: float) -> None:
        errors.append(error)
        _report(on_step)(k, error)

    signals = as_whole(table, prepare, recipe.n_jobs)
    atoms = aksvd(
        signals.X,
        recipe.n_atoms,
        n_nonzero=recipe.kind.n_nonzero,
        n_iter=recipe.n_iter,
        init=None if isinstance(recipe.init, str) else recipe.init,
        random_state=seed,
        tol=recipe.tol,
        missing=signals.missing,
        n_jobs=recipe.n_jobs,
        on_iteration=record,
    )
    # a vector is a set-atom of radius 0
    radii, history = np.zeros(recipe.n_atoms), history_of_errors(errors, recipe.n_atoms)
    return FittedDictionary(recipe.kind, atoms, radii, history)


def run_once(
    rows: Rows,
    function: Callable[..., Any],
    task: Task,
    on_step: OnStep,
    stage: Stage | None,
    what: str,
) -> Any:
    """Return what a task gives, or gave an earlier fit."""
    known = None if stage is None else stage.read(what)
    if known is not None:
        on_step(task.n_steps, "from the checkpoint")
        return known
    (found,) = rows.run(function, [task], on_step, 1)
    if stage is not None:
        stage.write(what, tuple(found) if isinstance(found, tuple) else found)
    return found


def draw_places(n_rows: int, rng: np.random.Generator, most: int = MOST_AT_ONCE) -> Places:
    """Return the increasing places of `most` random rows, or of all if there are no more."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, most, replace=False, shuffle=False))


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
