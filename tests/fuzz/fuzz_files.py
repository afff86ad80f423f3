"""Tables in files: whatever the bytes, a table or a `FileError`, soon and in little memory.

The first byte of an input chooses the format and whether text columns become features; what can be
read is read once more by the encoding that was chosen, and must give the same number of rows.
"""

from __future__ import annotations

import functools
import gzip
import io
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import duckdb
import openpyxl

from setatoms.files import (
    Choice,
    Encoding,
    FileError,
    ReadOptions,
    Source,
    choose_columns,
    engine,
    feature_chunks,
    open_table,
)

_SCRATCH = Path(tempfile.gettempdir(), f"setatoms-fuzz-files-{os.getpid()}")
_FORMATS = ("csv", "tsv", "jsonl", None)
_CSV = (
    b'a,b,"c ""d"""\r\n1,2.5,x\r\n-3e4,,"y\r\nz"\r\n5,NA,true\r\n',
    b"\xef\xbb\xbfa;b\n1,5;2,5\n3;4\n",
    b"a\tb\n1\t2\n3\t4\n",
    b'a,a,,b\n1,2,3,5" pipe\n1,2,3,x""y\n',
    "\ufeffa,b\n1,2\n3,inf\n".encode("utf-16"),
    gzip.compress(b"a,b\n1,2\n3,4\n", mtime=0),
    b"1,2\r3,4\r",
)


@functools.cache
def _connection(_: int) -> duckdb.DuckDBPyConnection:
    """Return a connection to whatever path an input may be read by."""
    return engine.connect([str(_SCRATCH), *(f"/proc/self/fd/{i}" for i in range(200))])


def _connect_again(
    paths: Sequence[str], attach: Path | None, memory: int
) -> duckdb.DuckDBPyConnection:
    """Return a cursor of the same connection for all files; to start one takes longest."""
    if attach is not None:
        return _connect(paths, attach, memory)
    return _connection(os.getpid()).cursor()


_connect = engine.connect


def groups() -> dict[str, list[bytes]]:
    """Return tables by their format."""
    rows = [{"a": 1, "b": 2.5, "c": "x"}, {"a": 3, "b": None, "c": [1]}, {"a": True, "": "é"}]
    lines = "\n".join(map(json.dumps, rows)).encode()
    rows_of_sql = "values (1, 0.5, 'x'), (2, null, 'y'), (3, 2.0, null)"
    duckdb.connect().execute(
        f"copy (from ({rows_of_sql}) t(a, b, c)) to '{_SCRATCH}' (format parquet)"
    )
    database, workbook = Path(f"{_SCRATCH}.duckdb"), io.BytesIO()
    with duckdb.connect(database) as connection:
        connection.execute(f"create or replace table t as from ({rows_of_sql}) t(a, b, c)")
    book = openpyxl.Workbook()
    for row in (["a", "b", "c"], [1, 0.5, "x"], [2, None, "y"], [3, 2.0, True]):
        book.active.append(row)
    book.save(workbook)
    return {
        "CSV": [bytes([kind]) + text for kind in (0, 1, 3, 4) for text in _CSV],
        "JSON": [bytes([2]) + lines, bytes([6]) + lines],
        "Parquet": [bytes([3]) + _SCRATCH.read_bytes()],
        "workbook": [bytes([3]) + workbook.getvalue()],
        "DuckDB": [bytes([3]) + database.read_bytes()],
    }


def seeds() -> list[bytes]:
    """Return tables in every format."""
    return [table for tables in groups().values() for table in tables]


def one_input(data: bytes) -> None:
    """Read what an input says; nothing but `FileError` may come of it."""
    kind = data[0] if data else 0
    _SCRATCH.write_bytes(data[1:])
    _connection(os.getpid())
    try:
        with patch.object(engine, "connect", _connect_again):
            table = open_table(Source(str(_SCRATCH)), ReadOptions(format=_FORMATS[kind % 4]))
        chosen = choose_columns(table, Choice(one_hot=bool(kind & 4)))
    except FileError:
        return
    encoding = Encoding.from_json(json.loads(json.dumps(chosen.encoding.to_json())))
    n_rows = sum(len(features) for features, *_ in feature_chunks(table, encoding))
    if n_rows != chosen.survey.n_rows:
        raise RuntimeError(f"{chosen.survey.n_rows} rows at first, {n_rows} later")
