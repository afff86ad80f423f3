"""``--scheduler``: the same models and scores from a cluster, which stays usable whatever comes."""

from __future__ import annotations

import gc
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors

from setatoms.cli import cluster as cluster_module
from setatoms.cli import cluster_scoring
from setatoms.files import parts
from setatoms.persistence import read_header

pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

Call = Callable[..., Any]


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """Collect clients that failed now: while another starts, they would wait for it for ever."""
    yield
    gc.collect()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as running:
        yield running


@pytest.fixture
def address(cluster: Any) -> Iterator[str]:
    """Return where the scheduler is; afterwards, see that the cluster is idle and works."""
    yield cluster.scheduler_address
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        assert client.submit(sum, [1, 2], pure=False).result(timeout=30) == 3
        assert len(client.scheduler_info()["workers"]) == 2


def columns(n_rows: int, seed: int, first: int = 0) -> dict[str, Any]:
    """Return related numbers with gaps, beside what is no measurement."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2)) @ np.array([[1.0, 0.5, -1.0], [0.3, -1.0, 0.7]])
    X += 0.05 * rng.normal(size=X.shape)
    X[0, 0] *= 30
    gaps = rng.random(n_rows) < 0.02
    return {
        "id": np.arange(first, first + n_rows),
        "depth": pa.array(X[:, 0], mask=gaps),
        "width": X[:, 1].astype(np.float32),
        "mass": X[:, 2],
        "count": rng.integers(0, 50, n_rows).astype(np.int32),
        "kind": np.where(rng.random(n_rows) < 0.5, "round", "square"),
        "on": rng.random(n_rows) < 0.5,
        "day": np.datetime64("2024-01-01") + 3600 * np.arange(n_rows).astype("m8[s]"),
    }


def write(path: Path, table: dict[str, Any], **options: Any) -> None:
    pq.write_table(pa.table(table), path, **options)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of three files, one of them without rows."""
    made = tmp_path / "data"
    made.mkdir()
    write(made / "a.parquet", columns(230, 1))
    pq.write_table(pa.table(columns(2, 2)).slice(0, 0), made / "b.parquet")
    write(made / "c.parquet", columns(170, 3, first=230), row_group_size=40)
    return made


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut row groups of more than 50 rows."""
    monkeypatch.setattr(parts, "_NUMBERS", 0)
    monkeypatch.setattr(parts, "CHUNK_ROWS", 50)


def contents(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the header of a model, but for when it was saved, and every bit of its arrays."""
    header = {key: value for key, value in read_header(path).items() if key != "saved"}
    with safetensors.safe_open(path, "np") as file:
        return header, {name: file.get_tensor(name).tobytes() for name in file.keys()}  # noqa: SIM118


@pytest.fixture
def model(call: Call, folder: Path, tmp_path: Path) -> Path:
    path = tmp_path / "plain.setatoms"
    assert call("fit", folder, "--method", "cone", "--save", path).status == 0
    return path


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--method", "gaussian", "--one-hot", "--drop", "count"],
        ["--method", "cone", "--sample", "150", "--seed", "3", "--index", "id"],
    ],
)
def test_a_cluster_saves_the_same_model(
    call: Call, address: str, folder: Path, tmp_path: Path, small_parts: None, options: list[str]
) -> None:
    here = call("fit", folder, "--save", tmp_path / "here", "--json", *options)
    there = call(
        "fit", f"{folder}/*.parquet", "--save", tmp_path / "there", "--json", *options,
        "--scheduler", address,
    )  # fmt: skip
    assert (here.status, there.status, there.err) == (0, 0, "")
    assert contents(tmp_path / "there") == contents(tmp_path / "here")
    hidden = {"file": None, "outputs": None}
    assert there.json | hidden == here.json | hidden


