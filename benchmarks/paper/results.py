"""The results of one kind of anomalies, averaged over seeds, compared seed by seed."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from benchmarks.paper.published import BASELINES
from benchmarks.paper.statistics import rank_among

Quantity = Literal["auc", "ap", "error", "seconds"]
Key = tuple[str, str]  # method, configuration
Runs = Mapping[str, Mapping[int, "Run"]]  # dataset -> seed -> run


@dataclass(frozen=True)
class Run:
    """A method on a dataset and a seed, averaged over the random starts that succeeded.

    `failed` says that some start did not succeed.
    """

    auc: float | None
    ap: float | None
    error: float | None
    seconds: float | None
    failed: bool = False
    n_starts: int = 1


@dataclass(frozen=True)
class Failure:
    """A cell without a result, and why."""

    method: str
    config: str
    dataset: str
    seed: int
    reason: str


@dataclass(frozen=True)
class Results:
    """The cells of one kind of anomalies.

    Attributes
    ----------
    anomalies : str
        ``"dependency"``, ``"local"``, ``"cluster"``, ``"global"`` or ``"real"``.
    runs : mapping
        (method, configuration) -> dataset -> seed -> :class:`Run`.
    failures : list of Failure
        Every failed cell.
    """

    anomalies: str
    runs: Mapping[Key, Runs]
    failures: list[Failure]

    @cached_property
    def n_cells(self) -> int:
        """How many cells there are, failed ones included."""
        return sum(
            run.n_starts
            for runs in self.runs.values()
            for by_seed in runs.values()
            for run in by_seed.values()
        )

    @cached_property
    def datasets(self) -> list[str]:
        """The names of all datasets, ADBench's numbers in order."""
        return sorted({d for runs in self.runs.values() for d in runs}, key=natural)

    @cached_property
    def seeds(self) -> list[int]:
        """All seeds."""
        return sorted({s for runs in self.runs.values() for r in runs.values() for s in r})

    @cached_property
    def baselines(self) -> list[str]:
        """Those of the 14 baselines that the store has any cell of, in the paper's order."""
        return [name for name in BASELINES if (name, "default") in self.runs]

    def configurations(self, method: str) -> list[str]:
        """Return the configurations that `method` was run in."""
        return sorted({config for name, config in self.runs if name == method}, key=natural)

    def per_dataset(self, key: Key, quantity: Quantity) -> dict[str, float]:
        """Return dataset -> average over the seeds that succeeded."""
        averages = {
            dataset: mean_of(getattr(run, quantity) for run in by_seed.values())
            for dataset, by_seed in self.runs.get(key, {}).items()
        }
        return {dataset: value for dataset, value in averages.items() if value is not None}

    def over_configurations(self, keys: Iterable[Key], quantity: Quantity) -> dict[str, float]:
        """Return dataset -> average over seeds, then over the given configurations."""
        return _average(self.per_dataset(key, quantity) for key in keys)

    def ranks(self, key: Key) -> dict[str, float]:
        """Return dataset -> rank of the method alone among the baselines of the store.

        Areas are averaged over the seeds that the method and every baseline were run with; a
        dataset without such a seed is left out. Who failed on one of these seeds counts as worst.
        """
        rivals = [self.runs[name, "default"] for name in self.baselines if name != key[0]]
        if not rivals:
            return {}
        ranks = {}
        for dataset, own in self.runs.get(key, {}).items():
            others = [rival.get(dataset, {}) for rival in rivals]
            seeds = set(own).intersection(*others)
            if seeds:
                ranks[dataset] = rank_among(
                    _area(own, seeds), [_area(other, seeds) for other in others]
                )
        return ranks

    def gains(
        self, pairs: Iterable[tuple[Key, Key]], quantity: Quantity = "auc"
    ) -> dict[str, float]:
        """Return dataset -> by how much the first of each pair exceeds the second.

        Only seeds on which both succeeded count, since another seed means other data. Averaged
        over these seeds, then over the pairs.
        """
        return _average(self._gain(first, second, quantity) for first, second in pairs)

    def paired(self, first: Key, second: Key, quantity: Quantity) -> dict[str, tuple[float, float]]:
        """Return dataset -> averages of both over the seeds on which both succeeded."""
        averages = {}
        for dataset, own in self.runs.get(first, {}).items():
            other = self.runs.get(second, {}).get(dataset, {})
            values = [
                (getattr(own[seed], quantity), getattr(other[seed], quantity))
                for seed in sorted(set(own) & set(other))
            ]
            complete = [pair for pair in values if None not in pair]
            if complete:
                one, two = (
                    math.fsum(column) / len(complete) for column in zip(*complete, strict=True)
                )
                averages[dataset] = (one, two)
        return averages

    def of_seeds(self, *seeds: int) -> Results:
        """Return the results of some seeds alone."""
        runs: dict[Key, Runs] = {}
        for key, by_dataset in self.runs.items():
            kept = {
                dataset: {seed: by[seed] for seed in seeds if seed in by}
                for dataset, by in by_dataset.items()
            }
            if any(kept.values()):
                runs[key] = {dataset: by for dataset, by in kept.items() if by}
        failures = [failure for failure in self.failures if failure.seed in seeds]
        return replace(self, runs=runs, failures=failures)

    def _gain(self, first: Key, second: Key, quantity: Quantity) -> dict[str, float]:
        pairs = self.paired(first, second, quantity)
        return {dataset: one - two for dataset, (one, two) in pairs.items()}


def mean_of(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are there."""
    present = [value for value in values if value is not None]
    return math.fsum(present) / len(present) if present else None


def natural(name: str) -> list[tuple[int, float, str]]:
    """Return a sort key by which ``2_annthyroid`` comes before ``12_fault``, n2.5 before n3."""
    words = re.split(r"(\d+(?:\.\d+)?)", name)
    # every second word is a number
    return [
        (0, float(word), "") if i % 2 else (1, 0.0, word.lower()) for i, word in enumerate(words)
    ]


def plain_name(dataset: str) -> str:
    """Return a dataset's name without ADBench's number.

    Examples
    --------
    >>> plain_name("45_wine")
    'wine'
    """
    return re.sub(r"^\d+_", "", dataset)


def _area(runs: Mapping[int, Run], seeds: Iterable[int]) -> float | None:
    """Return the average area over `seeds`, or None if the method failed on any of them."""
    chosen = [runs[seed] for seed in seeds]
    return None if any(run.failed for run in chosen) else mean_of(run.auc for run in chosen)


def _average(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return dataset -> mean over the parts that have it."""
    collected: dict[str, list[float]] = defaultdict(list)
    for part in parts:
        for dataset, value in part.items():
            collected[dataset].append(value)
    return {dataset: math.fsum(values) / len(values) for dataset, values in collected.items()}
