"""``python -m benchmarks paper``: its options, and answers in one line of safe text."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from benchmarks import paper
from benchmarks.command import main
from benchmarks.environment import describe_environment
from benchmarks.paper import Cell, Outcome
from benchmarks.paper.store import FILE_NAME, Store

NASTY = "\x1b]0;owned\x07\x9b31m\u202egnp[bold red]"

Capture = pytest.CaptureFixture[str]


def is_safe(text: str) -> bool:
    return not any(char in text for char in "\x1b\x07\x9b\u202e")


def keep(folder: Path, *outcomes: tuple[Cell, Outcome]) -> None:
    with Store(folder) as store:
        environment = store.add_environment(describe_environment())
        for cell, outcome in outcomes:
            store.record(cell, outcome, environment)


def test_options_take_several_words(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, object] = {}

    def plan(suite: str, **choice: object) -> list[object]:
        seen.update(choice, suite=suite)
        raise ValueError("enough")

    monkeypatch.setattr(paper, "plan", plan)
    words = "--suite smoke --datasets a b --methods DLC* --skip x y --seeds 1-3 7 --jobs 2"
    assert main(["paper", "run", *words.split()]) == 1
    assert seen["datasets"] == ["a", "b"]
    assert seen["methods"] == ["DLC*"]
    assert seen["skip"] == ["x", "y"]
    assert seen["seeds"] == [1, 2, 3, 7]
    assert seen["anomalies"] is None
    assert seen["configs"] is None


def test_too_many_seeds_are_refused(capsys: Capture) -> None:
    assert main(["paper", "run", "--suite", "smoke", "--seeds", "1-999999999"]) == 1
    assert capsys.readouterr().err == (
        "benchmarks: --seeds 1-999999999 asks for more than 10,000 seeds; give a shorter range\n"
    )


@pytest.mark.parametrize(
    "words",
    [["tables", f"/{NASTY}"], ["run", "--suite", NASTY], ["run", "--seeds", NASTY], [NASTY]],
)
def test_names_in_errors_are_shown_as_text(capsys: Capture, words: list[str]) -> None:
    assert main(["paper", *words]) in (1, 2)
    said = capsys.readouterr().err
    assert "owned" in said
    assert is_safe(said)


def test_a_store_shows_names_and_reasons_as_text(capsys: Capture, tmp_path: Path) -> None:
    keep(
        tmp_path,
        (Cell(NASTY, "dependency", 1, NASTY, NASTY), Outcome.failed(NASTY)),
        (Cell(NASTY, "dependency", 1, "LOF", NASTY), Outcome("ok", auc=0.9)),
    )
    assert main(["paper", "tables", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "owned" in shown
    assert is_safe(shown)


@pytest.mark.parametrize("column", ["auc", "ap", "error", "seconds", "seed"])
def test_a_store_with_text_for_a_number(capsys: Capture, tmp_path: Path, column: str) -> None:
    keep(tmp_path, (Cell("wine", "dependency", 1, "LOF", "k10"), Outcome("ok", auc=0.9)))
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute(f"UPDATE cells SET {column} = 'high'")
    connection.close()
    assert main(["paper", "tables", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "values are not finite numbers: LOF (k10)" in said
    assert said.count("\n") == 1
