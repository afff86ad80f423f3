"""The runner: the same table to the last bit, however it is scheduled, stopped or killed."""

from __future__ import annotations

import multiprocessing as mp
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from multiprocessing.process import BaseProcess
from multiprocessing.queues import SimpleQueue
from pathlib import Path

import numpy as np
import pytest

from benchmarks.command import main
from benchmarks.paper import BenchError, Peer, plan, run
from benchmarks.paper.store import FILE_NAME
from benchmarks.paper.work import Task

N_KILLS = 10
# Every kind of method, quick ones, on two tables, so that workers do not only share one.
METHODS = ["AK-SVD + OMP", "DLC-D-adapt (1-norm)", "DLG-L1-adapt (1-norm)", "KNN", "LOF", "PCA"]

OWN_DETECTORS = """
import os, signal, numpy as np

class Distance:
    def fit(self, X):
        self.centre = X.mean(axis=0)
    def decision_function(self, X):
        return np.linalg.norm(X - self.centre, axis=1)

class Broken(Distance):
    def fit(self, X):
        raise ZeroDivisionError("no luck today")

class Undecided(Distance):
    def decision_function(self, X):
        return np.full(len(X), np.nan)

class Deadly(Distance):
    def fit(self, X):
        os.kill(os.getpid(), signal.SIGKILL)
"""


def start_runner(tasks: list[Task], folder: Path) -> BaseProcess:
    """Start a runner as a copy of this process, which spares it the imports."""
    runner = mp.get_context("fork").Process(target=run, args=(tasks, folder))
    runner.start()
    return runner


def count_computed(tasks: list[Task], folder: Path, counts: SimpleQueue[int]) -> None:
    counts.put(run(tasks, folder).n_computed)


def table(folder: Path) -> list[tuple[object, ...]]:
    """Return all that must not depend on how the run went; floats keep every bit."""
    connection = sqlite3.connect(folder / FILE_NAME)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if not connection.execute("SELECT * FROM sqlite_schema").fetchall():
            return []  # killed before the first transaction
        return connection.execute(
            "SELECT dataset, anomalies, seed, method, config, status, reason, auc, ap, error "
            "FROM cells ORDER BY 1, 2, 3, 4, 5"
        ).fetchall()
    finally:
        connection.close()


