"""Which ensemble is best, chosen on half of the tables and confirmed on the other half.

Designs are compared on the half to choose by. The one with the best mean AUC, or the cheapest that
is as good, is then looked at on the half to confirm on, beside the default and the mean of its
members. Members are learned once for each pool: their number, kinds, the rule and the score are
choices among what is known already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from benchmarks import markdown
from benchmarks.paper.rows import Rows
from benchmarks.quality.halves import CONFIRMATION, DESIGN, Case, Figures, kept
from benchmarks.quality.opinions import atypicality, code
from benchmarks.quality.options import Options
from benchmarks.quality.splits import unwarned
from setatoms import SetAtomEnsemble
from setatoms.decisions import RULES, Combination
from setatoms.estimators.members import BUDGETS, SIZES
from setatoms.learning import FittedDictionary
from setatoms.learning.kinds import find_kind

Array = NDArray[np.float64]

# A larger ensemble has to be better by this much to be worth its time.
AS_GOOD = 0.001
COUNTS = (2, 6, 12, 20, 30, 60)
# Rules differ most where there are many members.
COUNTS_OF_RULES = tuple(BUDGETS.values())
KINDS = (("gaussian", "cone"), ("gaussian",), ("cone",))
OTHER_SCORES = ("objective", "atoms", "coefficients", "disagreement")
# What members of a pool are learned with; all else is chosen afterwards.
POOLS: dict[str, dict[str, Any]] = {
    "default": {"n_members": max(COUNTS)},
    "starts alone": {"diversity": "starts"},
    "3 atoms per feature": {"n_atoms": 3.0},
    "5 iterations": {"n_iter": 5},
    "20 iterations": {"n_iter": 20},
    "60 % of rows": {"subsample": 0.6},
    "70 % of columns": {},
}
# The share of the columns that each member of a pool sees.
COLUMNS = {"70 % of columns": 0.7}
OPINIONS = ("error", "objective", "atoms", "coefficients")
SINGLE = "mean member"


@dataclass(frozen=True)
class Design:
    """One ensemble of the comparison."""

    pool: str = "default"
    kinds: tuple[str, ...] = ("gaussian", "cone")
    n_members: int = BUDGETS["balanced"]
    rule: str = "lower-half"
    scores: tuple[str, ...] = ("error",)

    def __str__(self) -> str:
        words = [f"{self.n_members} members", " and ".join(self.kinds), self.rule]
        return ", ".join([self.pool, *words, " and ".join(self.scores)])


class Opinions(NamedTuple):
    """What each member says of the rows of one part of a table, (n_members, n) each."""

    train: Array
    test: Array

    def of(self, members: Sequence[int]) -> Opinions:
        """Return those of some members."""
        return Opinions(self.train[members], self.test[members])


class Pool(NamedTuple):
    """All members of a pool: their kinds, and their opinions by name."""

    kinds: list[str]
    opinions: dict[str, Opinions]


def study(options: Options) -> str:
    """Run the study."""
    seen = compare(DESIGN.cases(options.quick), list(POOLS), options.keep, options.jobs)
    chosen = choose(seen)
    needed = dict.fromkeys(("default", chosen.pool))
    confirmed = compare(CONFIRMATION.cases(options.quick), list(needed), options.keep, options.jobs)
    return page(seen, confirmed, chosen)


def designs() -> Iterator[Design]:
    """Yield all designs, most of them one step from the default."""
    for kinds, n_members in product(KINDS, COUNTS):
        # half of the members of the pool are of each kind
        if n_members <= max(COUNTS) * len(kinds) // 2:
            yield Design(kinds=kinds, n_members=n_members)
    for rule, n_members in product(RULES, COUNTS_OF_RULES):
        if rule != Design.rule:
            yield Design(n_members=n_members, rule=rule)
    yield from (Design(scores=(score,)) for score in OTHER_SCORES)
    yield from (Design(scores=("error", score)) for score in OTHER_SCORES)
    yield from (Design(pool=pool) for pool in POOLS if pool != Design.pool)


def choose(seen: Sequence[Figures]) -> Design:
    """Return the best design, or the cheapest among those as good."""
    every = list(designs())
    means = {design: mean(seen, str(design)) for design in every}
    good = [design for design in every if means[design] >= max(means.values()) - AS_GOOD]
    return min(good, key=lambda design: (design.n_members, len(design.scores), -means[design]))


def compare(
    cases: Sequence[Case], pools: Sequence[str], folder: Path, n_jobs: int
) -> list[Figures]:
    """Return for each case the AUC of the designs of `pools`; what is in `folder` is kept."""
    found: list[Figures] = []
    for case in cases:
        figures: Figures = {}
        for pool in pools:
            wanted = [design for design in designs() if design.pool == pool]
            figures |= kept(
                folder / "ensemble" / f"{case}-{pool}",
                (_settings(pool), wanted),
                partial(_judge_case, case, pool, wanted, folder, n_jobs),
            )
            click.echo(f"{case}, {pool} done")
        found.append(figures)
    return found


def _judge_case(
    case: Case, pool: str, wanted: Sequence[Design], folder: Path, n_jobs: int
) -> Figures:
    rows = case.rows(folder)
    return judge(rows, learn(rows, case.seed, pool, n_jobs), wanted)


def learn(rows: Rows, seed: int, pool: str, n_jobs: int) -> Pool:
    """Learn the members of a pool and ask them for their opinions."""
    opinions: dict[str, list[tuple[Array, Array]]] = {name: [] for name in OPINIONS}
    kinds: list[str] = []
    for member, train, test in _members(rows, seed, pool, n_jobs):
        errors = [member.errors(Z, n_jobs=n_jobs) for Z in (train, test)]
        opinions["error"].append((errors[0], errors[1]))
        if pool == Design.pool and len(kinds) < Design.n_members:
            parts = code(member, train, n_jobs), code(member, test, n_jobs)
            opinions["objective"].append((parts[0].objective, parts[1].objective))
            opinions["atoms"].append((parts[0].atoms, parts[1].atoms))
            opinions["coefficients"].append(
                atypicality(parts[0].coefficients, parts[1].coefficients)
            )
        kinds.append(member.kind.name)
    return Pool(kinds, {name: _stacked(said) for name, said in opinions.items() if said})


def _members(
    rows: Rows, seed: int, pool: str, n_jobs: int
) -> Iterator[tuple[FittedDictionary, Array, Array]]:
    """Yield the members of a pool with the rows that each sees, standardised."""
    common = {"contamination": 0.1, "n_jobs": n_jobs, "views": ("relation",), **POOLS[pool]}
    if pool not in COLUMNS:
        with unwarned():
            model = SetAtomEnsemble(random_state=seed, **common).fit(rows.train)
        train, test = (model.standardizer_.apply(part) for part in (rows.train, rows.test))
        yield from ((member, train, test) for member in model.members_)
        return
    n_features = rows.train.shape[1]
    n_taken = max(2, round(COLUMNS[pool] * n_features))
    for i in range(Design.n_members):
        rng = np.random.default_rng([seed, i])
        columns = np.sort(rng.choice(n_features, n_taken, replace=False))
        kinds = (Design.kinds[i % len(Design.kinds)],)
        model = SetAtomEnsemble(n_members=1, kinds=kinds, random_state=seed * 1000 + i, **common)
        with unwarned():
            model.fit(rows.train[:, columns])
        apply = model.standardizer_.apply
        yield model.members_[0], apply(rows.train[:, columns]), apply(rows.test[:, columns])


def judge(rows: Rows, pool: Pool, wanted: Sequence[Design]) -> Figures:
    """Return the AUC of designs on the test rows, and that of a mean member."""
    figures = {str(design): _auc(rows, combine(design, pool)) for design in wanted}
    if wanted[0].pool == Design.pool:
        figures[SINGLE] = float(np.mean([_auc(rows, e) for e in pool.opinions["error"].test]))
    return figures


def combine(design: Design, pool: Pool) -> Array:
    """Return how abnormal the test rows are by a design."""
    said = [opinion(design, pool, score) for score in design.scores]
    if len(said) == 1:
        return said[0].test
    return np.asarray(np.mean([standardised(part).test for part in said], axis=0))


def opinion(design: Design, pool: Pool, score: str) -> Opinions:
    """Return one number for each row (n,) from the opinions of the members of a design."""
    members = [i for i, kind in enumerate(pool.kinds) if kind in design.kinds]
    members = members[: design.n_members]
    errors = pool.opinions["error"].of(members)
    combination = Combination.learn(design.rule, errors.train, [pool.kinds[i] for i in members])
    if score == "error":
        return Opinions(*map(combination.combine, errors))
    if score == "disagreement":
        return Opinions(*(np.std(part / combination.units[:, None], axis=0) for part in errors))
    each = [
        standardised(Opinions(*pair))
        for pair in zip(*pool.opinions[score].of(members), strict=True)
    ]
    return Opinions(*(np.mean(part, axis=0) for part in zip(*each, strict=True)))


def standardised(said: Opinions) -> Opinions:
    """Return opinions (n,) in quartile distances from the median of the training rows."""
    low, middle, high = np.quantile(said.train, (0.25, 0.5, 0.75))
    width = max(float(high - low), np.finfo(float).eps)
    return Opinions((said.train - middle) / width, (said.test - middle) / width)


def mean(figures: Sequence[Figures], name: str) -> float:
    """Return the mean AUC of a design, NaN where it was not looked at."""
    return float(np.mean([case.get(name, np.nan) for case in figures]))


def wins(figures: Sequence[Figures], name: str, other: str) -> str:
    """Return on how many tables and seeds a design is better than another."""
    return f"{sum(case[name] > case[other] for case in figures)} of {len(figures)}"


def page(seen: Sequence[Figures], confirmed: Sequence[Figures], chosen: Design) -> str:
    """Return the tables of the study."""
    halves = ["mean AUC, design half", "mean AUC, confirmation half"]
    summary = [
        [title, name, *_means(name, seen, confirmed), wins(confirmed, name, SINGLE)]
        for title, name in (("chosen", str(chosen)), ("default", str(Design())), ("", SINGLE))
    ]
    tried = [
        [str(design), *_means(str(design), seen, confirmed)]
        for design in sorted(designs(), key=lambda design: -mean(seen, str(design)))
    ]
    titles = ["", "design", *halves, "better than a member, confirmation half"]
    return f"{markdown.table(titles, summary)}\n\n{markdown.table(['tried', *halves], tried)}"


def _means(name: str, *parts: Sequence[Figures]) -> list[str]:
    means = [mean(part, name) for part in parts]
    return ["" if np.isnan(value) else f"{value:.4f}" for value in means]


def _auc(rows: Rows, abnormality: Array) -> float:
    return float(roc_auc_score(rows.truth, abnormality))


def _settings(pool: str) -> object:
    distributions = {name: find_kind(name).distributions for name in ("gaussian", "cone")}
    return SetAtomEnsemble(**POOLS[pool]).get_params(), SIZES, distributions, COLUMNS.get(pool)


def _stacked(pairs: Sequence[Sequence[Array]]) -> Opinions:
    train, test = zip(*pairs, strict=True)
    return Opinions(np.array(train), np.array(test))
