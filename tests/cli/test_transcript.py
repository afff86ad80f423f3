"""The transcript in the documents is what the commands print, up to the last digits of numbers."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from setatoms.cli import main

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, flags=re.DOTALL)


def compared(shown: str, printed: str) -> bool:
    """Tell whether two lines have the same words, and numbers that differ by a per cent or two."""
    words = [NUMBER.sub("#", line).split() for line in (shown, printed)]
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True)
    return words[0] == words[1] and all(
        float(one) == pytest.approx(float(two), rel=0.02, abs=0.05) for one, two in pairs
    )


def test_the_first_look_prints_what_the_documents_say(root: Path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (root / "docs" / "command-line.md").read_text(encoding="utf-8")
    page = page[page.index("## A first look") :]
    exec(blocks(page, "python")[0], {})
    for session in blocks(page, "console")[0].split("$ ")[1:]:
        command, *shown = session.rstrip().split("\n")
        assert main(shlex.split(command)[1:]) == 0
        printed = capsys.readouterr().out.rstrip().split("\n")
        if shown[-1] == "...":
            shown = shown[:-1]
            printed = printed[: len(shown)]
        assert len(printed) == len(shown)
        for one, other in zip(shown, printed, strict=True):
            assert compared(one, other), f"{one!r} in the documents, {other!r} now"
