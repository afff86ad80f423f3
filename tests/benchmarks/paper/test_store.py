"""The store: nothing is lost, nothing is damaged, runners share it."""

from __future__ import annotations

import math
import sqlite3
from pathlib import Path

import pytest

from benchmarks.environment import Environment, describe_environment
from benchmarks.paper import BenchError, Cell, Outcome
from benchmarks.paper.presence import Presence
from benchmarks.paper.store import FILE_NAME, VERSION, Store

CELL = Cell("wine", "dependency", 1, "Cone-DL", "n4 r0.04-0.12 80-20")
OTHER = CELL._replace(seed=2)
GOOD = Outcome("ok", auc=math.pi / 4, ap=1 / 3, error=0.1, seconds=2.5)
SOMEWHERE = Environment("0" * 40, {"numpy": "2"}, {"cores": 2})


def read(folder: Path, query: str) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(folder / FILE_NAME)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def test_a_recorded_cell_is_read_back_to_the_last_bit(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.record(CELL, GOOD, store.add_environment(SOMEWHERE))
    with Store(tmp_path) as store:
        assert store.finished() == {CELL}
    assert read(tmp_path, "SELECT * FROM cells") == [
        (*CELL, "ok", None, math.pi / 4, 1 / 3, 0.1, 2.5, 1)
    ]


def test_failures_are_kept_with_their_reason(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.record(CELL, Outcome.failed("out of luck"), store.add_environment(SOMEWHERE))
        assert store.finished() == {CELL}
        assert store.finished(failed_too=False) == set()
    assert read(tmp_path, "SELECT status, reason, auc FROM cells") == [
        ("failed", "out of luck", None)
    ]


def test_an_environment_is_kept_once(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        first = store.add_environment(SOMEWHERE)
        assert store.add_environment(SOMEWHERE) == first
        assert store.add_environment(SOMEWHERE._replace(commit_hash="1" * 40)) != first


def test_this_environment_names_commit_versions_and_hardware() -> None:
    here = describe_environment()
    assert here.commit_hash
    assert {"python", "numpy", "scikit-learn", "setatoms"} <= here.versions.keys()
    assert here.hardware["cpu"]


def test_a_cell_belongs_to_one_living_runner(tmp_path: Path) -> None:
    with Store(tmp_path) as one, Store(tmp_path) as two, Presence(tmp_path) as alive:
        assert one.claim(CELL, alive.runner)
        assert not two.claim(CELL, "someone else")
        assert two.claim(OTHER, "someone else")


def test_claims_of_a_dead_runner_are_taken_over(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        with Presence(tmp_path) as alive:
            assert store.claim(CELL, alive.runner)
        assert store.claim(CELL, "someone else")


def test_released_cells_are_free(tmp_path: Path) -> None:
    with Store(tmp_path) as store, Presence(tmp_path) as alive, Presence(tmp_path) as next_one:
        store.claim(CELL, alive.runner)
        store.release(alive.runner)
        assert store.claim(CELL, next_one.runner)


def test_finished_cells_are_not_claimed_but_failed_ones_may_be(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        environment = store.add_environment(SOMEWHERE)
        store.record(CELL, GOOD, environment)
        store.record(OTHER, Outcome.failed("out of luck"), environment)
        assert not store.claim(CELL, "runner", failed_too=True)
        assert not store.claim(OTHER, "runner")
        assert store.claim(OTHER, "runner", failed_too=True)


def test_a_full_disk_is_a_clear_error_and_keeps_what_there_was(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        environment = store.add_environment(SOMEWHERE)
        store.record(CELL, GOOD, environment)
        (n_pages,) = store._connection.execute("PRAGMA page_count").fetchone()
        store._connection.execute(f"PRAGMA max_page_count = {n_pages}")
        # longer than what is left of a page
        long = Outcome.failed("no luck " * 60)

        def fill() -> None:
            for seed in range(100, 140):
                store.record(CELL._replace(seed=seed), long, environment)

        with pytest.raises(BenchError, match="disk is full"):
            fill()
        assert CELL in store.finished()
    assert read(tmp_path, "PRAGMA integrity_check") == [("ok",)]


def test_a_store_of_a_later_version_is_refused_unchanged(tmp_path: Path) -> None:
    Store(tmp_path).__exit__()
    later = sqlite3.connect(tmp_path / FILE_NAME)
    later.execute(f"PRAGMA user_version = {VERSION + 1}")
    later.close()
    before = (tmp_path / FILE_NAME).read_bytes()
    with pytest.raises(BenchError, match=f"version {VERSION + 1}.*update setatoms"):
        Store(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes() == before


def test_a_file_of_another_kind_is_refused_unchanged(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("not a database, but a letter " * 40, encoding="ascii")
    with pytest.raises(BenchError, match="not a database"):
        Store(tmp_path)
    assert (tmp_path / FILE_NAME).read_text(encoding="ascii").startswith("not a database")


def test_a_foreign_database_is_refused(tmp_path: Path) -> None:
    foreign = sqlite3.connect(tmp_path / FILE_NAME)
    foreign.execute("CREATE TABLE songs (title TEXT)")
    foreign.close()
    with pytest.raises(BenchError, match="not a store"):
        Store(tmp_path)


def test_a_file_in_the_place_of_the_folder_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("", encoding="ascii")
    with pytest.raises(BenchError, match="cannot make the folder"):
        Store(tmp_path / "results")


def test_a_runner_removes_what_killed_runners_left(tmp_path: Path) -> None:
    (tmp_path / ".runner-0123456789abcdef").touch()
    with Presence(tmp_path) as alive, Presence(tmp_path):
        names = {path.name for path in tmp_path.glob(".runner-*")}
        assert f".runner-{alive.runner}" in names
        assert len(names) == 2
    assert not list(tmp_path.glob(".runner-*"))
