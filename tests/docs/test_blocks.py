"""Blocks of code on pages are run or, where that takes hours or changes the machine, parsed."""

from __future__ import annotations

import os
import re
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest

from benchmarks.command import benchmarks
from setatoms.cli.root import setatoms

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAMS = {"setatoms": setatoms, ".venv/bin/setatoms": setatoms}
# Not doctests: these are run by the last test here and by tests/cli/test_transcript.py.
FILES = {"benchmark.md": 2, "command-line.md": 1}


def list_pages(root: Path) -> list[Path]:
    pages = [*(root / "docs").glob("*.md"), *(root / "docs" / "howto").glob("*.md")]
    return [*sorted(pages), root / "README.md", root / "CONTRIBUTING.md"]


def find_blocks(page: Path, *languages: str) -> list[str]:
    text = re.sub(r"^```\{.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [block for language, block in BLOCK.findall(text) if language in languages]


def find_commands(page: Path) -> list[list[str]]:
    """Return the words of every command, without comments and what follows it on the line."""
    found = []
    for line in "".join(find_blocks(page, "", "console")).splitlines():
        start = re.match(r"(?:\$ )?((?:\.venv/bin/)?setatoms |python -m benchmarks |make )", line)
        if start:
            command = line.removeprefix("$ ").replace("python -m benchmarks", "benchmarks")
            words = shlex.split(command.split("; ")[0], comments=True)
            found.append(words[: words.index(">")] if ">" in words else words)
    return found


def parse(command: click.Command, words: list[str]) -> None:
    """Check the words of a command as it would before it begins."""
    while isinstance(command, click.Group):
        name, *words = words
        within = command.get_command(click.Context(command), name)
        assert within is not None, f"there is no command {name}"
        command = within
    command.make_context(command.name, words)


def test_every_command_on_pages_is_one(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    targets = re.findall(r"^([a-z-]+):", (root / "Makefile").read_text("utf-8"), re.MULTILINE)
    commands = [words for page in list_pages(root) for words in find_commands(page)]
    assert len(commands) > 40
    for program, *words in commands:
        if program == "make":
            assert words[0] in targets
        else:
            parse(PROGRAMS.get(program, benchmarks), words)


def test_every_block_of_python_is_run(root: Path) -> None:
    for page in list_pages(root):
        others = [block for block in find_blocks(page, "python") if ">>> " not in block]
        assert len(others) == FILES.get(page.name, 0), f"{page.name}: {others}"


def test_lines_of_python_fit_beside_the_two_columns_of_a_page(root: Path) -> None:
    for page in list_pages(root):
        typed = [
            line
            for block in find_blocks(page, "python")
            for line in block.splitlines()
            if line.startswith((">>> ", "... ")) or ">>> " not in block
        ]
        assert not [line for line in typed if len(line) > 104], page.name  # with the prompt


@pytest.mark.slow
def test_own_detector_of_the_page_is_compared(
    root: Path, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SETATOMS_DATA", str(shared / "adbench"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(root / "src"), str(root)]))
    detector, script = find_blocks(root / "docs" / "benchmark.md", "python")
    (tmp_path / "my_detectors.py").write_text(detector, encoding="utf-8")
    (tmp_path / "mine.py").write_text(script, encoding="utf-8")
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.normal(size=(200, 4)), np.arange(200) % 20 == 0])
    np.savetxt(tmp_path / "pumps.csv", table, delimiter=",", header="a,b,c,d,label", comments="")
    done = subprocess.run(
        [sys.executable, "mine.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    store = sqlite3.connect(tmp_path / "mine" / "results.sqlite")
    cells = store.execute(
        "SELECT DISTINCT method, dataset FROM cells WHERE auc IS NOT NULL"
    ).fetchall()
    store.close()
    assert set(cells) == {
        (method, dataset) for method in ("LOF", "wide LOF") for dataset in ("wine", "pumps")
    }
