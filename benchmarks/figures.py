"""Measured lines, printed as they come and kept for a page."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import click

from benchmarks.environment import describe_environment
from benchmarks.markdown import fill_page, table, verdict


class Figure(NamedTuple):
    """A measured line: what, its number in words, and whether it is as good as wanted."""

    what: str
    found: str
    goal: str = ""
    holds: bool | None = None


def report(figures: Iterable[Figure], page: Path | None, block: str) -> None:
    """Print figures as they come, and put them into a block of a Markdown page, if there is one."""
    lines = []
    for figure in figures:
        holds = "" if figure.holds is None else verdict(figure.holds)
        lines.append((figure.what, figure.found, figure.goal, holds))
        click.echo("  ".join(filter(None, lines[-1])))
    if page is not None:
        text = table(("", "found", "wanted", ""), lines, left=(0, 2, 3))
        fill_page(page, block, f"{text}\n\n{_note()}")


@cache
def _note() -> str:
    """Say where figures were measured; asked once, before a page that is filled differs."""
    commit, _, hardware = describe_environment(digits=10)
    return f"Commit {commit}, {hardware['cpu']}, {hardware['cores']} cores."
