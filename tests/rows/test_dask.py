"""Tables of Dask: the same model as in memory, to the last bit, wherever the rows are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import setatoms
from setatoms.backends import effective_jobs
from setatoms.learning import AtomKind
from setatoms.learning.kinds import ConeAtoms, GaussianAtoms

dask = pytest.importorskip("dask", reason="Dask is not installed")
pytest.importorskip("distributed", reason="distributed is not installed")

import cloudpickle  # noqa: E402
import dask.array as da  # noqa: E402
import dask.bag as db  # noqa: E402
import dask.dataframe as dd  # noqa: E402
import pandas as pd  # noqa: E402
from dask import multiprocessing  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402
from scipy import sparse  # noqa: E402
from sklearn.base import clone  # noqa: E402

from setatoms.rows import dask as dask_rows  # noqa: E402
from setatoms.rows import dask_signals, delayed  # noqa: E402
from setatoms.rows.delayed import hold, later  # noqa: E402
from setatoms.rows.homes import choose_homes  # noqa: E402

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
    # When it is over, Dask closes the worker of that name for good, if it died again just then.
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})
    with (
        patient,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as running,
    ):
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


def test_processes_learn_the_same_model_and_are_started_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = []

    class CountedPool(ProcessPoolExecutor):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            started.append(arguments)
            super().__init__(*arguments, **named)

    for module in (delayed, multiprocessing):
        monkeypatch.setattr(module, "ProcessPoolExecutor", CountedPool)
    wanted = MAKERS["cone"]().fit(X)
    with dask.config.set(scheduler="processes", num_workers=2):
        found = MAKERS["cone"]().fit(cut(X, 3))
        assert dask.config.get("pool", None) is None
    assert started == [(2,)]
    assert_same(wanted, found)


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


class Traveller:
    """Writes down each process that it arrives in."""

    def __init__(self, log: Path) -> None:
        self.log = log

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state
        with self.log.open("a", encoding="ascii") as stream:
            stream.write(f"{os.getpid()}\n")


@pytest.mark.parametrize("form", ["array", "frame"])
def test_a_model_goes_to_each_worker_once(form: str, client: Client, tmp_path: Path) -> None:
    detector = MAKERS["cone"]().fit(X)
    detector.companion_ = Traveller(tmp_path / "log")
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=17)
    scores = detector.score_samples(cut(X, 17) if form == "array" else frame)
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # which workers cannot import
    try:
        assert len(scores.compute()) == len(X)
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    workers = set(client.run(os.getpid).values())
    arrived = Counter(map(int, (tmp_path / "log").read_text(encoding="ascii").split()))
    arrived = {pid: n for pid, n in arrived.items() if pid in workers}
    assert arrived
    assert set(arrived.values()) == {1}


class Killer:
    """Kills a worker process each time that one of some steps is reached."""

    def __init__(self, client: Client, steps: tuple[int, ...]) -> None:
        self._client, self._steps = client, steps
        self.n_steps, self.killed = 0, []

    def step(self) -> None:
        self.n_steps += 1
        if self.n_steps not in self._steps:
            return
        pids = self._living()
        self.killed.append(pids[len(self.killed) % 2])
        # when the work of this step is under way
        threading.Timer(0.05, os.kill, (self.killed[-1], signal.SIGKILL)).start()

    def _living(self) -> list[int]:
        """Return the processes of both workers, once the scheduler knows which have died."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            self._client.wait_for_workers(2, timeout=60)
            pids = self._client.run(os.getpid, on_error="ignore").values()
            living = [pid for pid in pids if pid not in self.killed]
            if len(living) == 2:
                return living
            time.sleep(0.1)
        raise AssertionError("a worker that was killed has not been replaced")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("ensemble", {"budget": "balanced"}),
        ("gaussian", {"n_iter": 30}),
        ("cone", {"n_iter": 30, "missing": "fill"}),
    ],
)
def test_three_workers_that_die_in_a_run_change_nothing(
    kind: str, more: dict[str, Any], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = make_rows(60_000)
    if "missing" in more:
        many[::9, 2] = np.nan
    wanted = MAKERS[kind]().set_params(**more)
    detector = clone(wanted)
    wanted.fit(many)
    killer = Killer(client, (2, 7, 12))
    finished, settle = dask_rows.finished, dask_signals.settle

    def finished_one(tasks: Any) -> Iterator[tuple[int, Any]]:
        for each in finished(tasks):
            killer.step()
            yield each

    def settle_and_kill(*arguments: Any) -> Any:
        killer.step()
        return settle(*arguments)

    monkeypatch.setattr(dask_rows, "finished", finished_one)
    monkeypatch.setattr(dask_signals, "settle", settle_and_kill)
    detector.fit(cut(many, 17))
    assert len(set(killer.killed)) == 3
    assert_same(wanted, detector)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "made", "enough"),
    [
        ("SetAtomEnsemble", {}, "all-member-*"),
        ("GaussianAtomDetector", {"n_iter": 30}, "*-iterations*"),
    ],
)
def test_a_client_that_dies_is_followed_by_one_that_goes_on(
    kind: str, made: dict[str, Any], enough: str, cluster: LocalCluster, client: Client,
    tmp_path: Path,
) -> None:  # fmt: skip
    many, folder = make_rows(30_000), tmp_path / "done"
    np.save(tmp_path / "many.npy", many)
    script = textwrap.dedent(
        f"""
        import dask.array as da, numpy as np, setatoms
        from distributed import Client
        from setatoms.estimators import checkpoint
        checkpoint._SECONDS = 0.0
        client = Client({cluster.scheduler_address!r})
        X = da.from_array(np.load({str(tmp_path / "many.npy")!r}), chunks=(7000, 6))
        setatoms.{kind}(random_state=0, **{made!r}).fit(X, checkpoint={str(folder)!r})
        """
    )
    child = subprocess.Popen([sys.executable, "-c", script])
    until = time.monotonic() + 120
    while not list(folder.glob(enough)) and time.monotonic() < until:
        assert child.poll() is None
        time.sleep(0.01)
    child.kill()
    child.wait()
    assert 1 <= len(list(folder.glob(f"{enough}.safetensors"))) < 20
    found = getattr(setatoms, kind)(random_state=0, **made).fit(cut(many, 3), checkpoint=folder)
    assert_same(getattr(setatoms, kind)(random_state=0, **made).fit(many), found)
    assert not folder.exists()


