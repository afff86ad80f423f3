"""Which method is better: the orderings the paper claims, and tests over the datasets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.paper.published import (
    CONE_CONFIGS,
    GAUSSIAN_CONFIGS,
    GAUSSIAN_METHODS,
    SET_ATOM_METHODS,
    TWINS,
    VECTOR_METHOD,
    configurations,
)
from benchmarks.paper.results import Key, Quantity, Results, mean_of
from benchmarks.paper.statistics import Interval, bootstrap_mean, holm, signed_rank

ADAPTIVE_GAUSSIAN = tuple(m for m in TWINS if m in GAUSSIAN_METHODS)

# Gaussian method -> the cone methods that differ from it in the kind of atom alone.
_CONE_COUNTERPARTS = {
    "DL-Gauss-L1": ("Cone-DL", "Cone-DL-D"),
    "DLG-L1-adapt (0-norm)": ("DLC-adapt (0-norm)", "DLC-D-adapt (0-norm)"),
    "DLG-L1-adapt (1-norm)": ("DLC-adapt (1-norm)", "DLC-D-adapt (1-norm)"),
}

_WORDS: dict[Quantity, str] = {"auc": "a larger ROC AUC", "error": "a smaller error"}


@dataclass(frozen=True)
class Ordering:
    """A claim that one method is better than another, and what the store says of it.

    Attributes
    ----------
    claim : str
        The claim this is an instance of.
    better, worse : str
        Which method should be better than which.
    config : str
        The configuration, or ``"all"`` for the average over those compared.
    quantity : {"auc", "error"}
        What is compared.
    gain : Interval or None
        The mean over datasets by which `better` is better, with its bootstrap interval: higher
        for the area, lower for the error. None if the store has no cells to compare.
    """

    claim: str
    better: str
    worse: str
    config: str
    quantity: Quantity
    gain: Interval | None

    @property
    def holds(self) -> bool | None:
        """Whether the mean gain is positive; None where nothing could be compared."""
        return None if self.gain is None else self.gain.mean > 0

    @property
    def beyond_doubt(self) -> bool:
        """Whether the whole confidence interval lies on one side of zero."""
        return self.gain is not None and (self.gain.low > 0 or self.gain.high < 0)


@dataclass(frozen=True)
class PairTest:
    """Wilcoxon's signed-rank test of two methods over the datasets.

    Attributes
    ----------
    first, second : str
        The methods.
    gain : Interval
        The mean difference in ROC AUC, first minus second.
    wins, losses : int
        On how many datasets the first, or the second, is better.
    p_value, corrected : float
        Two-sided, before and after Holm's correction within its family of tests.
    """

    first: str
    second: str
    gain: Interval
    wins: int
    losses: int
    p_value: float
    corrected: float


def check_orderings(results: Results) -> list[Ordering]:
    """Return what the store says of every ordering that the paper claims.

    In each of the 18 configurations the adaptive methods (1-norm) have a larger ROC AUC and a
    smaller error than their twins with fixed radii, for Gaussian atoms and both kinds of cone
    learning; Gaussian atoms are above cones; every adaptive Gaussian method is above every
    baseline in each configuration (the closest baseline is given).
    """
    return [
        *_adaptive_beats_fixed(results),
        *_gaussian_above_cone(results),
        *_gaussian_above_baselines(results),
    ]


def adaptation_tests(results: Results) -> list[PairTest]:
    """Test every adaptive method against its twin, averaged over configurations."""
    contests = {
        (method, twin): [((method, c), (twin, c)) for c in configurations(method)]
        for method, twin in TWINS.items()
    }
    return _test_family(results, contests)


def baseline_tests(results: Results, n_best: int = 3) -> list[PairTest]:
    """Test every set-atom method against the best baselines, averaged over configurations.

    Averaging, instead of taking the best configuration, keeps the test free of a choice made on
    the test rows. AK-SVD + OMP, the start of most methods, is among the rivals.
    """
    rivals: list[tuple[str, list[Key]]] = [
        (name, [(name, "default")]) for name in best_baselines(results)[:n_best]
    ]
    sizes = results.configurations(VECTOR_METHOD)
    if sizes:
        rivals.append((VECTOR_METHOD, [(VECTOR_METHOD, size) for size in sizes]))
    contests = {
        (method, rival): [((method, c), key) for c in configurations(method) for key in keys]
        for method in SET_ATOM_METHODS
        for rival, keys in rivals
    }
    return _test_family(results, contests)


def best_baselines(results: Results) -> list[str]:
    """Return the baselines of the store from the largest mean ROC AUC to the smallest.

    Those with fewer than half the datasets of another come last, so that a mean over a few easy
    datasets does not lead.
    """
    areas = {name: results.per_dataset((name, "default"), "auc") for name in results.baselines}
    present = {name: list(by.values()) for name, by in areas.items() if by}
    most = max(map(len, present.values()), default=0)
    return sorted(
        present, key=lambda name: (2 * len(present[name]) < most, -np.mean(present[name]))
    )


def _adaptive_beats_fixed(results: Results) -> Iterator[Ordering]:
    for method, twin in TWINS.items():
        if "(1-norm)" not in method:
            continue
        for quantity, words in _WORDS.items():
            for config in configurations(method):
                pair = ((method, config), (twin, config))
                yield Ordering(
                    f"{method} has {words} than {twin}",
                    method,
                    twin,
                    config,
                    quantity,
                    _gain(results, [pair], quantity),
                )


def _gaussian_above_cone(results: Results) -> Iterator[Ordering]:
    # The same place in Tables 1 and 4: n/m of 2, 2.5, 3 beside 2, 3, 4.
    places = list(zip(GAUSSIAN_CONFIGS, CONE_CONFIGS, strict=True))
    for gaussian, cones in _CONE_COUNTERPARTS.items():
        for cone in cones:
            pairs = [((gaussian, here), (cone, there)) for here, there in places]
            yield Ordering(
                "Gaussian atoms have a larger ROC AUC than cones",
                gaussian,
                cone,
                "all",
                "auc",
                _gain(results, pairs, "auc"),
            )


def _gaussian_above_baselines(results: Results) -> Iterator[Ordering]:
    for method in ADAPTIVE_GAUSSIAN:
        claim = f"{method} has a larger mean ROC AUC than every baseline"
        for config in configurations(method):
            rival = _closest_baseline(results, (method, config))
            gain = _gain(results, [((method, config), (rival, "default"))], "auc")
            yield Ordering(claim, method, rival, config, "auc", gain)


def _closest_baseline(results: Results, key: Key) -> str:
    """Return the baseline that `key` exceeds least, over the cells that it shares with each."""
    margins = {
        name: mean_of(results.gains([(key, (name, "default"))]).values())
        for name in results.baselines
    }
    known = {name: margin for name, margin in margins.items() if margin is not None}
    return min(known, key=lambda name: known[name], default="any baseline")


def _gain(
    results: Results, pairs: Iterable[tuple[Key, Key]], quantity: Quantity
) -> Interval | None:
    """Return by how much the first of each pair is better, or None without common cells."""
    gains = np.array(list(results.gains(pairs, quantity).values()))
    if gains.size == 0:
        return None
    return bootstrap_mean(-gains if quantity == "error" else gains)


def _test_family(
    results: Results, contests: dict[tuple[str, str], list[tuple[Key, Key]]]
) -> list[PairTest]:
    """Test each contest that has common cells and correct all the p-values together."""
    gains = {names: list(results.gains(pairs).values()) for names, pairs in contests.items()}
    gains = {names: values for names, values in gains.items() if values}
    p_values = [signed_rank(values) for values in gains.values()]
    return [
        PairTest(
            first=first,
            second=second,
            gain=bootstrap_mean(values),
            wins=sum(v > 0 for v in values),
            losses=sum(v < 0 for v in values),
            p_value=p_value,
            corrected=float(corrected),
        )
        for ((first, second), values), p_value, corrected in zip(
            gains.items(), p_values, holm(p_values), strict=True
        )
    ]
