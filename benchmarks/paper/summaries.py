"""Tables that the paper tells in words: each method at a glance, baselines, failures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from benchmarks.paper.comparisons import best_baselines
from benchmarks.paper.ensembles import ENSEMBLE
from benchmarks.paper.layout import Column, Entry, Table, number
from benchmarks.paper.published import (
    BASELINES,
    SET_ATOM_METHODS,
    VECTOR_METHOD,
    Measure,
    printed_values,
    reported,
)
from benchmarks.paper.results import Key, Results, mean_of, plain_name
from benchmarks.paper.statistics import bootstrap_mean

_INTERVAL_NOTE = "The interval is the 95 % bootstrap interval of the mean over datasets."
_HEAD = ("ROC AUC", "95 % interval")
_TAIL = ("avg. precision", "rank", "error", "seconds", "datasets", "failed")


def method_table(results: Results) -> Table:
    """Return each set-atom method averaged over its configurations, and its best one."""
    known = [VECTOR_METHOD, *SET_ATOM_METHODS]
    others = {name for name, _ in results.runs} - {*known, *BASELINES, ENSEMBLE.name}
    rows = [
        _method_row(results, method)
        for method in [*known, *sorted(others)]
        if results.configurations(method)
    ]
    names = ["method", *_HEAD, "best", "best configuration", *_TAIL]
    return Table(
        "Methods, averaged over their configurations: ours (paper)",
        [Column(name) for name in names],
        rows,
        [_INTERVAL_NOTE, "The best configuration is chosen on the test rows, as in the paper."],
    )


def baseline_table(results: Results) -> Table:
    """Return the mean area, its interval and the rank of every baseline, best first."""
    order = best_baselines(results)
    order += [name for name in results.baselines if name not in order]
    # a baseline has no representation error
    shown = [name for name in (*_HEAD, *_TAIL) if name != "error"]
    rows = []
    for name in order:
        summary = _summary(results, [(name, "default")], name)
        rows.append([Entry(name), *(summary[column] for column in shown)])
    missing = [name for name in BASELINES if name not in order]
    notes = [_INTERVAL_NOTE, f"Ranks are among the {len(order)} baselines of the store."]
    if missing:
        notes.append(f"Not in the store: {', '.join(missing)}.")
    columns = [Column(name) for name in ("method", *shown)]
    return Table("Baselines: ours (paper)", columns, rows, notes)


def neighbour_table(results: Results) -> Table:
    """Return COF and LOF by their number of neighbours."""
    rows = [
        [
            Entry(method),
            Entry(config),
            mean_cell(
                results.per_dataset((method, config), "auc"), reported(method, "auc", config)
            ),
            number(mean_of(results.ranks((method, config)).values()), 2),
        ]
        for method in ("COF", "LOF")
        for config in results.configurations(method)
    ]
    columns = [Column(name) for name in ("method", "configuration", "ROC AUC", "rank")]
    notes = [
        "k10 is n_neighbors=10 (the default is 20), leaf10 is leaf_size=10 (the default is 30)."
    ]
    return Table("COF and LOF by neighbours and leaf size: ours (paper)", columns, rows, notes)


def dataset_table(results: Results) -> Table:
    """Return ROC AUC per dataset: the best baseline, then our methods over configurations."""
    methods = [m for m in (VECTOR_METHOD, *SET_ATOM_METHODS) if results.configurations(m)]
    areas = {m: results.over_configurations(_keys(results, m), "auc") for m in methods}
    rivals = {name: results.per_dataset((name, "default"), "auc") for name in results.baselines}
    rows = []
    for dataset in results.datasets:
        found = [(by[dataset], name) for name, by in rivals.items() if dataset in by]
        best, name = max(found, default=(None, "-"))
        ours = [areas[method].get(dataset) for method in methods]
        top = max((area for area in (best, *ours) if area is not None), default=None)
        cells = [number(area, 4) for area in (best, *ours)]
        marked = [Entry(c.text, c.value, "best" if c.value == top else "") for c in cells]
        rows.append([Entry(plain_name(dataset)), Entry(name), *marked])
    names = ["dataset", "best baseline", "its ROC AUC", *methods]
    notes = [
        "The best baseline is chosen on the test rows; our methods are not, they are averages."
    ]
    return Table("ROC AUC per dataset", [Column(name) for name in names], rows, notes)


def failure_table(results: Results) -> Table:
    """Return which methods failed, on how many cells, where and why."""
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for failure in results.failures:
        places[failure.method, failure.reason].append(plain_name(failure.dataset))
    rows = [
        [
            Entry(method),
            number(len(names), 0),
            Entry(", ".join(dict.fromkeys(names))),
            Entry(reason),
        ]
        for (method, reason), names in places.items()
    ]
    columns = [Column(name) for name in ("method", "cells", "datasets", "reason")]
    return Table("Failures", columns, rows, [] if rows else ["No cell failed."])


def mean_cell(
    by_dataset: Mapping[str, float], paper: float | None = None, digits: int = 4
) -> Entry:
    """Return the mean over datasets, beside the paper's number if there is one."""
    own = number(mean_of(by_dataset.values()), digits)
    return _beside(own, paper, digits)


def _method_row(results: Results, method: str) -> list[Entry]:
    keys = _keys(results, method)
    summary = _summary(results, keys, method)
    means = {key: mean_of(results.per_dataset(key, "auc").values()) for key in keys}
    found = [(mean, config) for (_, config), mean in means.items() if mean is not None]
    best, config = max(found, default=(None, "-"))
    paper = max(printed_values(method, "auc"), default=reported(method, "auc"))
    return [
        Entry(method),
        *(summary[column] for column in _HEAD),
        _beside(number(best, 4), paper, 4),
        Entry(config),
        *(summary[column] for column in _TAIL),
    ]


def _summary(results: Results, keys: Sequence[Key], method: str) -> dict[str, Entry]:
    """Return column -> entry of a method, averaged over `keys`."""
    areas = results.over_configurations(keys, "auc")
    rank = mean_of(mean_of(results.ranks(key).values()) for key in keys)
    return {
        "ROC AUC": mean_cell(areas, _paper_mean(method, "auc")),
        "95 % interval": _interval_cell(list(areas.values())),
        "avg. precision": mean_cell(results.over_configurations(keys, "ap")),
        "rank": _beside(number(rank, 2), _paper_mean(method, "rank"), 2),
        "error": mean_cell(results.over_configurations(keys, "error")),
        "seconds": mean_cell(results.over_configurations(keys, "seconds"), digits=2),
        "datasets": number(len(areas), 0),
        "failed": number(sum((f.method, f.config) in keys for f in results.failures), 0),
    }


def _interval_cell(values: Sequence[float]) -> Entry:
    if not values:
        return Entry("-")
    interval = bootstrap_mean(values)
    return Entry(f"{interval.low:.3f} to {interval.high:.3f}", interval.low)


def _paper_mean(method: str, measure: Measure) -> float | None:
    """Return the mean of the paper's table, or for a baseline what the text says."""
    if method == VECTOR_METHOD:
        return None  # the text gives its best size alone
    return mean_of(printed_values(method, measure)) or reported(method, measure)


def _beside(own: Entry, paper: float | None, digits: int) -> Entry:
    if paper is None:
        return own
    return Entry(own.text, own.value, beside=Entry(f"{paper:.{digits}f}", paper))


def _keys(results: Results, method: str) -> list[Key]:
    return [(method, config) for config in results.configurations(method)]