def test_parts_go_to_those_that_hold_them_up_to_a_fair_share() -> None:
    threads = {"a": 2, "b": 1}
    homes = choose_homes([("a",)] * 9, threads)
    assert (homes.count("a"), homes.count("b")) == (6, 3)
    held = ["a", "b", "a", "a", "b", "a"]
    assert choose_homes([(home,) for home in held], threads) == held
    # of a worker that is gone, or of none
    assert sorted(choose_homes([("gone",), (), ("a", "b")], threads)) == ["a", "a", "b"]


@pytest.mark.parametrize("kind", [ConeAtoms(), GaussianAtoms()], ids=["cone", "gaussian"])
def test_no_rows_move_from_one_pass_to_the_next(kind: AtomKind, client: Client) -> None:
    table = make_rows(120_000)
    sent = []
    for n_rows in (40_000, 120_000):
        blocks = hold([later(table[i : i + 5_000]) for i in range(0, n_rows, 5_000)])
        rows = dask_rows.DaskRows.of_partitions(blocks, [5_000] * len(blocks), N_FEATURES)
        signals = rows.signals(np.asarray, None)
        atoms = np.eye(N_FEATURES)
        signals.statistics(kind, atoms, np.full(N_FEATURES, 0.01))
        before = count_sent(client)
        for _ in range(5):
            signals.statistics(kind, atoms, np.full(N_FEATURES, 0.01))
        sent.append((count_sent(client) - before) / 5)
    # 64 parts in both; what it takes to name things varies by some bytes
    assert sent[1] == pytest.approx(sent[0], rel=0.05)
    assert 0 < sent[1] < 120_000 * N_FEATURES * 8 / 64


