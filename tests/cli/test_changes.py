"""A table that changes while it is read is refused, and no file is written."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from setatoms.cli import learning, runs

from .conftest import Answer

Call = Callable[..., Answer]
Change = Callable[[Path], None]


def cut(path: Path) -> None:
    """Cut the table at the end of a line."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:100]), encoding="utf-8")


def put_another_in_place(path: Path) -> None:
    """Put a table in place whose columns stand in another order."""
    draft = path.with_suffix(".new")
    rows = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()]
    turned = "\n".join(",".join([*row[1:4], row[0], *row[4:]]) for row in rows)
    draft.write_text(f"{turned}\n", encoding="utf-8")
    draft.replace(path)


def append(path: Path) -> None:
    """Add a row."""
    with path.open("a", encoding="utf-8") as stream:
        stream.write("1,2,3,4,late,round\n")


@pytest.fixture
def copied(table: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(table, tmp_path / "parts.csv"))


@pytest.mark.parametrize("command", ["detect", "fit"])
@pytest.mark.parametrize("change", [cut, put_another_in_place, append])
def test_while_it_is_read(
    command: str, change: Change, copied: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose = learning.choose_columns

    def change_and_choose(*arguments):
        change(copied)
        return choose(*arguments)

    monkeypatch.setattr(learning, "choose_columns", change_and_choose)
    saved = copied.with_name("m.setatoms")
    answer = call(command, copied, "--method", "vector", "--save", saved)
    assert answer.status == 1
    assert "parts.csv has changed while it was read; run the command again" in answer.err
    assert not saved.exists()


def test_between_learning_and_scoring(
    copied: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_rule = runs.find_rule

    def find_and_change(*arguments):
        cut(copied)
        return find_rule(*arguments)

    monkeypatch.setattr(runs, "find_rule", find_and_change)
    out = copied.with_name("scores.csv")
    answer = call("detect", copied, "--method", "vector", "--out", out)
    assert answer.status == 1
    assert "has changed while it was read" in answer.err
    assert not out.exists()


@pytest.mark.parametrize("words", [("score",), ("explain", "--row", "3")])
def test_a_model_and_a_table_in_the_wrong_order(
    words: tuple[str, ...], table: Path, model: Path, call: Call
) -> None:
    command, *more = words
    answer = call(command, table, model, *more)
    assert answer.status == 1
    assert f"{model} is a model and {table} is none; the model comes first" in answer.err
