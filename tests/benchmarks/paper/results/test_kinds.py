"""The table of all kinds of anomalies: what is averaged, and what is left out."""

from __future__ import annotations

from benchmarks.paper.kinds import kind_tables
from benchmarks.paper.reading import anomaly_kinds, load_results


def tables(store):
    return kind_tables({kind: load_results(store, kind) for kind in anomaly_kinds(store)})


def test_means_are_over_the_seeds_and_datasets_that_all_have(row, make_store):
    rows = [
        row("LOF", 0.6),
        row("LOF", 1.0, seed=2),  # the other kind has no seed 2
        row("KNN", 0.8),
        row("KNN", 0.2, dataset="2_b"),  # LOF has no such dataset
        row("LOF", 0.9, "k10"),  # defaults alone
        row("LOF", 0.9, "k10", anomalies="local"),
        row("COF", 0.9),  # not run on the other kind
        row("LOF", 0.7, anomalies="local"),
        row("KNN", 0.5, anomalies="local"),
    ]
    (table,) = tables(make_store(rows))
    assert [column.name for column in table.columns][2:] == ["dependency", "local", "mean"]
    shown = [[(entry.text, entry.emphasis) for entry in line] for line in table.rows]
    assert shown == [
        [("KNN", ""), ("default", ""), ("0.8000", "best"), ("0.5000", ""), ("0.6500", "best")],
        [("LOF", ""), ("default", ""), ("0.6000", ""), ("0.7000", "best"), ("0.6500", "")],
    ]
    assert table.notes == ["dependency: 1 dataset, local: 1 dataset; seeds 1."]


def test_a_kind_on_which_a_method_failed_everywhere_has_dashes(row, make_store):
    rows = [row("LOF", 0.6), row("LOF", None, anomalies="real", reason="too few rows")]
    (table,) = tables(make_store(rows))
    assert [entry.text for entry in table.rows[0]] == ["LOF", "default", "0.6000", "-", "-"]


def test_a_single_kind_needs_no_table(row, make_store):
    assert tables(make_store([row("LOF", 0.6)])) == []
