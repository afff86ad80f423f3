"""The members of an ensemble: which they are, and how they learn side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from setatoms.backends import effective_jobs
from setatoms.estimators.checkpoint import Stage
from setatoms.estimators.recipes import Prepare, SetAtomRecipe, Table
from setatoms.estimators.sizes import ROWS_PER_ATOM, count_checked_atoms, limit_wide
from setatoms.estimators.warn import warn_caller
from setatoms.learning.dictionary import FittedDictionary
from setatoms.learning.kinds import KINDS, AtomKind
from setatoms.learning.loop import Learned
from setatoms.learning.radii import count_atoms, distribute
from setatoms.rows import MemoryRows, OnStep, Places, Rows, Task

BUDGETS = {"fast": 6, "balanced": 20, "best": 60}
# What may differ between members beside their random starts.
DIVERSITIES: dict[str, tuple[str, ...]] = {
    "starts": (),
    "sizes": ("sizes",),
    "radii": ("radii",),
    "all": ("sizes", "radii"),
}
# Atoms per feature that members take turns in, as they do in the distributions of their kind. The
# numbers of both have no common factor, so that all pairs have their turn.
SIZES = (6.0, 10.0)
# Of a table with more rows, each member learns from a sample of its own: so many for each atom, and
# not fewer than these.
_SAMPLE_ROWS_PER_ATOM, _FEWEST_ROWS = 15, 1000
# With fewer rows, threads that learn members side by side wait for Python more than they learn.
_WORTH_THREADS = 512
# If members learn from at most this share, most rows are unseen by most members.
_SMALL_SHARE = 0.25
# AK-SVD, before atoms become sets: from rows that point in different directions it takes few.
_START_ITERATIONS = 5
# With fewer rows for an atom, anomalies among them get atoms of their own: sizes are lower there.
FEWEST_ROWS_PER_ATOM = 20
# Atoms with fewer users are such an anomaly's own.
_FEWEST_USERS = 5.0


@dataclass(frozen=True)
class EnsembleRecipe:
    """Learn several dictionaries from the same rows, or from samples of them.

    Parameters
    ----------
    recipes : tuple of SetAtomRecipe
        One for each member.
    n_features : int
        The width of tables.
    subsample : float or None
        The share of rows that each member learns from; None as many as are worth the time.
    n_jobs : int or None
        Threads; results do not depend on it.
    """

    recipes: tuple[SetAtomRecipe, ...]
    n_features: int
    subsample: float | None
    n_jobs: int | None

    @property
    def n_steps(self) -> int:
        """Iterations of all members."""
        return sum(recipe.n_steps for recipe in self.recipes)

    @property
    def kind_names(self) -> frozenset[str]:
        """The kinds of all members."""
        return frozenset(recipe.kind.name for recipe in self.recipes)

    def shortened(self) -> EnsembleRecipe:
        """Return members for half of the rows, with a third of the iterations.

        They have half of the atoms: with fewer rows for each, atoms would fit single rows and
        unseen rows seem worse than they are.
        """
        return replace(
            self, recipes=tuple(_halved(recipe, self.n_features) for recipe in self.recipes)
        )

    def learn(
        self,
        rows: Rows,
        prepare: Prepare,
        rng: np.random.Generator,
        on_step: OnStep,
        stage: Stage | None = None,
    ) -> tuple[FittedDictionary, ...]:
        """Learn from rows, prepared; call ``on_step(1, note)`` as it proceeds.

        Members fill missing entries each on its own. Those that `stage` has are not learned again.
        """
        # a member's stream depends on its number alone: more members do not change the first ones
        streams = rng.spawn(len(self.recipes))
        known = [None if stage is None else stage.read(f"member-{i}") for i in range(len(streams))]
        missing = [i for i, member in enumerate(known) if member is None]
        tasks = [
            Task(
                self._draw(rows.n_rows, self.recipes[i].n_atoms, streams[i]),
                (self.recipes[i], prepare, streams[i]),
                self.recipes[i].n_steps,
            )
            for i in missing
        ]

        def keep(place: int, member: FittedDictionary) -> None:
            if stage is not None:
                stage.write(f"member-{missing[place]}", member)

        most = max((len(task.places) for task in tasks), default=0)
        n_jobs = self.n_jobs if most >= _WORTH_THREADS else 1
        learned = iter(rows.run(_learn_member, tasks, on_step, n_jobs, keep))
        if len(tasks) < len(known):
            on_step(self.n_steps - sum(task.n_steps for task in tasks), "from the checkpoint")
        return tuple(next(learned) if member is None else member for member in known)

    def leaves_unseen(self, n_samples: int) -> bool:
        """Tell whether each member learns from a small share of that many rows.

        Its atoms must have enough of them, or they would fit single rows.
        """
        most = max(recipe.n_atoms for recipe in self.recipes)
        n_taken = count_rows(self.subsample, n_samples, most)
        return _SAMPLE_ROWS_PER_ATOM * most <= n_taken <= _SMALL_SHARE * n_samples

    def _draw(self, n_rows: int, n_atoms: int, rng: np.random.Generator) -> Places:
        """Return the increasing places of the rows that a member learns from."""
        n_taken = count_rows(self.subsample, n_rows, n_atoms)
        if n_taken == n_rows:
            return np.arange(n_rows)
        return np.sort(rng.choice(n_rows, n_taken, replace=False))


def _learn_member(
    table: Table, recipe: SetAtomRecipe, prepare: Prepare, rng: np.random.Generator, on_step: OnStep
) -> FittedDictionary:
    return _common_atoms(recipe.learn(MemoryRows(table), prepare, rng, on_step))


def _common_atoms(learned: Learned) -> FittedDictionary:
    """Return a member without the atoms of hardly more than one row.

    Such a row is an anomaly, and would pass for normal when it is scored. There remain at least as
    many atoms as features.
    """
    dictionary, users = learned
    if users is None:
        return dictionary
    fewest, history = min(dictionary.atoms.shape), dictionary.history
    common = users >= min(_FEWEST_USERS, np.sort(users)[-fewest])
    return FittedDictionary(
        dictionary.kind,
        np.ascontiguousarray(dictionary.atoms[common]),
        dictionary.radii[common],
        history._replace(radii=history.radii[:, common], usage=history.usage[:, common]),
    )


def _halved(recipe: SetAtomRecipe, n_features: int) -> SetAtomRecipe:
    rho_bar = np.ascontiguousarray(recipe.rho_bar[::2])
    kind = recipe.kind.resized(len(rho_bar), n_features)
    return replace(recipe.shortened(), kind=kind, n_atoms=len(rho_bar), rho_bar=rho_bar)


def ensemble_recipe(ensemble: Any, n_samples: int, n_features: int) -> EnsembleRecipe:
    """Resolve the parameters of an ensemble for a table of this shape."""
    n_members = count_members(ensemble)
    # by default, atoms limit the rows and not the other way round
    n_taken = _share_of(1.0 if ensemble.subsample is None else ensemble.subsample, n_samples)
    chosen = list(_choose(ensemble, n_members, n_taken, n_features))
    # more cores than members: the rest help with the rows
    n_jobs = max(1, effective_jobs(ensemble.n_jobs) // n_members)
    recipes = tuple(_member_recipe(ensemble, *choice, n_features, n_jobs) for choice in chosen)
    return EnsembleRecipe(recipes, n_features, ensemble.subsample, ensemble.n_jobs)


def count_members(ensemble: Any) -> int:
    """Return how many members an ensemble has."""
    given = ensemble.n_members
    return BUDGETS[ensemble.budget] if given is None else int(given)


def count_rows(subsample: float | None, n_samples: int, n_atoms: int) -> int:
    """Return how many of the rows a member with that many atoms learns from."""
    if subsample is None:
        return min(n_samples, max(_SAMPLE_ROWS_PER_ATOM * n_atoms, _FEWEST_ROWS))
    return _share_of(subsample, n_samples)


def _share_of(share: float, n_samples: int) -> int:
    return min(n_samples, max(2, round(share * n_samples)))


def check_kinds(kinds: Any) -> tuple[type[AtomKind], ...]:
    """Return the kinds of members, if all are known and can be."""
    able = {name: kind for name, kind in KINDS.items() if kind.distributions}
    names = (kinds,) if isinstance(kinds, str) else kinds
    listed = isinstance(names, (tuple, list)) and all(isinstance(name, str) for name in names)
    if listed and names and able.keys() >= set(names):
        return tuple(able[name] for name in names)
    words = ", ".join(map(repr, able))
    raise ValueError(f"kinds={kinds!r} must be a tuple of at least one of {words}")


def _choose(
    ensemble: Any, n_members: int, n_samples: int, n_features: int
) -> Iterator[tuple[type[AtomKind], int, str]]:
    """Yield kind, number of atoms and distribution of radii of each member."""
    kinds, varied = check_kinds(ensemble.kinds), DIVERSITIES[ensemble.diversity]
    counts = _count_atoms(ensemble.n_atoms, n_samples, n_features)
    for i in range(n_members):
        turn, kind = i // len(kinds), kinds[i % len(kinds)]
        count = counts[turn % len(counts) if "sizes" in varied else 0]
        shapes = kind.distributions
        yield kind, count, shapes[turn % len(shapes) if "radii" in varied else 0]


def _count_atoms(n_atoms: float | None, n_samples: int, n_features: int) -> tuple[int, ...]:
    """Return the numbers of atoms that members take turns in; warn when rows are few."""
    if n_atoms is not None:
        return (count_checked_atoms(n_atoms, n_samples, n_features),)
    if n_samples < ROWS_PER_ATOM * n_features:
        warn_caller(
            f"{n_samples} rows of {n_features} features are fewer than {ROWS_PER_ATOM} rows per "
            "feature, so atoms may fit single rows; give more rows or fewer features"
        )
    most = max(n_features, n_samples // FEWEST_ROWS_PER_ATOM)
    most = limit_wide(most, n_samples, n_features)
    # in a plane there is no room for more cones side by side
    sizes = SIZES if n_features > 2 else SIZES[:1]
    return tuple(min(count_atoms(size, n_features), most) for size in sizes)


def _member_recipe(
    ensemble: Any,
    kind: type[AtomKind],
    n_atoms: int,
    distribution: str,
    n_features: int,
    n_jobs: int,
) -> SetAtomRecipe:
    return SetAtomRecipe(
        kind=kind.for_member(ensemble.get_params(deep=False)).resized(n_atoms, n_features),
        n_atoms=n_atoms,
        init="aksvd",
        rho_bar=distribute(distribution, n_atoms, ensemble.radii),
        adapt="l1",
        n_iter=ensemble.n_iter,
        adapt_every=ensemble.adapt_every,
        n_jobs=n_jobs,
        start_iter=_START_ITERATIONS,
        start_spread=True,
    )
