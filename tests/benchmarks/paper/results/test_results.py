"""Reading a store and averaging it: over starts, seeds, configurations; ranks; bad stores."""

from __future__ import annotations

import sqlite3

import pytest

from benchmarks.environment import Environment
from benchmarks.paper.cells import Cell, Outcome
from benchmarks.paper.published import BASELINES
from benchmarks.paper.reading import anomaly_kinds, load_environments, load_results
from benchmarks.paper.results import natural
from benchmarks.paper.store import Store

OURS = ("Cone-DL", "n2 r0.01-0.1 linear")


def test_starts_are_averaged_within_their_seed_before_the_seeds(row, make_store):
    rows = [
        row("Cone-DL", 0.5, OURS[1], seed=1),
        row("Cone-DL", 0.7, f"{OURS[1]} start2", seed=1),
        row("Cone-DL", 0.8, OURS[1], seed=2),
    ]
    results = load_results(make_store(rows))
    # (0.5 + 0.7) / 2 = 0.6 for seed 1, then (0.6 + 0.8) / 2
    assert results.per_dataset(OURS, "auc") == {"1_a": pytest.approx(0.7, rel=1e-12)}
    assert results.of_seeds(1).per_dataset(OURS, "auc") == {"1_a": pytest.approx(0.6, rel=1e-12)}
    assert results.n_cells == 3


def test_rank_counts_from_one_to_fifteen_over_the_seeds_in_common(row, make_store):
    areas = {name: 0.5 + 0.03 * i for i, name in enumerate(BASELINES)}  # up to 0.89
    rows = [row(name, area) for name, area in areas.items()]
    # seed 2 has no baselines, so that it cannot count
    rows += [row("Cone-DL", 0.87, OURS[1]), row("Cone-DL", 0.1, OURS[1], seed=2)]
    rows += [row("Cone-DL", 0.1, "n3 r0.01-0.1 linear"), row("Cone-DL", 1, "n4 r0.01-0.1 linear")]
    results = load_results(make_store(rows))
    assert results.ranks(OURS) == {"1_a": 2}
    assert results.ranks(("Cone-DL", "n3 r0.01-0.1 linear")) == {"1_a": 15}
    assert results.ranks(("Cone-DL", "n4 r0.01-0.1 linear")) == {"1_a": 1}
    assert results.ranks((BASELINES[-1], "default")) == {"1_a": 1}


def test_a_baseline_that_fails_is_worst_even_if_another_seed_was_good(row, make_store):
    rows = [
        row("LOF", 0.99, seed=1),
        row("LOF", None, seed=2, reason="MemoryError"),
        row("KNN", 0.3, seed=1),
        row("KNN", 0.3, seed=2),
        row("Cone-DL", 0.2, OURS[1], seed=1),
        row("Cone-DL", 0.2, OURS[1], seed=2),
    ]
    results = load_results(make_store(rows))
    assert results.ranks(OURS) == {"1_a": 2}
    assert results.ranks(("LOF", "default")) == {"1_a": 2}
    assert [(f.method, f.seed, f.reason) for f in results.failures] == [("LOF", 2, "MemoryError")]


def test_a_dataset_without_all_baselines_has_no_rank(row, make_store):
    rows = [row("LOF", 0.5), row("KNN", 0.4), row("LOF", 0.5, dataset="2_b")]
    rows += [row("Cone-DL", 0.6, OURS[1], dataset=name) for name in ("1_a", "2_b")]
    assert load_results(make_store(rows)).ranks(OURS) == {"1_a": 1}


def test_methods_are_compared_on_the_seeds_they_share(row, make_store):
    fixed = ("Cone-DL", OURS[1])
    adaptive = ("DLC-adapt (1-norm)", OURS[1])
    rows = [row(fixed[0], 0.5, fixed[1], seed=1), row(fixed[0], 0.9, fixed[1], seed=2)]
    rows += [row(adaptive[0], 0.6, adaptive[1], seed=1)]
    results = load_results(make_store(rows))
    assert results.gains([(adaptive, fixed)]) == {"1_a": pytest.approx(0.1, rel=1e-12)}


def test_values_of_a_failed_cell_do_not_count(row, make_store):
    results = load_results(make_store([row("LOF", 0.9, reason="late"), row("KNN", 0.5)]))
    assert results.per_dataset(("LOF", "default"), "auc") == {}


def test_kinds_of_anomalies_are_kept_apart(row, make_store):
    folder = make_store([row("LOF", 0.5, anomalies="local"), row("LOF", 0.9)])
    assert anomaly_kinds(folder) == ["dependency", "local"]
    assert load_results(folder, "local").per_dataset(("LOF", "default"), "auc") == {"1_a": 0.5}
    with pytest.raises(ValueError, match="anomalies='global'; it has dependency, local"):
        load_results(folder, "global")


def test_of_several_stores_the_last_has_the_last_word(row, make_store):
    stores = [
        make_store([row("LOF", 0.5), row("KNN", 0.6)], "old"),
        make_store([row("LOF", 0.9), row("COF", 0.7, anomalies="local")], "new"),
    ]
    results = load_results(stores)
    areas = {key[0]: results.per_dataset(key, "auc")["1_a"] for key in results.runs}
    assert areas == {"LOF": 0.9, "KNN": 0.6}
    assert results.n_cells == 2
    assert anomaly_kinds(stores) == ["dependency", "local"]


def test_names_are_sorted_by_their_numbers():
    names = ["12_fault", "2_annthyroid", "n3 x", "n2.5 x", "n2 x", "wine"]
    expected = ["2_annthyroid", "12_fault", "n2 x", "n2.5 x", "n3 x", "wine"]
    assert sorted(names, key=natural) == expected


def test_what_the_runner_writes_can_be_read_while_it_is_open(tmp_path):
    with Store(tmp_path) as store:
        environment = store.add_environment(Environment("abc", {"numpy": "2"}, {"cores": 2}))
        cell = Cell("1_a", "dependency", 1, "LOF", "default")
        store.record(cell, Outcome("ok", auc=0.75), environment)
        results = load_results(tmp_path)
        assert load_environments(tmp_path) == [Environment("abc", {"numpy": "2"}, {"cores": 2})]
    assert results.per_dataset(("LOF", "default"), "auc") == {"1_a": 0.75}
    # the file itself may be given instead of its folder
    assert load_results(tmp_path / "results.sqlite").runs == results.runs


def test_reading_changes_nothing(row, make_store):
    folder = make_store([row("LOF", 0.5)])
    before = (folder / "results.sqlite").read_bytes()
    load_results(folder)
    assert [path.name for path in folder.iterdir()] == ["results.sqlite"]
    assert (folder / "results.sqlite").read_bytes() == before


def test_a_missing_store_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"results\.sqlite; make one with `python -m"):
        load_results(tmp_path)


def test_a_file_that_is_no_store_is_refused(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("not a database, though long enough to have a header of one" * 3)
    with pytest.raises(ValueError, match=r"notes\.txt cannot be read as a store"):
        load_results(file)


def test_a_store_of_a_later_version_is_refused(row, make_store):
    folder = make_store([row("LOF", 0.5)])
    store = sqlite3.connect(folder / "results.sqlite")
    store.execute("PRAGMA user_version = 99")
    store.close()
    with pytest.raises(ValueError, match=r"has version 99.*update setatoms"):
        load_results(folder)
