"""Which ensemble is best, chosen on half of the tables and confirmed on the other half.

Designs are compared on seeds 1 to 3 of every other table. The one with the best mean AUC, or the
cheapest that is as good, is then scored once on seeds 4 and 5 of the tables that had no part in
the choice, beside the default and the mean of its members. Members are learned once for each pool:
numbers of members, kinds and rules are choices among errors that are known already.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from benchmarks.quality import pages
from benchmarks.quality.splits import QUICK_TABLES, Split, mixed_split
from setatoms import SetAtomEnsemble
from setatoms.bench.ensembles import (
    CONFIRMATION_DATASETS,
    CONFIRMATION_SEEDS,
    DESIGN_DATASETS,
    DESIGN_SEEDS,
)
from setatoms.decisions import RULES, Combination
from setatoms.learning.atoms import ConeAtoms

Array = NDArray[np.float64]

MOST_MEMBERS = 30
COUNTS = (1, 2, 4, 8, 12, 20, 30)
# A larger ensemble has to be better by this much to be worth its time.
AS_GOOD = 0.001
# What members of a pool are learned with; all else is chosen afterwards.
POOLS: dict[str, dict[str, Any]] = {
    "default": {},
    "starts alone": {"diversity": "starts"},
    "sizes": {"diversity": "sizes"},
    "radii": {"diversity": "radii"},
    "10 iterations": {"n_iter": 10},
    "20 iterations": {"n_iter": 20},
    "100 iterations": {"n_iter": 100},
    "60 % of rows": {"subsample": 0.6},
}
KINDS = (("gaussian",), ("cone",), ("gaussian", "cone"))


@dataclass(frozen=True)
class Design:
    """One ensemble of the comparison."""

    pool: str = "default"
    kinds: tuple[str, ...] = ("gaussian", "cone")
    n_members: int = 12
    rule: str = "mean"

    def __str__(self) -> str:
        return f"{self.pool}, {' and '.join(self.kinds)}, {self.n_members} members, {self.rule}"


class Errors(NamedTuple):
    """Errors of all members of a pool on both parts of a table, and the kind of each."""

    train: Array
    test: Array
    kinds: list[str]


@dataclass
class Figures:
    """The AUC of each design on each table and seed."""

    values: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def mean(self, name: object) -> float:
        """Return the mean AUC of a design."""
        return float(np.mean(self.values[str(name)]))

    def wins(self, name: object, other: object) -> int:
        """Return on how many tables and seeds a design is better than another."""
        return int(np.sum(np.array(self.values[str(name)]) > np.array(self.values[str(other)])))


def main(arguments: Sequence[str]) -> int:
    """Run the study."""
    options = pages.parse("ensemble", __doc__.splitlines()[0], arguments)
    design_cases = _cases(DESIGN_DATASETS, DESIGN_SEEDS, options.quick)
    seen = compare(design_cases, list(designs()))
    chosen = choose(seen)
    confirmation_cases = _cases(CONFIRMATION_DATASETS, CONFIRMATION_SEEDS, options.quick)
    confirmed = compare(confirmation_cases, [Design(), chosen])
    pages.publish("ensemble", _page(seen, confirmed, chosen), options.write)
    return 0


def designs() -> Iterator[Design]:
    """Yield all designs: rules and numbers with the default pool, the other pools as they are."""
    for kinds, n_members, rule in product(KINDS, COUNTS, RULES):
        # half of the members are of each kind
        if n_members <= MOST_MEMBERS * len(kinds) // 2:
            yield Design("default", kinds, n_members, rule)
    for pool, kinds in product(list(POOLS)[1:], KINDS):
        yield Design(pool, kinds)


def choose(figures: Figures) -> Design:
    """Return the best design, or the one with the fewest members among those as good."""
    every = list(designs())
    best = max(map(figures.mean, every))
    good = [design for design in every if figures.mean(design) >= best - AS_GOOD]
    return min(good, key=lambda design: (design.n_members, -figures.mean(design)))


def compare(cases: Iterable[tuple[str, int]], wanted: Sequence[Design]) -> Figures:
    """Return the figures of designs, and those of a mean member of each pool."""
    figures = Figures()
    for name, seed in cases:
        split = mixed_split(name, seed)
        pools = {
            pool: learn(split, seed, POOLS[pool])
            for pool in {design.pool: None for design in wanted}
        }
        for design in wanted:
            scores = combine(design, pools[design.pool])
            figures.values[str(design)].append(roc_auc_score(split.y_test, scores))
        for pool, errors in pools.items():
            members = [roc_auc_score(split.y_test, error) for error in errors.test]
            figures.values[f"mean member of {pool}"].append(float(np.mean(members)))
        print(f"{name}, seed {seed} done", flush=True)
    return figures


def learn(split: Split, seed: int, arguments: Mapping[str, Any]) -> Errors:
    """Return the errors of the members of a pool."""
    model = SetAtomEnsemble(
        n_members=MOST_MEMBERS, contamination=0.1, random_state=seed, **arguments
    )
    with warnings.catch_warnings():
        # small tables and constant columns are part of the study
        warnings.simplefilter("ignore", UserWarning)
        model.fit(split.train)

    def errors_of(rows: Array) -> Array:
        Z = model.standardizer_.apply(rows)
        return np.array([m.kind.errors(Z, m.atoms, m.radii) for m in model.members_])

    kinds = ["cone" if isinstance(m.kind, ConeAtoms) else "gaussian" for m in model.members_]
    return Errors(errors_of(split.train), errors_of(split.test), kinds)


def combine(design: Design, errors: Errors) -> Array:
    """Return how abnormal the test rows are by a design."""
    members = [i for i, kind in enumerate(errors.kinds) if kind in design.kinds]
    members = members[: design.n_members]
    kinds = [errors.kinds[i] for i in members]
    return Combination.learn(design.rule, errors.train[members], kinds).combine(
        errors.test[members]
    )


def _cases(datasets: Sequence[str], seeds: Sequence[int], quick: bool) -> Iterator[tuple[str, int]]:
    if quick:
        datasets, seeds = [name for name in datasets if name in QUICK_TABLES], seeds[:1]
    yield from product(datasets, seeds)


def _page(seen: Figures, confirmed: Figures, chosen: Design) -> str:
    titles = [
        "design",
        "mean AUC, design half",
        "mean AUC, confirmation half",
        "wins over a member",
    ]
    single = "mean member of default"
    rows = [
        [str(name), f"{seen.mean(name):.4f}", f"{confirmed.mean(name):.4f}", _wins(confirmed, name)]
        for name in {str(chosen): None, str(Design()): None, single: None}
    ]
    tried = [
        [str(design), f"{seen.mean(design):.4f}"]
        for design in sorted(designs(), key=seen.mean, reverse=True)
    ]
    return f"{pages.table(titles, rows)}\n\n{pages.table(['tried', 'mean AUC'], tried)}"


def _wins(figures: Figures, name: str) -> str:
    single = "mean member of default"
    return f"{figures.wins(name, single)} of {len(figures.values[single])}"
