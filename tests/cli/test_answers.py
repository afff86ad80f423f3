"""Exit codes, messages, and what a terminal and a spreadsheet are spared."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Answer, read_scores

Call = Callable[..., Answer]

NASTY = {
    "script": "<script>alert(1)</script>",
    "formula": '=HYPERLINK("http://x";"y")',
    "minus": "-2+3+cmd|' /C calc'!A0",
    "escape": "\x1b[2J\x1b]0;title\x07",
    "direction": "\u202egnp.exe",
    "long": "w" * 1_000_000,
    "unicode": "température 🎉",
}


def test_exit_codes_are_the_documented_ones(call: Call, table: Path, model: Path) -> None:
    assert call("score", model, table).status == 0
    assert call("score", model, table, "--exit-code").status == 3
    assert call("score", model, "nowhere.csv").status == 1
    assert call("score", "nowhere.setatoms", table).status == 1
    assert call("score", model, table, "--colour").status == 2
    assert call("detect", table, "--fdr", "0.1", "--contamination", "0.1").status == 2
    assert call("detect", table, "--contamination", "0.9").status == 2
    assert call("detect").status == 2
    assert call("detect", table, "--out", "scores.xlsx").status == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["detect", "{folder}"], "is a folder"),
        (["detect", "{table}", "--drop", "nothing"], "has no column 'nothing'; it has 'depth'"),
        (["detect", "{table}", "--out", "{folder}/no/scores.csv"], "no is not there"),
        (["detect", "{table}", "--save", "{table}"], "is the same file as"),
        (["detect", "{table}", "--out", "{folder}/x", "--save", "{folder}/x"], "are the same file"),
        (["detect", "{table}", "--delimiter", "--"], "must be one ASCII character"),
        (["detect", "{table}", "--encode", "name"], "more than 20 different values"),
        (["info", "{table}"], "no model of setatoms"),
    ],
)
def test_errors_are_one_line_with_a_remedy(
    call: Call, table: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    answer = call(*(word.format(folder=tmp_path, table=table) for word in words))
    assert answer.status == 1
    assert message in answer.err
    assert answer.err.count("\n") == 1
    assert answer.out == ""


@pytest.mark.parametrize("nasty", NASTY.values(), ids=NASTY.keys())
def test_names_and_cells_are_only_ever_text(call: Call, tmp_path: Path, nasty: str) -> None:
    quoted = '"' + nasty.replace('"', '""') + '"'
    lines = [f"id,{quoted},other"] + [f"{quoted},{i % 7},{(i % 7) * 2 + i % 2}" for i in range(60)]
    data, out, page = tmp_path / "nasty.csv", tmp_path / "scores.csv", tmp_path / "page.html"
    data.write_text("\n".join([*lines, f"{quoted},6,-9"]), encoding="utf-8")
    answer = call("detect", data, "--method", "vector", "--index", "id", "--out", out,
                  "--report", page)  # fmt: skip
    assert answer.status == 0
    for text in (answer.out, answer.err):
        assert not any(char in text for char in "\x1b\x07\u202e")
        assert len(text) < 50_000
    assert "<script>alert(1)</script>" not in page.read_text(encoding="utf-8")
    scores = read_scores_of(out)
    assert len(scores) == 61
    for line in scores:
        for cell in (line["id"], line["reason"]):
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


def read_scores_of(path: Path) -> list[dict[str, str]]:
    import csv

    csv.field_size_limit(1 << 30)
    return read_scores(path)


def test_index_numbers_stay_as_they_are(
    call: Call, model: Path, table: Path, tmp_path: Path
) -> None:
    out = tmp_path / "scores.csv"
    call("score", model, table, "--index", "depth", "--out", out)
    first = table.read_text(encoding="utf-8").splitlines()[1].split(",")[0]
    assert read_scores(out)[0]["depth"] == first
    assert any(line["depth"].startswith("-") for line in read_scores(out))


def test_a_device_is_written_to_and_not_replaced(call: Call, model: Path, table: Path) -> None:
    assert call("score", model, table, "--out", "/dev/null").status == 0
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_command(call: Call, shell: str) -> None:
    answer = call("completion", shell)
    assert answer.status == 0
    assert "_SETATOMS_COMPLETE" in answer.out


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("setatoms de", ["detect", "demo"]),
        ("setatoms fit --sch", ["--scheduler"]),
        ("setatoms score --sch", ["--scheduler"]),
    ],
)
def test_completion_knows_commands_and_options(words: str, found: list[str]) -> None:
    place = str(len(words.split()) - 1)
    done = subprocess.run(
        [sys.executable, "-m", "setatoms"],
        env=os.environ
        | {"_SETATOMS_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": place},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.split() == [f"plain,{word}" for word in found]


def test_without_click_the_remedy_is_printed(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise ImportError('no click')", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); "
         "from setatoms.cli import main; sys.exit(main(['--help']))"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == 'setatoms: the command line needs click: pip install "setatoms[cli]"\n'


def test_every_option_is_in_the_documents(root: Path) -> None:
    import click

    from setatoms.cli.root import setatoms

    text = (root / "docs" / "command-line.md").read_text(encoding="utf-8")
    context = click.Context(setatoms)
    for name in setatoms.list_commands(context):
        command = setatoms.get_command(context, name)
        assert command is not None
        assert f"`setatoms {name}" in text
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.opts[0] in text, f"{name} {parameter.opts[0]}"
