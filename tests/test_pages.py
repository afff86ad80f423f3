"""The pages for newcomers: what their console blocks show is what the commands print."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

import setatoms

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [DOCS / "start.md", *sorted((DOCS / "howto").glob("*.md"))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_python(text: str, names: dict[str, object]) -> None:
    """Run the examples of a part of a page; what they print is checked where docs are collected."""
    for example in doctest.DocTestParser().get_examples(text):
        # An example that shows a traceback is there for its error.
        expected = nullcontext() if example.exc_msg is None else suppress(Exception)
        with expected:
            exec(compile(example.source, "page", "single"), names)


def run_command(command: str) -> str:
    """Return what a command prints, standard error first."""
    source = Path(setatoms.__file__).parents[1]
    paths = os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")])
    shell = f'setatoms() {{ "{sys.executable}" -m setatoms "$@"; }}\n{command}'
    done = subprocess.run(
        ["bash", "-c", shell],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
        timeout=300,
        check=False,
    )
    return done.stderr + done.stdout


def split_commands(block: str) -> list[tuple[str, str]]:
    """Return the commands of a console block, each with the output shown below it."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_console_blocks_show_what_commands_print(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    checker = doctest.OutputChecker()
    # re.split with one group: text, block, text, block, ..., text
    parts = CONSOLE.split(page.read_text(encoding="utf-8"))
    for text, block in zip(parts[::2], parts[1::2], strict=False):
        run_python(text, names)
        for command, shown in split_commands(block):
            got = run_command(command)
            assert checker.check_output(shown, got, FLAGS), f"$ {command}\n{got}"
