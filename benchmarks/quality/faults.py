"""How many absurd, shifted, swapped and repeated rows are found: new ones, and learned ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.metrics import roc_auc_score

from benchmarks import markdown
from benchmarks.quality.options import Options
from benchmarks.quality.rankings import Score, fifth_neighbour, forest, lof, ours
from benchmarks.quality.splits import DETECTORS, unwarned
from setatoms import SetAtomEnsemble

Array = NDArray[np.float64]
Fault = Callable[[Array, Array, np.random.Generator], Array]

STUDIED: dict[str, Any] = {"ensemble": SetAtomEnsemble, **DETECTORS}
SEEDS, SEEDS_QUICK = (0, 1, 2), (0,)
MOST_ROWS = 100
FAULTY_SHARE, REPEATED_SHARE = 0.02, 0.05
SURE_FROM, ALL_FROM = 10.0, 30.0
LEAST_SURE, LEAST_FALSE, MOST_FALSE = 0.95, 0.03, 0.07
CLOSE = 0.02


def pump_log(n_rows: int = 3000, seed: int = 0) -> Array:
    """Return a made log of a pump: speed, flow, pressure, power, ambient and its temperature."""
    rng = np.random.default_rng(seed)
    load = rng.uniform(0.2, 1.0, n_rows)
    ambient = rng.normal(18, 4, n_rows)
    columns = [
        1500 * np.sqrt(load) + rng.normal(0, 15, n_rows),
        120 * load + rng.normal(0, 2, n_rows),
        6 + 2 * load + rng.normal(0, 0.1, n_rows),
        50 * load**1.5 + rng.normal(0, 0.8, n_rows),
        ambient,
        ambient + 8 + 22 * load + rng.normal(0, 1, n_rows),
        rng.normal(2, 0.3, n_rows),
    ]
    return np.column_stack(columns)


TABLES: dict[str, Callable[[], Array]] = {
    "diabetes": lambda: load_diabetes(scaled=False).data,
    "wine": lambda: load_wine().data,
    "breast cancer": lambda: load_breast_cancer().data,
    "pump log": pump_log,
}


def off_by(deviations: float) -> Fault:
    """Return the fault of one value that is so many standard deviations off, up or down."""

    def spoil(rows: Array, table: Array, rng: np.random.Generator) -> Array:
        spoiled, each = rows.copy(), np.arange(len(rows))
        columns = rng.integers(rows.shape[1], size=len(rows))
        signs = rng.choice([-1.0, 1.0], len(rows))
        spoiled[each, columns] += signs * deviations * table.std(axis=0)[columns]
        return spoiled

    return spoil


def no_value(rows: Array, _table: Array, rng: np.random.Generator) -> Array:
    """Write -9999 into one column of each row."""
    spoiled = rows.copy()
    spoiled[np.arange(len(rows)), rng.integers(rows.shape[1], size=len(rows))] = -9999.0
    return spoiled


def as_far(times: float) -> Fault:
    """Return the fault of all values being so many times as far from the mean."""
    return lambda rows, table, _: table.mean(axis=0) + times * (rows - table.mean(axis=0))


def shifted(rows: Array, _table: Array, _rng: np.random.Generator) -> Array:
    """Move the values of half of the columns by one column."""
    half = rows.shape[1] // 2
    return np.hstack([rows[:, :half], np.roll(rows[:, half:], 1, axis=1)])


def two_foreign(rows: Array, table: Array, rng: np.random.Generator) -> Array:
    """Take two values of each row from other rows."""
    spoiled = rows.copy()
    for row in spoiled:
        columns = rng.choice(rows.shape[1], 2, replace=False)
        row[columns] = table[rng.integers(len(table), size=2), columns]
    return spoiled


def repeated(rows: Array, table: Array, rng: np.random.Generator) -> Array:
    """Repeat one spoiled row, with a little noise."""
    spoiled = off_by(6.0)(rows[:1], table, rng)
    spoiled = off_by(6.0)(spoiled, table, rng)
    return spoiled + 0.05 * table.std(axis=0) * rng.normal(size=rows.shape)


SIZES = (5.0, 10.0, 30.0, 100.0, 1e4, 1e8)
NEW: dict[str, Fault] = {
    **{f"one value {size:g} sd off": off_by(size) for size in SIZES},
    "-9999": no_value,
    **{f"all values {times:g} times as far": as_far(times) for times in (8.0, 100.0, 1e6)},
}
LEARNED: dict[str, Fault] = {
    "one value 10 sd off": off_by(10.0),
    "-9999": no_value,
    "all values 8 times as far": as_far(8.0),
    "half of the columns shifted by one": shifted,
    "the same fault many times": repeated,
    "two values from other rows": two_foreign,
}


def study(options: Options) -> str:
    """Run the study."""
    seeds = SEEDS_QUICK if options.quick else SEEDS
    flagged = flagged_shares(seeds)
    areas = areas_among_learned(seeds)
    return f"{page_of_new(flagged)}\n\n{page_of_learned(areas)}"


def flagged_shares(seeds: Sequence[int]) -> dict[tuple[str, str], list[float]]:
    """Return the share of new rows that is flagged, by fault and detector, after a clean fit."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for name, load in TABLES.items():
        table = load()
        for seed in seeds:
            rng = np.random.default_rng(seed)
            order = rng.permutation(len(table))
            train, rest = (
                table[order[: int(0.7 * len(table))]],
                table[order[int(0.7 * len(table)) :]],
            )
            spoiled = {fault: spoil(rest[:MOST_ROWS], train, rng) for fault, spoil in NEW.items()}
            for kind, make in STUDIED.items():
                with unwarned():
                    detector = make(random_state=seed).fit(train)
                for fault, rows in {"none": rest, **spoiled}.items():
                    found[fault, kind].append(float(np.mean(detector.predict(rows) == -1)))
        click.echo(f"{name}: new rows done")
    return found