def count_sent(client: Client) -> int:
    found = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return sum(found.values())


def test_a_worker_does_not_use_more_threads_than_it_has(client: Client) -> None:
    rows = dask_rows.DaskRows([later(X)], [len(X)], N_FEATURES)
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


@pytest.mark.parametrize("method", ["score_samples", "predict"])
def test_a_bad_partition_is_named_when_it_is_scored(method: str, client: Client) -> None:
    detector = MAKERS["cone"]().fit(pd.DataFrame(X, columns=list("abcdef")))
    with pytest.raises(ValueError, match=r"partition 2 \(from 0\): X has text or times in column"):
        getattr(detector, method)(with_partition(2, has_text)).compute()
    detector.fit(X)
    gap = np.where(np.arange(len(X))[:, None] == 1_600, np.nan, X)
    with pytest.raises(ValueError, match=r"partition 1 \(from 0\): Input X contains NaN"):
        getattr(detector, method)(da.from_array(gap, chunks=(1_000, N_FEATURES))).compute()


@pytest.mark.parametrize("kind", ["Float64", "double[pyarrow]", "Float32", "Int64"])
def test_types_of_pandas_that_allow_gaps_need_have_none(kind: str) -> None:
    frame = pd.DataFrame((10 * X).round(), columns=list("abcdef")).astype(kind)
    collection = dd.from_pandas(frame, npartitions=3)
    wanted = MAKERS["cone"]().fit(frame)
    found = MAKERS["cone"]().fit(collection)
    assert found.offset_ == wanted.offset_
    np.testing.assert_array_equal(
        found.score_samples(collection).compute().to_numpy(), wanted.score_samples(frame)
    )


def test_what_takes_a_table_in_memory_does_not_fetch_one() -> None:
    detector = MAKERS["cone"](missing="fill").fit(X)
    for method in ("partial_fit", "follow", "impute", "compare", "counterfactual"):
        with pytest.raises(TypeError, match="this method takes a table in memory"):
            getattr(detector, method)(cut(X, 3))
    transformer = setatoms.ConeDictionaryLearning(n_iter=10, random_state=0).fit(cut(X, 3))
    with pytest.raises(TypeError, match="this method takes a table in memory"):
        transformer.transform(cut(X, 3))
    with pytest.raises(TypeError, match="X is a Bag of Dask"):
        detector.fit(db.from_sequence([1, 2]))
    for method in (detector.fit, detector.score_samples):
        with pytest.raises(TypeError, match=r"X is a Delayed\w* of Dask"):
            method(dask.delayed(X))


def test_tables_that_cannot_be_are_refused() -> None:
    text = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), npartitions=1)
    with pytest.raises(ValueError, match="X has text or times in column 'b'"):
        MAKERS["cone"]().fit(text)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D"):
        MAKERS["cone"]().fit(da.ones(5))
    sparse_blocks = cut(X, 3).map_blocks(sparse.csr_array, dtype=float)
    with pytest.raises(TypeError, match=r"partition \d .*Sparse data was passed"):
        MAKERS["cone"]().fit(sparse_blocks)
    with pytest.raises(TypeError, match=r"partition \d .*Sparse data was passed"):
        MAKERS["cone"]().fit(X).score_samples(sparse_blocks).compute()
    with pytest.raises(ValueError, match="1 rows in 1 partitions"):
        MAKERS["cone"]().fit(da.ones((1, 3)))
    with pytest.raises(ValueError, match="sample_weight needs a table in memory"):
        MAKERS["cone"]().fit(cut(X, 3), sample_weight=np.ones(len(X)))
    with pytest.raises(ValueError, match=r"fdr=0\.1 looks at the p-values of all rows"):
        MAKERS["cone"]().fit(X).predict(cut(X, 3), fdr=0.1)
