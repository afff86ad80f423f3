"""A small table, a model of it, and the command line to call."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("duckdb")

from setatoms.cli import main

COLUMNS = ["depth", "width", "height", "mass"]


class Answer(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Return a function that runs the command line on some words."""

    def run(*words: object) -> Answer:
        capfd.readouterr()
        status = main([str(word) for word in words])
        return Answer(status, *capfd.readouterr())

    return run


@pytest.fixture(scope="session")
def rows() -> list[dict[str, str]]:
    """Return 300 rows as words: four related columns, gaps, a name and two kinds."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 4)) + 0.05 * rng.normal(size=(300, 4))
    words = [dict(zip(COLUMNS, (f"{x:.4f}" for x in row), strict=True)) for row in X]
    for i, row in enumerate(words):
        row["name"] = f"part {i + 1}"
        row["kind"] = "round" if i % 3 else "square"
    words[6]["mass"] = ""
    return words


@pytest.fixture(scope="session")
def table(rows: list[dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the rows as a CSV file; not to be written to."""
    path = tmp_path_factory.mktemp("tables") / "parts.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, [*COLUMNS, "name", "kind"])
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture(scope="session")
def model(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model of the table, saved by the command line; not to be written to."""
    path = tmp_path_factory.mktemp("models") / "parts.setatoms"
    assert main(["fit", str(table), "--method", "cone", "--save", str(path)]) == 0
    return path


def worst_row(lines: list[dict[str, str]]) -> int:
    """Return the number of the row with the highest score."""
    return int(max(lines, key=lambda line: float(line["score"]))["row"])


def read_scores(path: Path) -> list[dict[str, str]]:
    """Return the lines of a file of scores."""
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def as_parquet(path: Path, target: Path) -> Path:
    """Write a table as Parquet to `target`, and return it."""
    import duckdb

    duckdb.connect().execute(f"copy (from '{path}') to '{target}' (format parquet)")
    return target
