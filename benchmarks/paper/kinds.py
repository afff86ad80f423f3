"""Methods on every kind of anomalies, which shows what they are not for."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from benchmarks.paper.layout import Column, Entry, Table, count_of
from benchmarks.paper.published import BASELINES
from benchmarks.paper.results import Key, Results, mean_of

Means = dict[Key, float]


def kind_tables(by_kind: Mapping[str, Results]) -> list[Table]:
    """Return the table of all kinds, or none if there is a single one."""
    return [kind_table(by_kind)] if len(by_kind) > 1 else []


def kind_table(by_kind: Mapping[str, Results]) -> Table:
    """Return the mean area of what was run on every kind, and over kinds; the best of all first.

    Means are over the seeds that all kinds have, and the datasets on which all succeeded. Baselines
    have their defaults.
    """
    seeds = sorted(set.intersection(*(set(results.seeds) for results in by_kind.values())))
    same_seeds = {kind: results.of_seeds(*seeds) for kind, results in by_kind.items()}
    everywhere = set.intersection(*(set(results.runs) for results in same_seeds.values()))
    keys = {key for key in everywhere if key[0] not in BASELINES or key[1] == "default"}
    means, notes = {}, []
    for kind, results in same_seeds.items():
        means[kind], n_datasets = _means(results, keys)
        notes.append(f"{kind}: {count_of(n_datasets, 'dataset')}")
    means["mean"] = {
        key: fmean(of[key] for of in means.values())
        for key in keys
        if all(key in of for of in means.values())
    }
    overall = means["mean"]
    return Table(
        "ROC AUC by kind of anomalies",
        [Column(name) for name in ("method", "configuration", *means)],
        [
            [Entry(method), Entry(config), *(_entry((method, config), of) for of in means.values())]
            for method, config in sorted(keys, key=lambda key: (-overall.get(key, 0.0), key))
        ],
        [f"{', '.join(notes)}; seeds {', '.join(map(str, seeds))}."],
    )


def _means(results: Results, keys: set[Key]) -> tuple[Means, int]:
    """Return the mean area of `keys` over the datasets that all of them have, and their number."""
    areas = {key: results.per_dataset(key, "auc") for key in keys}
    shared = set(results.datasets).intersection(*areas.values())
    means = {key: mean_of(by[name] for name in shared) for key, by in areas.items()}
    return {key: mean for key, mean in means.items() if mean is not None}, len(shared)


def _entry(key: Key, means: Means) -> Entry:
    if key not in means:
        return Entry("-")
    best = means[key] == max(means.values())
    return Entry(f"{means[key]:.4f}", means[key], "best" if best else "")