def areas_among_learned(seeds: Sequence[int]) -> dict[tuple[str, str], list[float]]:
    """Return the area under the ROC curve of faults among the rows learned from."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for name, load in TABLES.items():
        for seed in seeds:
            for fault, spoil in LEARNED.items():
                table, faulty = _spoil_some(load(), spoil, np.random.default_rng([seed, 1]))
                for method, score in METHODS.items():
                    with unwarned():
                        found[fault, method].append(roc_auc_score(faulty, score(table, seed)))
        click.echo(f"{name}: rows learned from done")
    return found


def _spoil_some(
    table: Array, spoil: Fault, rng: np.random.Generator
) -> tuple[Array, NDArray[np.bool_]]:
    share = REPEATED_SHARE if spoil is repeated else FAULTY_SHARE
    some = rng.permutation(len(table))[: max(3, round(share * len(table)))]
    faulty = np.zeros(len(table), np.bool_)
    faulty[some] = True
    spoiled = table.copy()
    spoiled[some] = spoil(table[some], table, rng)
    return spoiled, faulty


OURS = "ensemble"
PEERS: dict[str, Score] = {
    "LOF": lof,
    "5th neighbour": fifth_neighbour,
    "isolation forest": forest,
}
METHODS: dict[str, Score] = {
    **{name: ours(make) for name, make in STUDIED.items()},
    **PEERS,
}


def page_of_new(found: dict[tuple[str, str], list[float]]) -> str:
    """Return the table of shares flagged, with verdicts."""
    titles = ["new rows, share flagged", *STUDIED, "goal"]
    rows = []
    for fault in ("none", *NEW):
        shares = [float(np.mean(found[fault, kind])) for kind in STUDIED]
        least, most = goal_of(fault)
        cells = [f"{share:.1%} {markdown.verdict(least <= share <= most)}" for share in shares]
        words = f"{least:.0%} to {most:.0%}" if fault == "none" else f"≥ {least:.0%}"
        rows.append([fault, *cells, words if least else ""])
    return markdown.table(titles, rows)


def goal_of(fault: str) -> tuple[float, float]:
    """Return the least and the largest share of rows with a fault that may be flagged."""
    if fault == "none":
        return LEAST_FALSE, MOST_FALSE
    if fault.startswith("one value"):
        size = float(fault.split()[2])
        return (1.0 if size >= ALL_FROM else LEAST_SURE if size >= SURE_FROM else 0.0), 1.0
    return 1.0, 1.0


def page_of_learned(found: dict[tuple[str, str], list[float]]) -> str:
    """Return the table of areas, with verdicts on the ensemble."""
    titles = ["among the rows learned from, ROC AUC", *METHODS, "goal"]
    rows = []
    for fault in LEARNED:
        means = {method: float(np.mean(found[fault, method])) for method in METHODS}
        goal = max(means[peer] for peer in PEERS) - CLOSE
        cells = [
            f"{mean:.3f}" + (f" {markdown.verdict(mean >= goal)}" if method == OURS else "")
            for method, mean in means.items()
        ]
        rows.append([fault, *cells, f"≥ {goal:.3f}"])
    return markdown.table(titles, rows)
