"""Files that are elsewhere are fetched, or one line says why not."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import duckdb
import pytest

from setatoms.files import FileError, Source, open_table


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A server of the folder `tmp_path`."""
    handler = functools.partial(_Quiet, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_web_address_is_read_as_a_file(address: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3,4\n")
    come: list[tuple[int, int | None]] = []
    table = open_table(Source(f"{address}/a.csv", on_bytes=lambda *told: come.append(told)))
    assert table.names == ["x", "y"]
    assert come[0] == (12, 12)


def test_the_end_of_an_address_tells_the_format(address: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"x": 1, "y": 2}, {"x": 3, "y": 4}]')
    table = open_table(Source(f"{address}/a.json?version=2"))
    assert (table.names, table.n_rows) == (["x", "y"], 2)


@pytest.mark.parametrize("path", ["http://127.0.0.1:1/a.csv", "https://nowhere.invalid/a.csv"])
def test_what_cannot_be_reached_is_said_in_one_line(path: str) -> None:
    with pytest.raises(FileError, match=f"^{path} cannot be fetched: .*is the address right"):
        Source(path)


def test_what_is_not_there_is_said_in_one_line(address: str) -> None:
    with pytest.raises(FileError, match=r"b.csv cannot be fetched: File not found"):
        Source(f"{address}/b.csv")


def test_storage_without_the_extension_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Bare:
        def execute(self, sql: str) -> None:
            assert sql == "load httpfs"
            raise duckdb.IOException("not installed")

    monkeypatch.setattr(duckdb, "connect", lambda **_: Bare())
    with pytest.raises(FileError, match=r"s3 needs DuckDB's httpfs extension.*install httpfs"):
        Source("s3://store/*.parquet")