@pytest.mark.parametrize("name", ["scores.csv", "scores.parquet"])
@pytest.mark.parametrize("flagging", [[], ["--flag-top", "7"], ["--fdr", "0.3"]])
def test_a_cluster_writes_the_same_scores(
    call: Call, address: str, folder: Path, model: Path, tmp_path: Path, small_parts: None,
    name: str, flagging: list[str],
) -> None:  # fmt: skip
    words = ["score", model, folder, "--index", "id", "--keep", "kind", "--json", *flagging]
    here = call(*words, "--out", tmp_path / f"here-{name}")
    there = call(*words, "--out", tmp_path / f"there-{name}", "--scheduler", address)
    assert (here.status, there.status, there.err) == (0, 0, "")
    assert (tmp_path / f"there-{name}").read_bytes() == (tmp_path / f"here-{name}").read_bytes()
    assert there.json | {"outputs": None} == here.json | {"outputs": None}


def test_a_folder_gets_a_file_for_each_part(
    call: Call, address: str, folder: Path, model: Path, tmp_path: Path, small_parts: None
) -> None:
    assert call("score", model, folder, "--out", tmp_path / "here.parquet").status == 0
    out = f"{tmp_path}/scores/"
    assert call("score", model, folder, "--out", out, "--scheduler", address).status == 0
    files = sorted(Path(out).iterdir())
    assert len(files) == 5 + 1 + 5
    whole = pa.concat_tables([pq.read_table(file) for file in files])
    assert whole.equals(pq.read_table(tmp_path / "here.parquet"))
    again = call("score", model, folder, "--out", out, "--scheduler", address)
    assert again.status == 1
    assert "is there already" in again.err
    assert left_in(tmp_path) == {"data", "plain.setatoms", "here.parquet", "scores"}


