"""Cells on the workers of a cluster: the same bits, and one that kills its worker is a failure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.command import main
from benchmarks.paper import BenchError, plan, run
from setatoms.cli.cluster import ClusterError

from .test_runner import OWN_DETECTORS, csv_table, table

pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder, beside one of detectors that worker processes find too."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "own_detectors.py").write_text(OWN_DETECTORS, encoding="ascii")
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))
    return tmp_path


def start(n_workers: int = 2, **options: Any) -> Any:
    return distributed.LocalCluster(
        n_workers=n_workers, dashboard_address=None, **({"threads_per_worker": 1} | options)
    )


@pytest.fixture
def address(adbench: Path, folder: Path) -> Iterator[str]:
    """Return where a scheduler with two worker processes is; see that these are usable still."""
    with start() as cluster:
        yield cluster.scheduler_address
        with distributed.Client(cluster, set_as_default=False) as client:
            assert client.submit(sum, [1, 2], pure=False).result(timeout=30) == 3


def test_a_cluster_computes_the_same_cells(address: str, folder: Path) -> None:
    words = ["paper", "run", "--datasets", "wine", csv_table(folder), "--seeds", "1"]
    words += ["--methods", "AK-SVD + OMP", "KNN", "LOF", "--anomalies", "real"]
    assert main([*words, "--out", str(folder / "here")]) == 0
    assert main([*words, "--out", str(folder / "there"), "--scheduler", address]) == 0
    assert len(table(folder / "here")) > 2
    assert table(folder / "there") == table(folder / "here")


def test_a_cell_that_ends_its_workers_is_a_failure(address: str, folder: Path) -> None:
    methods = ["own_detectors:Deadly", "own_detectors:Broken", "own_detectors:Distance"]
    tasks = plan(datasets=[csv_table(folder)], methods=methods, seeds=[1], anomalies=["real"])
    summary = run(tasks, folder / "out", scheduler=address)
    assert (summary.n_computed, summary.n_failed) == (3, 2)
    reasons = {row[3]: str(row[6]) for row in table(folder / "out")}
    assert "its process ended 4 times" in reasons["Deadly"]
    assert "no luck today" in reasons["Broken"]


def test_workers_that_cannot_compute_cells_are_named(folder: Path) -> None:
    tasks = plan(datasets=[csv_table(folder)], methods=["KNN"], seeds=[1], anomalies=["real"])
    with (
        start(1, threads_per_worker=2) as cluster,
        pytest.raises(BenchError, match="has 2 threads, and a cell takes a process of its own"),
    ):
        run(tasks, folder / "out", scheduler=cluster.scheduler_address)


def test_no_scheduler_is_told_and_leaves_no_claims(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("setatoms.cli.cluster._SECONDS", 0.5)
    tasks = plan(datasets=[csv_table(folder)], methods=["KNN"], seeds=[1], anomalies=["real"])
    with pytest.raises(ClusterError, match="no scheduler answers at"):
        run(tasks, folder / "out", scheduler="tcp://127.0.0.1:9")
    assert not list((folder / "out").glob(".runner-*"))
    assert run(tasks, folder / "out").n_computed == 1