def is_running(pid: int) -> bool:
    """Return whether a process runs; one that ended and waits for its parent does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def children(pid: int) -> list[int]:
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [int(word) for word in listed.split()]


def await_end(pids: list[int]) -> None:
    deadline = time.monotonic() + 20
    while any(map(is_running, pids)):
        assert time.monotonic() < deadline, "workers outlive their runner"
        time.sleep(0.05)


@pytest.fixture
def own_detectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a module of detectors where worker processes find it too."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "own_detectors.py").write_text(OWN_DETECTORS, encoding="ascii")
    monkeypatch.syspath_prepend(str(folder))


def csv_table(folder: Path) -> str:
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=(120, 3)), np.repeat([0, 1], [100, 20])])
    rows[100:, :3] *= 4
    path = folder / "pumps.csv"
    np.savetxt(path, rows, delimiter=",", header="flow,power,heat,broken", comments="")
    return str(path)


def n_cells(folder: Path) -> int:
    return len(table(folder)) if (folder / FILE_NAME).exists() else 0


@pytest.mark.slow
def test_ten_kills_at_random_moments_change_no_bit(adbench: Path, tmp_path: Path) -> None:
    tasks = plan(datasets=["wine", "glass"], methods=METHODS, seeds=[2])
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    began = time.monotonic()
    runner = start_runner(tasks, calm)
    while runner.is_alive() and n_cells(calm) == 0:
        time.sleep(0.05)
    first = time.monotonic() - began
    runner.join()
    rest = time.monotonic() - began - first
    expected = table(calm)
    assert len(expected) == len(tasks)

    # a fifth of the way at most, so that there is something left to disturb
    moments = random.Random(0)
    found, workers = [], []
    for _ in range(N_KILLS):
        runner = start_runner(tasks, killed)
        time.sleep(moments.uniform(0, first + rest / 5))
        workers += children(runner.pid)
        runner.kill()
        runner.join()
        found.append(n_cells(killed))
    await_end(workers)
    assert found == sorted(found), "a finished cell was lost"
    summary = run(tasks, killed, n_jobs=2)
    assert summary.n_computed == len(tasks) - found[-1]
    assert table(killed) == expected


def test_two_runners_share_a_store_and_compute_each_cell_once(
    adbench: Path, tmp_path: Path
) -> None:
    tasks = plan(datasets=["wine"], methods=["AK-SVD + OMP", "KNN", "LOF"], seeds=[1])
    fork = mp.get_context("fork")
    counts = fork.SimpleQueue()
    runners = [
        fork.Process(target=count_computed, args=(tasks, tmp_path / "shared", counts))
        for _ in range(2)
    ]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    assert counts.get() + counts.get() == len(tasks)
    run(tasks, tmp_path / "alone")
    assert table(tmp_path / "shared") == table(tmp_path / "alone")


def test_ctrl_c_ends_cleanly_and_the_same_command_goes_on(
    adbench: Path, root: Path, tmp_path: Path
) -> None:
    choice = ["--datasets", "wine", "--seeds", "1-4", "--methods", "AK-SVD + OMP", "KNN"]
    words = ["paper", "run", "--out", str(tmp_path), *choice]
    runner = subprocess.Popen(
        [sys.executable, "-m", "benchmarks", *words],
        cwd=root,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("data/*.npz")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(runner.pid, signal.SIGINT)  # a terminal signals the whole group
    said = runner.communicate()[1]
    assert runner.returncode == 130
    assert "the same command goes on" in said
    assert "Traceback" not in said
    assert not list(tmp_path.glob(".runner-*"))
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    assert connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)
    connection.close()
    assert main(words) == 0
    assert len(table(tmp_path)) == 4 * 5


def test_a_finished_run_computes_nothing(own_detectors: None, tmp_path: Path) -> None:
    tasks = plan(
        datasets=[csv_table(tmp_path)], methods=["own_detectors:Distance"], seeds=[1, 2],
        anomalies=["dependency", "real"],
    )  # fmt: skip
    first = run(tasks, tmp_path / "out")
    assert (first.n_cells, first.n_computed, first.n_failed) == (4, 4, 0)
    before = (tmp_path / "out" / FILE_NAME).read_bytes()
    again = run(tasks, tmp_path / "out")
    assert (again.n_cells, again.n_computed, again.n_failed) == (4, 0, 0)
    assert (tmp_path / "out" / FILE_NAME).read_bytes() == before
    # the rows that were multiplied by 4 are further out
    assert min(row[7] for row in table(tmp_path / "out") if row[1] == "real") > 0.9


def test_failures_are_recorded_with_their_reasons(own_detectors: None, tmp_path: Path) -> None:
    names = ["Broken", "Deadly", "Distance", "Undecided"]
    tasks = plan(
        datasets=[csv_table(tmp_path)],
        methods=[f"own_detectors:{name}" for name in names],
        seeds=[1],
        anomalies=["real"],
    )
    summary = run(tasks, tmp_path / "out", n_jobs=2)
    assert (summary.n_computed, summary.n_failed) == (4, 3)
    reasons = {row[3]: row[6] for row in table(tmp_path / "out")}
    assert reasons["Distance"] is None
    assert reasons["Broken"] == "ZeroDivisionError: no luck today"
    assert "36 of 36 scores are NaN" in reasons["Undecided"]
    assert "exit status -9" in reasons["Deadly"]


def test_failed_cells_are_computed_again_on_request(own_detectors: None, tmp_path: Path) -> None:
    source = csv_table(tmp_path)
    broken = Peer("mended", "own_detectors:Broken")
    mended = Peer("mended", "own_detectors:Distance")
    choice = {"datasets": [source], "seeds": [1], "anomalies": ["real"]}
    run(plan(methods=[broken], **choice), tmp_path / "out")
    assert run(plan(methods=[mended], **choice), tmp_path / "out").n_computed == 0
    retried = run(plan(methods=[mended], **choice), tmp_path / "out", retry_failed=True)
    assert (retried.n_computed, retried.n_failed) == (1, 0)


def test_what_workers_cannot_get_is_explained(tmp_path: Path) -> None:
    tasks = plan(datasets=[csv_table(tmp_path)], methods=[Peer("hidden", lambda: None)], seeds=[1])
    with pytest.raises(ValueError, match=r"hidden .*define functions and classes at the top"):
        run(tasks, tmp_path / "out")


def test_a_damaged_table_is_an_error_that_names_the_file(
    own_detectors: None, tmp_path: Path
) -> None:
    tasks = plan(datasets=[csv_table(tmp_path)], methods=["own_detectors:Distance"], seeds=[1])
    run(tasks, tmp_path / "out")
    kept = tmp_path / "out" / "data" / "pumps-dependency-1.npz"
    kept.write_bytes(kept.read_bytes()[:100])
    (tmp_path / "out" / FILE_NAME).unlink()
    with pytest.raises(BenchError, match=r"pumps-dependency-1\.npz is damaged"):
        run(tasks, tmp_path / "out")


def test_command_line_explains_errors_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("", encoding="ascii")
    choice = ["--datasets", csv_table(tmp_path), "--methods", "KNN", "--seeds", "1"]
    for words, message in (
        (["--seeds", "one"], "'one' is neither a number nor a range"),
        (["--datasets", "whine"], "did you mean wine"),
        (["--datasets", str(tmp_path / "none.csv")], "none.csv"),
        (["--out", str(tmp_path / "file")], "cannot make the folder"),
        (["--jobs", "0"], "n_jobs=0 must be at least 1"),
    ):
        assert main(["paper", "run", "--out", str(tmp_path / "out"), *choice, *words]) == 1
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"PK", b"no archive"])
def test_a_damaged_table_is_named_and_no_cell_fails(tmp_path: Path, content: bytes) -> None:
    from benchmarks.cache import cached

    path = tmp_path / "data" / "wine-dependency-1.npz"
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(BenchError, match=r"wine-dependency-1.npz is damaged .*; delete it"):
        cached(path, dict, ("X", "y"))
    path.unlink()
    with pytest.raises(BenchError, match=r"is damaged .*y"):
        cached(path, lambda: {"X": np.ones(2)}, ("X", "y"))
