"""Nothing that comes from a file commands a terminal."""

from __future__ import annotations

import ast
import io
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from setatoms import VectorAtomDetector
from setatoms.persistence.models import StoredModel, read_model, write_model
from setatoms.progress import Progress

from .conftest import Answer

Call = Callable[..., Answer]

NASTY = "\x1b]0;owned\x07\x9b31m\u202egnp[bold red]"
UNSAFE = "\x1b\x07\x9b\u202e"


def is_safe(text: str) -> bool:
    return not any(char in text for char in UNSAFE)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Return a model of a class that does not exist."""
    path = tmp_path / "hostile.setatoms"
    X = np.random.default_rng(0).normal(size=(120, 3))
    VectorAtomDetector(n_atoms=3, n_iter=2, random_state=0).fit(X).save(path)
    stored = read_model(path)
    write_model(path, StoredModel(stored.header | {"estimator": NASTY}, stored.arrays))
    return path


@pytest.mark.parametrize("command", ["info", "score"])
def test_a_hostile_model_is_shown_as_text(
    call: Call, hostile: Path, table: Path, command: str
) -> None:
    answer = call(command, hostile, *([table] if command == "score" else []))
    assert "owned" in answer.out + answer.err
    assert is_safe(answer.out + answer.err)


@pytest.mark.parametrize(
    "words",
    [
        ["detect", f"/{NASTY}.csv"],
        ["info", f"/{NASTY}"],
        ["score", f"/{NASTY}", "table.csv"],
        ["detect", "table.csv", "--out", f"/{NASTY}/scores.csv"],
        ["detect", "table.csv", f"--{NASTY}"],
        ["detect", "table.csv", "--method", NASTY],
        ["detect", "table.csv", NASTY],
        [NASTY],
    ],
)
def test_names_in_errors_are_shown_as_text(call: Call, words: list[str]) -> None:
    answer = call(*words)
    assert answer.status in (1, 2)
    assert "owned" in answer.err
    assert is_safe(answer.err)


def table_with_nasty_index(folder: Path) -> Path:
    data = folder / "data.csv"
    lines = [f'"{NASTY}",a,b', *(f'"{NASTY} {i}",{i % 7},{(i % 7) * 2 + i % 2}' for i in range(60))]
    data.write_text("\n".join(lines), encoding="utf-8")
    return data


def test_json_escapes_what_could_command_a_terminal(call: Call, tmp_path: Path) -> None:
    data = table_with_nasty_index(tmp_path)
    answer = call("detect", data, "--method", "vector", "--index", NASTY, "--json")
    assert answer.status == 0
    assert is_safe(answer.out)
    assert answer.json["top"][0]["index"].startswith(NASTY)


def test_a_terminal_shows_the_name_of_the_index_column_as_it_is(tmp_path: Path) -> None:
    data = table_with_nasty_index(tmp_path)
    words = ["detect", str(data), "--method", "vector", "--index", NASTY]
    shown = on_a_terminal(words)
    assert "[bold red]" in shown
    assert "\x1b]0;owned" not in shown
    assert is_safe(shown.replace("\x1b[", ""))


def on_a_terminal(words: list[str]) -> str:
    """Run a command with a terminal as standard output and return what it wrote there."""
    master, slave = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "setatoms", *words],
        stdout=slave, stderr=subprocess.DEVNULL, env=os.environ | {"COLUMNS": "200"},
    )  # fmt: skip
    os.close(slave)
    pieces = []
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(master)
    assert child.wait(timeout=120) == 0
    return b"".join(pieces).decode()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_progress_bar_shows_names_as_text() -> None:
    stream = Terminal()
    with Progress(1, NASTY, stream=stream) as progress:
        progress.advance(1, NASTY)
    shown = stream.getvalue()
    assert shown.count("owned") == 2
    assert is_safe(shown.replace("\x1b[K", ""))


def test_printing_is_left_to_one_module(root: Path) -> None:
    printing = {
        path.stem
        for path in (root / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("print", "click.echo")
    }
    assert printing == {"terminal", "demo"}
