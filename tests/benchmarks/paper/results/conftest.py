"""What the tests of the benchmark share: stores with known contents."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest


class Row(NamedTuple):
    """A cell as a test states it; what it leaves out does not matter to it."""

    method: str
    auc: float | None
    config: str = "default"
    dataset: str = "1_a"
    seed: int = 1
    error: float | None = None
    reason: str | None = None  # of a failed cell
    anomalies: str = "dependency"


@pytest.fixture
def row() -> type[Row]:
    """Return the class of rows that `make_store` takes."""
    return Row


@pytest.fixture
def make_store(tmp_path: Path) -> Callable[[Iterable[Row]], Path]:
    """Return a function that writes rows into a store and returns its folder."""

    def make(rows: Iterable[Row], folder: str = "store") -> Path:
        directory = tmp_path / folder
        directory.mkdir()
        store = sqlite3.connect(directory / "results.sqlite")
        store.executescript(
            """
            CREATE TABLE cells (dataset TEXT, anomalies TEXT, seed INT, method TEXT, config TEXT,
                status TEXT, reason TEXT, auc REAL, ap REAL, error REAL, seconds REAL,
                environment INT, PRIMARY KEY (dataset, anomalies, seed, method, config));
            CREATE TABLE environments (id INTEGER PRIMARY KEY, commit_hash TEXT, versions TEXT,
                hardware TEXT);
            INSERT INTO environments VALUES (1, 'abc', '{"numpy": "2"}', '{"cpu": "<fast>"}');
            """
        )
        store.executemany(f"INSERT INTO cells VALUES ({','.join('?' * 12)})", map(_values, rows))
        store.commit()
        store.close()
        return directory

    return make


def _values(row: Row) -> tuple[Any, ...]:
    status = "ok" if row.reason is None else "failed"
    key = (row.dataset, row.anomalies, row.seed, row.method, row.config)
    return (*key, status, row.reason, row.auc, row.auc, row.error, 1.0, 1)
