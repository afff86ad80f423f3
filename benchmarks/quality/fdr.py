"""Whether the promised share of false alarms holds, and how many anomalies are found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks import markdown
from benchmarks.quality.options import Options
from benchmarks.quality.splits import (
    RELATION_DETECTORS,
    Labels,
    Split,
    cases,
    clean_split,
    unwarned,
)
from setatoms.decisions import benjamini_hochberg

LEVEL, MOST = 0.1, 0.12
SEEDS = (1, 2, 3)
SHARES = (0.01, 0.05, 0.1)
TITLES = (
    "calibration, detector",
    "mean FDR",
    "standard error",
    "largest of a table",
    "power",
    f"FDR ≤ {MOST}",
    "none flagged in",
    "FDR elsewhere",
    *(f"normal rows with p ≤ {share:g}" for share in SHARES),
)

PValues = NDArray[np.float64]


class Outcome(NamedTuple):
    """What happened on one table with one seed."""

    name: str
    false_share: float  # of the flagged rows
    power: float  # the share of anomalies flagged
    tails: list[float]  # the share of normal rows whose p-value is at most each of SHARES

    @property
    def flags_any(self) -> bool:
        """Whether any row was flagged, rightly or wrongly."""
        return self.false_share > 0 or self.power > 0


def study(options: Options) -> str:
    """Run the study."""
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    for name, seed in cases(options.quick, SEEDS):
        split = clean_split(name, seed)
        for method, p_values in _p_values(split, seed):
            outcomes[method].append(judge(name, p_values, split.y_test))
            click.echo(f"{name} {seed} {method}: {outcomes[method][-1][1:3]}")
    rows = [_row(method, outcomes[method]) for method in sorted(outcomes)]
    return markdown.table(TITLES, rows)


def _p_values(split: Split, seed: int) -> Iterator[tuple[str, PValues]]:
    """Yield the p-values of the test rows by each detector, calibrated in both ways."""
    part, rest = np.array_split(split.train, 2)
    with unwarned():
        for kind, detector in RELATION_DETECTORS.items():
            crossed = detector(random_state=seed).fit(split.train)
            yield f"cross-fitted, {kind}", crossed.p_values(split.test)
            apart = detector(random_state=seed, contamination=0.1).fit(part).calibrate(rest)
            yield f"held-out half, {kind}", apart.p_values(split.test)


def judge(name: str, p_values: PValues, y: Labels) -> Outcome:
    """Count the false and the true discoveries among rows with labels `y`."""
    flagged = benjamini_hochberg(p_values, LEVEL)
    normal = y == 0
    return Outcome(
        name,
        float(np.sum(flagged & normal) / max(1, np.sum(flagged))),
        float(np.mean(flagged[~normal])),
        [float(np.mean(p_values[normal] <= share)) for share in SHARES],
    )


def _row(method: str, outcomes: Sequence[Outcome]) -> list[str]:
    shares = np.array([outcome.false_share for outcome in outcomes])
    names = np.array([outcome.name for outcome in outcomes])
    worst = max(shares[names == name].mean() for name in np.unique(names))
    power = np.mean([outcome.power for outcome in outcomes])
    some = np.array([outcome.flags_any for outcome in outcomes])
    tails = np.mean([outcome.tails for outcome in outcomes], axis=0)
    return [
        method,
        f"{shares.mean():.3f}",
        f"{shares.std() / np.sqrt(len(shares)):.3f}",
        f"{worst:.2f}",
        f"{power:.3f}",
        markdown.verdict(shares.mean() <= MOST),
        f"{np.mean(~some):.0%}",
        f"{shares[some].mean():.3f}" if some.any() else "",
        *(f"{tail:.4f}" for tail in tails),
    ]
