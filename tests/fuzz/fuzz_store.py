"""Stores of results: whatever the bytes, tables of results or a `ValueError`.

The first byte of an input says what the rest is: a whole file, or statements of SQL separated by
semicolons that are run on a sound store first.
"""

from __future__ import annotations

import io
import os
import sqlite3
import tempfile
from contextlib import closing, suppress
from pathlib import Path

from benchmarks.environment import Environment
from benchmarks.paper import Cell, Outcome
from benchmarks.paper.reading import load_environments
from benchmarks.paper.store import FILE_NAME, Store
from benchmarks.paper.tables import print_tables

_FOLDER = Path(tempfile.gettempdir(), f"setatoms-fuzz-store-{os.getpid()}")
_FILE = _FOLDER / FILE_NAME
_STATEMENTS = (
    b"UPDATE cells SET auc = 'high'", b"UPDATE cells SET seed = x'00ff'",
    b"UPDATE cells SET reason = 5, status = 'failed'", b"UPDATE environments SET versions = '{'",
    b"UPDATE cells SET dataset = char(27) || '[31m'", b"DROP TABLE environments",
    b"PRAGMA user_version = 9", b"DELETE FROM cells", b"UPDATE cells SET anomalies = 'real'",
    b"UPDATE cells SET auc = 9e999, error = -1; UPDATE cells SET method = NULL",
    b"ALTER TABLE cells DROP COLUMN ap", b"UPDATE cells SET config = ' start2'",
)  # fmt: skip


def _make() -> bytes:
    _FOLDER.mkdir(exist_ok=True)
    _FILE.unlink(missing_ok=True)
    with Store(_FOLDER) as store:
        where = store.add_environment(Environment("0" * 40, {"numpy": "2"}, {"cores": 2}))
        for method, config in (("LOF", "k10"), ("Cone-DL", "n4 r0.04-0.12 80-20")):
            for seed in (1, 2):
                outcome = Outcome("ok", auc=0.9, ap=0.5, error=0.1, seconds=1.0)
                store.record(Cell("wine", "dependency", seed, method, config), outcome, where)
    return _FILE.read_bytes()


_SOUND = _make()


def seeds() -> list[bytes]:
    """Return a sound store, and statements that make it unsound."""
    return [b"\0" + _SOUND, *(b"\1" + statement for statement in _STATEMENTS)]


def one_input(data: bytes) -> None:
    """Print what an input makes of a store; nothing but `ValueError` may come of it."""
    if data[:1] == b"\1":
        _FILE.write_bytes(_SOUND)
        _run(data[1:])
    else:
        _FILE.write_bytes(data[1:])
    for name in ("-journal", "-wal", "-shm"):
        _FILE.with_name(FILE_NAME + name).unlink(missing_ok=True)
    # FileNotFoundError is none of these: the file is there
    with suppress(ValueError):
        load_environments(_FOLDER)
        text = io.StringIO()
        print_tables(_FOLDER, file=text)
        if "\x1b" in text.getvalue():
            raise RuntimeError("a store commands the terminal")


def _run(statements: bytes) -> None:
    """Change the store as far as that works."""
    with closing(sqlite3.connect(_FILE)) as store:
        for statement in statements.decode("utf-8", "replace").split(";"):
            # no other files, and nothing that takes forever
            if not {"attach", "vacuum", "recursive"} & set(statement.lower().split()):
                with suppress(sqlite3.Error, ValueError, sqlite3.Warning):
                    store.execute(statement.replace("\0", ""))
        with suppress(sqlite3.Error):
            store.commit()
