"""Ensembles are compared with what they are made of, on the same data."""

from __future__ import annotations

from benchmarks.paper.ablations import ablation_table, budget_table, ensemble_tables
from benchmarks.paper.results import Results, Run


def results(**areas: dict[int, tuple[float, float]]) -> Results:
    """Return areas by configuration: for each seed those of two datasets."""
    runs = {
        ("SetAtomEnsemble", name.replace("_", " ")): {
            dataset: {seed: Run(pair[i], None, None, 1.0) for seed, pair in by_seed.items()}
            for i, dataset in enumerate(("45_wine", "14_glass"))
        }
        for name, by_seed in areas.items()
    }
    return Results("dependency", runs, [])


def texts(table):
    return [[entry.text for entry in row] for row in table.rows]


def test_a_budget_is_compared_with_the_mean_of_its_kinds_of_members():
    store = results(
        balanced={1: (0.9, 0.8), 2: (1.0, 0.8)},
        one_gaussian={1: (0.8, 0.8), 2: (0.8, 0.8)},
        one_cone={1: (0.7, 0.9), 2: (0.7, 0.9)},
    )
    rows = {row[0]: row[1:] for row in texts(budget_table(store))}
    # wine: 0.95 against 0.75, glass: 0.8 against 0.85
    assert rows["SetAtomEnsemble balanced"] == ["0.8750", "-", "1.00", "2", "+0.0750", "1 of 2"]
    assert rows["one cone"] == ["0.8000", "-", "1.00", "2", "", ""]
    assert rows["SetAtomEnsemble best"][-2:] == ["-", "-"]


def test_an_ablation_is_compared_on_the_seeds_it_has():
    store = results(
        balanced={1: (0.9, 0.8), 2: (0.5, 0.5)},
        **{"rule mean": {1: (0.8, 0.85)}},
    )
    assert texts(ablation_table(store)) == [["rule mean", "0.8250", "-0.0250", "1 of 2"]]


def test_a_store_without_ensembles_has_no_such_tables():
    assert ensemble_tables(results()) == []
