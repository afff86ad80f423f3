"""Which cells a suite has, and what is said about names that do not exist."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from sklearn.ensemble import IsolationForest

from benchmarks.paper import CsvTable, Peer, plan, suites
from benchmarks.paper.ensembles import ABLATIONS, ALL_VIEWS, BUDGETS, MEMBERS
from benchmarks.paper.suites import SUITES, Method
from setatoms.datasets import ADBENCH_DATASETS


@pytest.fixture(autouse=True)
def _everything_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suites, "find_spec", lambda _: True)


def test_the_paper_is_all_configurations_once_and_the_best_with_every_seed() -> None:
    counts = Counter((task.cell.seed, task.cell.method) for task in plan("paper"))
    assert len({task.cell for task in plan("paper")}) == counts.total()
    for name in SUITES["paper"].methods:
        per_table = {seed: counts[seed, name] / len(ADBENCH_DATASETS) for seed in range(1, 6)}
        if name == "AK-SVD + OMP":
            expected = {1: 4, 2: 4}
        elif "-DL" in name or "-adapt" in name or "Gauss" in name:
            expected = {1: 18, 2: 3}
        else:
            # six numbers of neighbours for two baselines, two leaf sizes for one of them
            expected = {1: {"COF": 7, "LOF": 9}.get(name, 1), 2: 1}
        assert per_table == {seed: expected[min(seed, 2)] for seed in range(1, 6)}, name


def test_smoke_is_small_and_needs_no_pytorch() -> None:
    tasks = plan("smoke")
    assert {task.cell.dataset for task in tasks} == {"glass", "vertebral", "wine"}
    assert {task.cell.seed for task in tasks} == {1, 2}
    assert not any("torch" in task.method.needs for task in tasks)


def test_five_starts_share_their_table() -> None:
    tasks = plan("starts", datasets=["wine"], methods=["DLG-L1-adapt (1-norm)"])
    assert {task.cell.seed for task in tasks} == {1}
    assert {task.cell.config for task in tasks} == {
        f"n3 r0.04-0.12 {distribution}{start}"
        for distribution in ("linear", "50-50", "80-20")
        for start in ("", " start2", " start3", " start4", " start5")
    }


def test_ablations_of_the_ensemble_go_with_the_first_seed() -> None:
    tasks = plan("ensemble", datasets=["wine"], methods=["SetAtomEnsemble"])
    counts = Counter(task.cell.seed for task in tasks)
    few = len(BUDGETS) + len(MEMBERS)
    assert counts == {1: few + len(ABLATIONS) + len(ALL_VIEWS)} | dict.fromkeys((2, 3, 4, 5), few)
    names = [
        {task.cell.method for task in plan("ensemble", datasets=["wine"], seeds=[seed])}
        for seed in (1, 4)
    ]
    assert names[0] - names[1] == {"COF ensemble"}
    assert names[1] == {"SetAtomEnsemble", "LOF ensemble"}


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        ("paper", ("paper",)),
        ("starts", ("starts",)),
        ("ensemble", ("ensemble", "relation")),
        ("kinds", ("kinds",)),
        ("kinds-slow", ("kinds-slow",)),
    ],
)
def test_suites_are_what_the_stores_hold(name: str, chosen: tuple[str, ...], results: Path) -> None:
    keys = "dataset, anomalies, seed, method, config"
    file = (results / f"{name}.sqlite").as_uri()
    with closing(sqlite3.connect(f"{file}?mode=ro", uri=True)) as store:
        stored = set(store.execute(f"SELECT {keys} FROM cells"))
    planned = {
        (cell.dataset, cell.anomalies, cell.seed, cell.method, cell.config)
        for suite in chosen
        for cell in (task.cell for task in plan(suite))
    }
    assert planned == stored


@pytest.mark.parametrize("suite", SUITES)
def test_methods_from_beyond_a_suite_have_configurations_of_their_own(suite: str) -> None:
    tasks = plan(suite, methods=["DLC-adapt (1-norm)", "COF"], datasets=["wine"], seeds=[1])
    assert all(task.cell.config in task.method.configs for task in tasks)


def test_choices_narrow_a_suite() -> None:
    tasks = plan(
        datasets=["WINE"], methods=["DLC*(1-norm)", "lof"], configs=["n4 *80-20", "k1?"], seeds=[3]
    )
    assert [(task.cell.method, task.cell.config) for task in tasks] == [
        ("DLC-adapt (1-norm)", "n4 r0.01-0.1 80-20"),
        ("DLC-adapt (1-norm)", "n4 r0.04-0.12 80-20"),
        ("DLC-D-adapt (1-norm)", "n4 r0.01-0.1 80-20"),
        ("DLC-D-adapt (1-norm)", "n4 r0.04-0.12 80-20"),
        ("LOF", "k10"),
        ("LOF", "k15"),
        ("LOF", "k18"),
    ]
    assert {(task.cell.dataset, task.cell.seed) for task in tasks} == {("wine", 3)}


def test_skipped_methods_are_left_out() -> None:
    names = {task.cell.method for task in plan("smoke", skip=["DL*", "LOF"])}
    assert "LOF" not in names
    assert not any(name.startswith("DL") for name in names)
    assert "Cone-DL-D" in names


def test_all_kinds_of_anomalies_may_be_asked_for() -> None:
    tasks = plan("smoke", methods=["LOF"], seeds=[1], anomalies=["*"])
    kinds = ["dependency", "local", "cluster", "global", "real"]
    assert Counter(task.cell.anomalies for task in tasks) == dict.fromkeys(kinds, 3)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"suite": "papers"}, "no suite 'papers'; did you mean paper"),
        ({"datasets": ["pendigit"]}, "no dataset 'pendigit'; did you mean pendigits"),
        ({"methods": ["IsoForest"]}, "no method 'IsoForest'; did you mean IForest"),
        ({"methods": ["LOF"], "configs": ["leaf100"]}, "'leaf100'; did you mean leaf10"),
        ({"anomalies": ["dependent"]}, "no kind of anomalies 'dependent'; did you mean dependency"),
        ({"skip": ["zzz"]}, "no method 'zzz'; choose from AK-SVD"),
        ({"methods": ["no_such_module:make"]}, "No module named 'no_such_module'"),
    ],
)
def test_unknown_names_are_answered_with_near_ones(choice: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan(**choice)


def test_a_missing_package_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suites, "find_spec", lambda name: None if name == "torch" else True)
    with pytest.raises(ImportError, match=r'pip install "setatoms\[deep\]".*--skip DeepSVDD'):
        plan("paper")
    assert plan("paper", skip=["DeepSVDD", "DAGMM"])


def test_own_tables_and_detectors_stand_beside_the_others(tmp_path: Path) -> None:
    forest: Method = Peer("forest of 10", IsolationForest, {"ten": {"n_estimators": 10}})
    tasks = plan(
        "smoke", datasets=["wine", str(tmp_path / "pumps.csv")], methods=["KNN", forest], seeds=[1]
    )
    assert [task.cell[0] + ", " + task.cell[3] for task in tasks] == [
        "wine, KNN", "wine, forest of 10", "pumps, KNN", "pumps, forest of 10",
    ]  # fmt: skip


def test_csv_rows_and_labels_are_read(tmp_path: Path) -> None:
    path = tmp_path / "pumps.csv"
    path.write_text("flow,power,broken\n1,2.5,0\n\n3e1,-4,1\n", encoding="utf-8")
    X, y = CsvTable(path).load()
    assert X.tolist() == [[1.0, 2.5], [30.0, -4.0]]
    assert y.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no table of numbers"),
        ("a,b,label\n", "no table of numbers"),
        ("a,label\n1,0\n2,1\n", "at least two features"),
        ("a,b,label\n1,2,0\n1,2\n", "line 3 of .* has 2 values, the header 3"),
        ("a,b,label\n1,red,0\n", "line 2 of .*'red'"),
        ("a,b,c\n1,2,3\n", "last column of .*'c'.* 0 .normal. or 1"),
    ],
)
def test_a_bad_csv_is_explained(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "pumps.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        CsvTable(path).load()