def left_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_no_scheduler(call: Call, folder: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(cluster_module, "_SECONDS", 0.5)
    for address in ("tcp://127.0.0.1:9", "nowhere", "tcp://"):
        answer = call("fit", folder, "--save", tmp_path / "m", "--scheduler", address)
        assert answer.status == 1
        assert answer.err.startswith(f"setatoms: no scheduler answers at {address}; give")
        assert answer.err.count("\n") == 1
    assert left_in(tmp_path) == {"data"}


@pytest.mark.parametrize("greeting", [b"", b"SSH-2.0-OpenSSH_9.2p1\r\n", bytes(64)])
def test_what_answers_is_no_scheduler(
    call: Call, folder: Path, tmp_path: Path, monkeypatch: Any, greeting: bytes
) -> None:
    """A client of Dask waits for ever where nothing is said."""
    monkeypatch.setattr(cluster_module, "_SECONDS", 2.0)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            with server.accept()[0] as connection:
                connection.sendall(greeting)
                while connection.recv(1024):  # until the other side gives up
                    pass

        thread = threading.Thread(target=greet)
        thread.start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        answer = call("fit", folder, "--save", tmp_path / "m", "--scheduler", address)
        thread.join()
    assert answer.status == 1
    assert answer.err.startswith(f"setatoms: no scheduler answers at {address}; give")
    assert answer.err.count("\n") == 1
    assert left_in(tmp_path) == {"data"}


def test_no_workers(call: Call, folder: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(cluster_module, "_SECONDS", 0.5)
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty:
        address = empty.scheduler_address
        answer = call("fit", folder, "--save", tmp_path / "m", "--scheduler", address)
    assert answer.status == 1
    assert f"has no workers; start some: dask worker {address}" in answer.err


def test_another_version_of_dask(
    call: Call, address: str, folder: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    # this process and its scheduler seem to have another one than the workers
    found = distributed.versions._version_cached
    monkeypatch.setattr(
        distributed.versions,
        "_version_cached",
        lambda package: "1999.1" if package == "dask" else found(package),
    )
    answer = call("fit", folder, "--save", tmp_path / "m", "--scheduler", address)
    assert answer.status == 1
    assert "the worker at tcp://" in answer.err
    assert "and this command has 1999.1; install the same versions everywhere" in answer.err
    assert left_in(tmp_path) == {"data"}


def other_columns(table: dict[str, Any]) -> dict[str, Any]:
    return {name: values for name, values in table.items() if name != "mass"}


def other_types(table: dict[str, Any]) -> dict[str, Any]:
    return table | {"mass": table["mass"].astype(str)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (other_columns, "d.parquet has no column 'mass', which the first file of"),
        (other_types, "d.parquet, column 'mass': of type VARCHAR, and DOUBLE in the first file"),
    ],
)
def test_files_of_another_kind(
    call: Call, address: str, folder: Path, model: Path, tmp_path: Path, change: Any, message: str
) -> None:
    write(folder / "d.parquet", change(columns(60, 4)))
    expect_nothing_written(call, address, folder, model, tmp_path, message)


def test_a_damaged_row_group(
    call: Call, address: str, folder: Path, model: Path, tmp_path: Path
) -> None:
    # beyond what is looked at to find out how text is written
    write(folder / "a.parquet", columns(5_200, 1))
    path = folder / "c.parquet"
    data = bytearray(path.read_bytes())
    data[4 : len(data) // 2] = b"\xff" * (len(data) // 2 - 4)
    path.write_bytes(data)
    expect_nothing_written(call, address, folder, model, tmp_path, "c.parquet")


def test_what_is_no_parquet(
    call: Call, address: str, folder: Path, model: Path, tmp_path: Path
) -> None:
    (folder / "d.parquet").write_text("depth,width\n1,2\n", encoding="ascii")
    expect_nothing_written(call, address, folder, model, tmp_path, "d.parquet")


def expect_nothing_written(
    call: Call, address: str, folder: Path, model: Path, tmp_path: Path, message: str
) -> None:
    """See that both commands explain it in one line and leave nothing behind."""
    before = left_in(tmp_path)
    scheduler = ["--scheduler", address]
    for words in (
        ["fit", folder, "--method", "cone", "--save", tmp_path / "new"],
        ["score", model, folder, "--out", tmp_path / "new.csv"],
        ["score", model, folder, "--out", f"{tmp_path}/new/"],
    ):
        answer = call(*words, *scheduler)
        assert answer.status == 1
        assert message in answer.err
        assert answer.err.count("\n") == 1
        assert left_in(tmp_path) == before


def test_an_output_that_cannot_be_written(
    call: Call, address: str, folder: Path, model: Path, tmp_path: Path
) -> None:
    for out in (tmp_path / "no" / "scores.csv", f"{tmp_path}/no/scores/"):
        answer = call("score", model, folder, "--out", out, "--scheduler", address)
        assert answer.status == 1
        assert "cannot write" in answer.err
        assert answer.err.count("\n") == 1


def test_workers_that_cannot_write_to_the_folder(
    call: Call, address: str, folder: Path, model: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    def new_folder_elsewhere(target: Path, pattern: str, n_files: int) -> Any:
        return nullcontext(tmp_path / "of-this-machine-alone")

    monkeypatch.setattr(cluster_scoring, "new_folder", new_folder_elsewhere)
    answer = call("score", model, folder, "--out", f"{tmp_path}/s/", "--scheduler", address)
    assert answer.status == 1
    assert "cannot write the file" in answer.err
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--choose"], "--choose needs the rows in memory"),
        (["--query", "select 1 as a, 2 as b"], "the query: workers read Parquet files"),
    ],
)
def test_what_a_cluster_does_not_do(
    call: Call, table: Path, folder: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    data = [] if "--query" in words else [folder]
    answer = call("fit", *data, "--save", tmp_path / "m", "--scheduler", "tcp://x:1", *words)
    assert answer.status in (1, 2)
    assert message in answer.err


def test_csv_is_refused(call: Call, table: Path, tmp_path: Path) -> None:
    answer = call("fit", table, "--save", tmp_path / "m", "--scheduler", "tcp://x:1")
    assert answer.status == 1
    assert "parts.csv is no Parquet file; workers read nothing else" in answer.err


def test_without_dask_the_remedy_is_printed(
    call: Call, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "dask.dataframe", None)
    answer = call("fit", folder, "--save", tmp_path / "m", "--scheduler", "tcp://x:1")
    assert answer.status == 1
    assert answer.err == (
        'setatoms: --scheduler needs Dask and distributed: pip install "setatoms[dask]"\n'
    )
