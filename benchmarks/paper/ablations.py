"""The ensemble: its budgets beside single members and other ensembles, and its ablations."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.paper.ensembles import ABLATIONS, BUDGETS, ENSEMBLE, MEMBERS, NEIGHBOUR_ENSEMBLES
from benchmarks.paper.layout import Column, Entry, Table, number
from benchmarks.paper.results import Key, Results, mean_of
from benchmarks.paper.summaries import mean_cell

_BALANCED = (ENSEMBLE.name, "balanced")
_ONES = [(ENSEMBLE.name, name) for name in MEMBERS]


def ensemble_tables(results: Results) -> list[Table]:
    """Return both tables, or none if the store has no ensemble."""
    if not results.configurations(ENSEMBLE.name):
        return []
    return [budget_table(results), ablation_table(results)]


def budget_table(results: Results) -> Table:
    """Return what ensembles gain over their members, and what ensembles of neighbours reach."""
    rows = []
    for name in BUDGETS:
        key = (ENSEMBLE.name, name)
        # compared with the mean of its kinds of members, seed by seed
        gains = results.gains([(key, one) for one in _ONES])
        rows.append([Entry(f"{ENSEMBLE.name} {name}"), *_figures(results, key), *_compared(gains)])
    rows += [[Entry(config), *_figures(results, (name, config))] for name, config in _ONES]
    rows += [
        [Entry(peer.name), *_figures(results, (peer.name, "default"))]
        for peer in NEIGHBOUR_ENSEMBLES
    ]
    names = ["", "ROC AUC", "rank", "seconds", "datasets", "above single members", "better on"]
    notes = [
        "Single members are those called one gaussian and one cone; the gain is over their mean.",
        "Ranks are among the baselines of the store, each method alone.",
        "An ensemble of COF has seed 1 alone.",
    ]
    return Table(
        "Ensembles",
        [Column(name) for name in names],
        [_filled(row, len(names)) for row in rows],
        notes,
    )


def ablation_table(results: Results) -> Table:
    """Return what each change to the balanced budget does, on the same data."""
    rows = [
        [
            Entry(name),
            mean_cell({dataset: one for dataset, (one, _) in pairs.items()}),
            *_compared({dataset: one - two for dataset, (one, two) in pairs.items()}),
        ]
        for name in ABLATIONS
        if (pairs := results.paired((ENSEMBLE.name, name), _BALANCED, "auc"))
    ]
    names = ["change", "ROC AUC", "above balanced", "better on"]
    return Table("Ablations of the ensemble", [Column(name) for name in names], rows, [])


def _figures(results: Results, key: Key) -> list[Entry]:
    areas = results.per_dataset(key, "auc")
    return [
        mean_cell(areas),
        number(mean_of(results.ranks(key).values()), 2),
        mean_cell(results.per_dataset(key, "seconds"), digits=2),
        number(len(areas), 0),
    ]


def _compared(gains: Mapping[str, float]) -> list[Entry]:
    """Return the mean gain, and on how many datasets there is one."""
    if not gains:
        return [Entry("-"), Entry("-")]
    mean = mean_of(gains.values()) or 0.0
    better = sum(gain > 0 for gain in gains.values())
    return [Entry(f"{mean:+.4f}", mean), Entry(f"{better} of {len(gains)}", better)]


def _filled(row: list[Entry], width: int) -> list[Entry]:
    return row + [Entry("")] * (width - len(row))
