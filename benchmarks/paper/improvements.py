"""What adapting the radii gains on each dataset: the content of Figures 1 to 3."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.paper.published import CONE_METHODS, TWINS, configurations
from benchmarks.paper.results import Results
from benchmarks.paper.statistics import improvement_ratio

ADAPTIVE_CONES = tuple(method for method in TWINS if method in CONE_METHODS)


def improvements(results: Results, method: str) -> dict[str, list[float]]:
    """Return dataset -> gains in ROC AUC over the twin of `method`, one per configuration."""
    gains: dict[str, list[float]] = {}
    for config in configurations(method):
        for dataset, (adaptive, fixed) in _areas(results, method, config).items():
            gains.setdefault(dataset, []).append(adaptive - fixed)
    return gains


def best_ratios(results: Results, method: str) -> dict[str, float]:
    """Return dataset -> largest improvement ratio of `method` over its configurations."""
    best: dict[str, float] = {}
    for config in configurations(method):
        for dataset, (adaptive, fixed) in _areas(results, method, config).items():
            ratio = improvement_ratio(adaptive, fixed)
            best[dataset] = max(ratio, best.get(dataset, ratio))
    return best


@dataclass(frozen=True)
class RatioSummary:
    """What the paper says of Figure 3 in words.

    Attributes
    ----------
    n_datasets : int
        Datasets with an improvement ratio.
    n_perfect : int
        Those where every twin has a ROC AUC of 1 in every configuration that was run.
    n_half : int
        Those of the others where an adaptive method covers at least half of the margin.
    """

    n_datasets: int
    n_perfect: int
    n_half: int

    def __str__(self) -> str:
        rest = self.n_datasets - self.n_perfect
        return (
            f"On {self.n_perfect} of {self.n_datasets} datasets the fixed radii already give a ROC "
            f"AUC of 1 (paper: 4 of 30). On {self.n_half} of the other {rest} an adaptive method "
            "covers at least half of the margin (paper: 13 of 26)."
        )


def summarise_ratios(results: Results) -> RatioSummary:
    """Return on how many datasets adaptive cones cover at least half of the margin."""
    ratios = [best_ratios(results, method) for method in ADAPTIVE_CONES]
    datasets = {dataset for by_dataset in ratios for dataset in by_dataset}
    lowest = _lowest_fixed_areas(results)
    perfect = {dataset for dataset in datasets if lowest[dataset] == 1}
    half = {
        dataset
        for dataset in datasets - perfect
        if max(by_dataset.get(dataset, 0.0) for by_dataset in ratios) >= 0.5
    }
    return RatioSummary(len(datasets), len(perfect), len(half))


def _lowest_fixed_areas(results: Results) -> dict[str, float]:
    """Return dataset -> smallest area of the twins of adaptive cones over all configurations."""
    lowest: dict[str, float] = {}
    for twin in {TWINS[method] for method in ADAPTIVE_CONES}:
        for config in configurations(twin):
            for dataset, area in results.per_dataset((twin, config), "auc").items():
                lowest[dataset] = min(area, lowest.get(dataset, area))
    return lowest


def _areas(results: Results, method: str, config: str) -> dict[str, tuple[float, float]]:
    return results.paired((method, config), (TWINS[method], config), "auc")
