"""The members of an ensemble: which they are, and how they learn side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms.backends import effective_jobs, run_tasks
from setatoms.estimators.recipes import Mask, OnStep, SetAtomRecipe, Table
from setatoms.estimators.sizes import ROWS_PER_ATOM, count_checked_atoms, limit_wide
from setatoms.estimators.warn import warn_caller
from setatoms.learning.atoms import ConeAtoms, GaussianAtoms
from setatoms.learning.loop import History, Learned
from setatoms.learning.radii import count_atoms, distribute

BUDGETS = {"fast": 6, "balanced": 20, "best": 60}
# What may differ between members beside their random starts.
DIVERSITIES: dict[str, tuple[str, ...]] = {
    "starts": (),
    "sizes": ("sizes",),
    "radii": ("radii",),
    "all": ("sizes", "radii"),
}
# What members take turns in: atoms per feature, and how radii lie between the smallest and the
# largest, the best of the paper first. The numbers of both have no common factor, so that all pairs
# have their turn.
SIZES = (6.0, 10.0)
DISTRIBUTIONS = {
    "gaussian": ("linear", "50-50", "80-20"),
    "cone": ("80-20", "linear", "50-50"),
}
# Of a table with more rows, each member learns from a sample of its own.
_ROWS_WORTH_LEARNING = 20_000
# With fewer rows for an atom, anomalies among them get atoms of their own: sizes are lower there.
FEWEST_ROWS_PER_ATOM = 20
# Atoms with fewer users are such an anomaly's own.
_FEWEST_USERS = 5.0
# Codes of Gaussians this exact give the same ranks as those of single detectors, whose last digits
# take most of the time: members differ by far more.
_TOL = 1e-4


class Member(NamedTuple):
    """One dictionary of an ensemble.

    Attributes
    ----------
    kind : GaussianAtoms or ConeAtoms
        How rows are coded.
    atoms : ndarray of shape (n_atoms, n_features)
        The centres, unit vectors in standardised units.
    radii : ndarray of shape (n_atoms,)
        The radius of each atom.
    history : History
        How learning went.
    """

    kind: GaussianAtoms | ConeAtoms
    atoms: NDArray[np.float64]
    radii: NDArray[np.float64]
    history: History


@dataclass(frozen=True)
class EnsembleRecipe:
    """Learn several dictionaries from the same rows, or from samples of them.

    Parameters
    ----------
    recipes : tuple of SetAtomRecipe
        One a member.
    subsample : float or None
        The share of rows that each member learns from; None as many as are worth the time.
    n_jobs : int or None
        Threads; results do not depend on it.
    """

    recipes: tuple[SetAtomRecipe, ...]
    subsample: float | None
    n_jobs: int | None

    @property
    def n_steps(self) -> int:
        """Iterations of all members."""
        return sum(recipe.n_steps for recipe in self.recipes)

    def shortened(self) -> EnsembleRecipe:
        """Return members for half of the rows, with a third of the iterations.

        They have half of the atoms: with fewer rows for each, atoms would fit single rows and
        unseen rows seem worse than they are.
        """
        return replace(self, recipes=tuple(map(_halved, self.recipes)))

    def learn(
        self, X: Table, rng: np.random.Generator, on_step: OnStep, missing: Mask | None = None
    ) -> tuple[Member, ...]:
        """Learn from `X` (n_samples, n_features); call ``on_step(1, note)`` as it proceeds.

        `X` stays as it is: members fill `missing` entries each on its own.
        """
        # a member's stream depends on its number alone: more members do not change the first ones
        streams = rng.spawn(len(self.recipes))

        def learn_one(i: int, step: OnStep) -> Member:
            recipe, stream = self.recipes[i], streams[i]
            rows, gaps = self._sample(X, missing, stream)
            return _common_atoms(recipe.kind, recipe.learn(rows, stream, step, gaps))

        return tuple(run_tasks(learn_one, len(self.recipes), on_step, n_jobs=self.n_jobs))

    def _sample(
        self, X: Table, missing: Mask | None, rng: np.random.Generator
    ) -> tuple[Table, Mask | None]:
        """Return rows that this member may write to, if it has to, and where they have gaps."""
        n_taken = count_rows(self.subsample, len(X))
        if n_taken == len(X):
            return (X, None) if missing is None else (X.copy(), missing)
        rows = np.sort(rng.choice(len(X), n_taken, replace=False))
        return X[rows], None if missing is None else missing[rows]


def _common_atoms(kind: GaussianAtoms | ConeAtoms, learned: Learned) -> Member:
    """Return a member without the atoms of hardly more than one row.

    Such a row is an anomaly, and would pass for normal when it is scored. There remain at least as
    many atoms as features.
    """
    atoms, radii, history, users = learned
    fewest = min(len(atoms), atoms.shape[1])
    if users is None:
        return Member(kind, atoms, radii, history)
    common = users >= min(_FEWEST_USERS, np.sort(users)[-fewest])
    kept = history._replace(radii=history.radii[:, common], usage=history.usage[:, common])
    return Member(kind, np.ascontiguousarray(atoms[common]), radii[common], kept)


def _halved(recipe: SetAtomRecipe) -> SetAtomRecipe:
    kind, rho_bar = recipe.kind, np.ascontiguousarray(recipe.rho_bar[::2])
    if isinstance(kind, ConeAtoms):
        kind = replace(kind, n_nonzero=min(kind.n_nonzero, len(rho_bar)))
    return replace(recipe.shortened(), kind=kind, n_atoms=len(rho_bar), rho_bar=rho_bar)


def ensemble_recipe(ensemble: Any, n_samples: int, n_features: int) -> EnsembleRecipe:
    """Resolve the parameters of an ensemble for a table of this shape."""
    n_members = count_members(ensemble)
    n_taken = count_rows(ensemble.subsample, n_samples)
    chosen = list(_choose(ensemble, n_members, n_taken, n_features))
    # more cores than members: the rest help with the rows
    n_jobs = max(1, effective_jobs(ensemble.n_jobs) // n_members)
    recipes = tuple(_member_recipe(ensemble, *choice, n_features, n_jobs) for choice in chosen)
    return EnsembleRecipe(recipes, ensemble.subsample, ensemble.n_jobs)


def count_members(ensemble: Any) -> int:
    """Return how many members an ensemble has."""
    given = ensemble.n_members
    return BUDGETS[ensemble.budget] if given is None else int(given)


def count_rows(subsample: float | None, n_samples: int) -> int:
    """Return how many of the rows each member learns from."""
    if subsample is None:
        return min(n_samples, _ROWS_WORTH_LEARNING)
    return min(n_samples, max(2, round(subsample * n_samples)))


def check_kinds(kinds: Any) -> tuple[str, ...]:
    """Return the kinds of members as a tuple, if all are known."""
    names = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    if not names or any(name not in DISTRIBUTIONS for name in names):
        listed = " and ".join(map(repr, DISTRIBUTIONS))
        raise ValueError(f"kinds={kinds!r} must name at least one of {listed}")
    return names


def _choose(
    ensemble: Any, n_members: int, n_samples: int, n_features: int
) -> Iterator[tuple[str, int, str]]:
    """Yield kind, number of atoms and distribution of radii of each member."""
    kinds, varied = check_kinds(ensemble.kinds), DIVERSITIES[ensemble.diversity]
    counts = _count_atoms(ensemble.n_atoms, n_samples, n_features)
    for i in range(n_members):
        turn, kind = i // len(kinds), kinds[i % len(kinds)]
        count = counts[turn % len(counts) if "sizes" in varied else 0]
        shapes = DISTRIBUTIONS[kind]
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
    return tuple(min(count_atoms(size, n_features), most) for size in SIZES)


def _member_recipe(
    ensemble: Any, kind: str, n_atoms: int, distribution: str, n_features: int, n_jobs: int
) -> SetAtomRecipe:
    return SetAtomRecipe(
        kind=_atoms(ensemble, kind, n_atoms, n_features),
        n_atoms=n_atoms,
        init="aksvd",
        rho_bar=distribute(distribution, n_atoms, ensemble.radii),
        adapt="l1",
        n_iter=ensemble.n_iter,
        adapt_every=ensemble.adapt_every,
        n_jobs=n_jobs,
    )


def _atoms(ensemble: Any, kind: str, n_atoms: int, n_features: int) -> GaussianAtoms | ConeAtoms:
    if kind == "gaussian":
        return GaussianAtoms(gamma=ensemble.gamma, tol=_TOL)
    # as many non-zeros as features would represent every row exactly
    return ConeAtoms(n_nonzero=min(ensemble.n_nonzero, n_features - 1, n_atoms))
