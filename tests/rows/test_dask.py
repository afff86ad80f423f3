"""Tables of Dask: the same model as in memory, to the last bit, wherever the rows are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import setatoms
from setatoms.backends import effective_jobs

dask = pytest.importorskip("dask", reason="Dask is not installed")
pytest.importorskip("distributed", reason="distributed is not installed")

import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
import pandas as pd  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402

N_FEATURES = 6


def make_rows(n_rows: int, seed: int = 0) -> np.ndarray:
    """Return rows with three causes, one far out and one absurd."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)) @ np.random.default_rng(9).normal(size=(3, N_FEATURES))
    X += 0.1 * rng.normal(size=X.shape)
    X[5], X[n_rows // 2, 1] = 40.0, -9999.0
    return X


X = make_rows(3000)
HOLED = np.where(np.random.default_rng(1).random(X.shape) < 0.03, np.nan, X)
HOLED[11] = np.nan
ALL = ("relation", "size", "rarity")
NEW = make_rows(200, seed=3)
MAKERS: dict[str, Any] = {
    "ensemble": lambda **more: setatoms.SetAtomEnsemble(budget="fast", random_state=0, **more),
    "gaussian": lambda **more: setatoms.GaussianAtomDetector(n_iter=10, random_state=0, **more),
    "cone": lambda **more: setatoms.ConeAtomDetector(n_iter=10, random_state=0, **more),
    "vector": lambda **more: setatoms.VectorAtomDetector(n_iter=4, random_state=0, **more),
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    """Run two worker processes."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as running:
        yield running


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Client]:
    """Let Dask work on the cluster."""
    with Client(cluster) as connected:
        yield connected


def cut(table: np.ndarray, n_partitions: int) -> da.Array:
    """Return a table as a Dask array of unequal partitions, of many one is empty."""
    bounds = np.linspace(0, len(table) ** 0.5, n_partitions + 1) ** 2
    bounds = bounds.astype(int)
    bounds[-1] = len(table)
    if n_partitions > 10:
        bounds[4] = bounds[5]
    return da.from_array(table, chunks=(tuple(np.diff(bounds)), N_FEATURES))


def assert_same(one: Any, other: Any) -> None:
    for mine, yours in zip(one.dictionaries_, other.dictionaries_, strict=True):
        np.testing.assert_array_equal(mine.atoms, yours.atoms)
        np.testing.assert_array_equal(mine.radii, yours.radii)
    assert one.offset_ == other.offset_
    assert one.n_samples_fit_ == other.n_samples_fit_
    np.testing.assert_array_equal(one.calibration_scores_, other.calibration_scores_)
    np.testing.assert_array_equal(one.column_quantiles_, other.column_quantiles_)
    np.testing.assert_array_equal(one.score_samples(NEW), other.score_samples(NEW))


@pytest.mark.parametrize(
    ("table", "views"),
    [(X, ALL), (X, ("relation",)), (HOLED, ALL)],
    ids=["whole", "plain", "holed"],
)
@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.filterwarnings("ignore:X has no value at all in 1 of")
def test_a_cluster_learns_the_same_model(
    kind: str, table: np.ndarray, views: tuple[str, ...], client: Client, tmp_path: Path
) -> None:
    make = MAKERS[kind]
    wanted = make(views=views, missing="fill").fit(table)
    for n_partitions in (1, 3, 17):
        collection = cut(table, n_partitions)
        found = make(views=views, missing="fill").fit(collection)
        assert_same(wanted, found)
        found.save(tmp_path / "model")
        assert_same(wanted, setatoms.load(tmp_path / "model"))
        scores = found.score_samples(collection).compute()
        np.testing.assert_array_equal(scores, wanted.score_samples(table))


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
@pytest.mark.parametrize("kind", ["ensemble", "gaussian"])
def test_schedulers_of_one_machine_learn_the_same_model(kind: str, scheduler: str) -> None:
    wanted = MAKERS[kind]().fit(X)
    with dask.config.set(scheduler=scheduler):
        assert_same(wanted, MAKERS[kind]().fit(cut(X, 3)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ensemble", "cone", "gaussian"])
def test_many_blocks_and_parts_are_put_together_alike(kind: str, client: Client) -> None:
    many = make_rows(150_000)
    assert_same(MAKERS[kind]().fit(many), MAKERS[kind]().fit(cut(many, 17)))


def test_single_precision_stays_and_is_exact(client: Client) -> None:
    narrow = X.astype(np.float32)
    wanted = MAKERS["ensemble"]().fit(narrow)
    assert_same(wanted, MAKERS["ensemble"]().fit(narrow.astype(np.float64)))
    assert_same(wanted, MAKERS["ensemble"]().fit(cut(narrow, 3)))


def test_partitions_of_unknown_length_will_do(client: Client) -> None:
    collection = cut(X, 3)
    filtered = collection[collection[:, 0] > -1e9]
    assert np.isnan(filtered.shape[0])
    found = MAKERS["cone"]().fit(filtered)
    assert_same(MAKERS["cone"]().fit(X), found)
    assert len(found.predict(filtered).compute()) == len(X)


def test_frames_keep_names_and_index(client: Client) -> None:
    frame = pd.DataFrame(X, columns=list("abcdef"), index=np.arange(len(X)) + 7)
    collection = dd.from_pandas(frame, npartitions=5)
    detector = MAKERS["ensemble"]().fit(collection)
    wanted = MAKERS["ensemble"]().fit(frame)
    assert list(detector.feature_names_in_) == list("abcdef")
    for method in ("score_samples", "decision_function", "predict", "p_values"):
        answer = getattr(detector, method)(collection)
        assert isinstance(answer, dd.Series)
        answer = answer.compute()
        assert answer.index.equals(frame.index)
        np.testing.assert_array_equal(answer.to_numpy(), getattr(wanted, method)(frame))
    explained = detector.explain(collection, top=2, atoms=False)
    assert isinstance(explained, dd.DataFrame)
    expected = wanted.explain(frame, top=2, atoms=False).frame.drop(columns="row")
    pd.testing.assert_frame_equal(explained.compute(), expected)


def test_nothing_is_computed_before_it_is_asked_for(client: Client) -> None:
    detector = MAKERS["cone"]().fit(X)
    calls = []

    def watch(block: np.ndarray) -> np.ndarray:
        calls.append(len(block))
        return block

    with dask.config.set(scheduler="sync"):
        collection = cut(X, 3).map_blocks(watch, dtype=float, meta=np.empty((0, 6)))
        scores = detector.score_samples(collection)
        assert calls == []
        scores.compute()
    assert len(calls) == 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ensemble", "gaussian"])
def test_workers_that_die_change_nothing(kind: str, cluster: LocalCluster, client: Client) -> None:
    many = make_rows(60_000)
    more = {"budget": "balanced"} if kind == "ensemble" else {"n_iter": 40}
    wanted = MAKERS[kind]().set_params(**more).fit(many)
    detector = MAKERS[kind]().set_params(**more)
    killed: list[int] = []
    done = threading.Event()

    def kill() -> None:
        while not done.wait(2.0) and len(killed) < 3:
            pids = list(client.run(os.getpid).values())
            victim = pids[len(killed) % len(pids)]
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)
            client.wait_for_workers(2, timeout=60)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        while len(killed) < 3:
            detector.fit(cut(many, 17))
            assert_same(wanted, detector)
    finally:
        done.set()
        killer.join()
    assert len(killed) == 3


@pytest.mark.slow
def test_a_client_that_dies_is_followed_by_one_that_goes_on(
    cluster: LocalCluster, client: Client, tmp_path: Path
) -> None:
    many, folder = make_rows(30_000), tmp_path / "done"
    np.save(tmp_path / "many.npy", many)
    script = textwrap.dedent(
        f"""
        import dask.array as da, numpy as np, setatoms
        from distributed import Client
        client = Client({cluster.scheduler_address!r})
        X = da.from_array(np.load({str(tmp_path / "many.npy")!r}), chunks=(7000, 6))
        setatoms.SetAtomEnsemble(random_state=0).fit(X, checkpoint={str(folder)!r})
        """
    )
    child = subprocess.Popen([sys.executable, "-c", script])
    until = time.monotonic() + 120
    while not list(folder.glob("all-member-*")) and time.monotonic() < until:
        assert child.poll() is None
        time.sleep(0.01)
    child.kill()
    child.wait()
    n_known = len(list(folder.glob("all-member-*.safetensors")))
    assert 1 <= n_known < 20
    found = setatoms.SetAtomEnsemble(random_state=0).fit(cut(many, 3), checkpoint=folder)
    assert_same(setatoms.SetAtomEnsemble(random_state=0).fit(many), found)
    assert not folder.exists()


def test_a_worker_does_not_use_more_threads_than_it_has(client: Client) -> None:
    from setatoms.rows.dask import DaskRows, later

    rows = DaskRows([later(X)], [len(X)], N_FEATURES)
    assert rows.map(_count_threads) == [1]
    assert effective_jobs(4) == 4


def _count_threads(_: np.ndarray) -> int:
    return effective_jobs(4)


def with_partition(number: int, change: Any) -> dd.DataFrame:
    """Return a frame one partition of which is changed."""
    frame = pd.DataFrame(X, columns=list("abcdef"))

    def spoil(part: pd.DataFrame, partition_info: Any = None) -> pd.DataFrame:
        is_it = partition_info is not None and partition_info["number"] == number
        return change(part) if is_it else part

    return dd.from_pandas(frame, npartitions=4).map_partitions(spoil, meta=frame.iloc[:0])


def has_text(part: pd.DataFrame) -> pd.DataFrame:
    return part.assign(c="many")


def has_gap(part: pd.DataFrame) -> pd.DataFrame:
    part = part.copy()
    part.iloc[3, 1] = np.nan
    return part


def lacks_column(part: pd.DataFrame) -> pd.DataFrame:
    return part.drop(columns="d")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (has_text, "partition 2 .*X has text or times in column 'c'"),
        (has_gap, "partition 2 .*Input X contains NaN in column 'b'"),
        (lacks_column, r"Missing:\s+\['d'\]"),  # Dask looks at columns itself
    ],
)
def test_a_bad_partition_is_named_and_the_cluster_goes_on(
    change: Any, message: str, client: Client
) -> None:
    detector = MAKERS["cone"]()
    with pytest.raises(ValueError, match=message):
        detector.fit(with_partition(2, change))
    assert not hasattr(detector, "offset_")
    assert_same(MAKERS["cone"]().fit(X), detector.fit(cut(X, 3)))


def test_tables_that_cannot_be_are_refused() -> None:
    text = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), npartitions=1)
    with pytest.raises(ValueError, match="X has text or times in column 'b'"):
        MAKERS["cone"]().fit(text)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D"):
        MAKERS["cone"]().fit(da.ones(5))
    with pytest.raises(ValueError, match="1 rows in 1 partitions"):
        MAKERS["cone"]().fit(da.ones((1, 3)))
    with pytest.raises(ValueError, match="sample_weight needs a table in memory"):
        MAKERS["cone"]().fit(cut(X, 3), sample_weight=np.ones(len(X)))
    with pytest.raises(ValueError, match=r"fdr=0\.1 looks at the p-values of all rows"):
        MAKERS["cone"]().fit(X).predict(cut(X, 3), fdr=0.1)
