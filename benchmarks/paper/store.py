"""Results in one SQLite file that survives being killed and may be shared by several runners."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from benchmarks.environment import Environment
from benchmarks.errors import BenchError
from benchmarks.paper.cells import Cell, Outcome
from benchmarks.paper.presence import is_alive

FILE_NAME = "results.sqlite"
VERSION = 1

_KEY = "dataset, anomalies, seed, method, config"
_KEY_COLUMNS = """
    dataset TEXT NOT NULL, anomalies TEXT NOT NULL, seed INTEGER NOT NULL,
    method TEXT NOT NULL, config TEXT NOT NULL"""
_IS_CELL = "dataset = ? AND anomalies = ? AND seed = ? AND method = ? AND config = ?"
_SCHEMA = (
    """CREATE TABLE environments (
        id INTEGER PRIMARY KEY, commit_hash TEXT NOT NULL, versions TEXT NOT NULL,
        hardware TEXT NOT NULL, UNIQUE (commit_hash, versions, hardware))""",
    f"""CREATE TABLE cells ({_KEY_COLUMNS},
        status TEXT NOT NULL CHECK (status IN ('ok', 'failed')), reason TEXT,
        auc REAL, ap REAL, error REAL, seconds REAL,
        environment INTEGER NOT NULL REFERENCES environments (id),
        PRIMARY KEY ({_KEY})) WITHOUT ROWID""",
    f"""CREATE TABLE claims ({_KEY_COLUMNS}, runner TEXT NOT NULL,
        PRIMARY KEY ({_KEY})) WITHOUT ROWID""",
)


class Store:
    """The results of a folder.

    Every finished cell is one transaction, with SQLite's rollback journal and full
    synchronisation: it is there completely or not at all. A runner claims a cell before it
    computes it; claims of runners that died are taken over.

    Parameters
    ----------
    folder : Path
        Where ``results.sqlite`` is, or will be made.

    Raises
    ------
    BenchError
        When the folder cannot be written to, or the file is not a store or one of a later version.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BenchError(
                f"cannot make the folder {folder} ({error.strerror}); choose another one"
            ) from error
        with self._explaining():
            # isolation_level=None: transactions begin where this class says so
            self._connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            self._connection.execute("PRAGMA synchronous = FULL")
        with self._writing():
            self._check_version()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def finished(self, *, failed_too: bool = True) -> set[Cell]:
        """Return the cells that have a result; without `failed_too` those that succeeded."""
        where = "" if failed_too else "WHERE status = 'ok'"
        return {Cell(*row) for row in self._read(f"SELECT {_KEY} FROM cells {where}")}

    def times(self) -> dict[str, tuple[int, float]]:
        """Return the number of timed cells of each method, and their seconds in all."""
        rows = self._read(
            "SELECT method, count(seconds), sum(seconds) FROM cells "
            "WHERE seconds IS NOT NULL GROUP BY method"
        )
        return {method: (count, total) for method, count, total in rows}

    def add_environment(self, environment: Environment) -> int:
        """Return the id of `environment`, which is added when it is new."""
        texts = (
            environment.commit_hash,
            json.dumps(environment.versions, sort_keys=True),
            json.dumps(environment.hardware, sort_keys=True),
        )
        columns = "commit_hash, versions, hardware"
        with self._writing() as run:
            run(f"INSERT OR IGNORE INTO environments ({columns}) VALUES (?, ?, ?)", texts)
            rows = run(f"SELECT id FROM environments WHERE ({columns}) = (?, ?, ?)", texts)
            return int(rows.fetchone()[0])

    def claim(self, cell: Cell, runner: str, *, failed_too: bool = False) -> bool:
        """Reserve `cell` for `runner`; return False if it is finished or another one's.

        With `failed_too` a cell that failed may be claimed again.
        """
        with self._writing() as run:
            done = run(f"SELECT status FROM cells WHERE {_IS_CELL}", cell).fetchone()
            if done is not None and not (failed_too and done[0] == "failed"):
                return False
            holder = run(f"SELECT runner FROM claims WHERE {_IS_CELL}", cell).fetchone()
            if holder is not None and is_alive(self.folder, holder[0]):
                return False
            run(
                f"INSERT OR REPLACE INTO claims ({_KEY}, runner) VALUES (?, ?, ?, ?, ?, ?)",
                (*cell, runner),
            )
            return True

    def record(self, cell: Cell, outcome: Outcome, environment: int) -> None:
        """Keep the outcome of `cell`, whose claim ends with that."""
        values = (
            outcome.status, outcome.reason, outcome.auc, outcome.ap, outcome.error, outcome.seconds
        )  # fmt: skip
        with self._writing() as run:
            run(
                f"INSERT OR REPLACE INTO cells ({_KEY}, status, reason, auc, ap, error, seconds, "
                "environment) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*cell, *values, environment),
            )
            run(f"DELETE FROM claims WHERE {_IS_CELL}", cell)

    def release(self, runner: str) -> None:
        """Give up what `runner` claimed and did not finish."""
        with self._writing() as run:
            run("DELETE FROM claims WHERE runner = ?", (runner,))

    def _check_version(self) -> None:
        """Make the tables of a new file; refuse one that is no store or too new."""
        (found,) = self._connection.execute("PRAGMA user_version").fetchone()
        (n_tables,) = self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if found > VERSION:
            raise BenchError(
                f"{self.path} has version {found}, this setatoms knows {VERSION}; "
                "update setatoms or choose another folder"
            )
        if found == 0 and n_tables > 0:
            raise BenchError(f"{self.path} is not a store of results; choose another folder")
        if found == 0:
            for statement in (*_SCHEMA, f"PRAGMA user_version = {VERSION}"):
                self._connection.execute(statement)

    def _read(self, query: str) -> list[Any]:
        with self._explaining():
            return self._connection.execute(query).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[Any]:
        """Run statements in one transaction, which no other runner's can come between."""
        with self._explaining():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection.execute
                self._connection.execute("COMMIT")
            except BaseException:
                # a full disk may have ended the transaction already
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise BenchError(
                f"cannot use the store {self.path} ({error}); what it held is unchanged. Check "
                "that the disk has space and the folder can be written to, or choose another one"
            ) from error
