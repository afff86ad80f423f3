"""``python -m benchmarks scale``."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from benchmarks.environment import describe_environment
from benchmarks.markdown import fill_page, table, verdict
from benchmarks.scale.studies import Figure, coding, merging, rates, traffic, whole_table
from benchmarks.scale.tables import ROWS_OF_A_FILE, write_table

_ROWS, _SCORED_FILES = 20_000_000, 4


@click.command("scale")
@click.option("--rows", type=int, default=_ROWS, metavar="N", help="rows of the large table")
@click.option("--rounds", type=int, default=3, metavar="N", help="rounds of which to take medians")
@click.option(
    "--folder", type=click.Path(path_type=Path, file_okay=False), help="where the table is, or goes"
)
@click.option(
    "--write",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PAGE",
    help="Markdown page to put figures into",
)
def command(rows: int, rounds: int, folder: Path | None, write: Path | None) -> None:
    """Measure what a cluster costs: rates, memory, traffic; with workers on this machine."""
    lines = []
    with tempfile.TemporaryDirectory() as own:
        for figure in _measure(rows, rounds, folder or Path(own)):
            holds = "" if figure.holds is None else verdict(figure.holds)
            lines.append((figure.what, figure.found, figure.goal, holds))
            click.echo("  ".join(filter(None, lines[-1])))
    commit, _, hardware = describe_environment(digits=10)
    text = table(("", "found", "wanted", ""), lines, left=(0, 2, 3))
    note = f"Commit {commit}, {hardware['cpu']}, {hardware['cores']} cores."
    if write is not None:
        fill_page(write, "scale", f"{text}\n\n{note}")


def _measure(n_rows: int, rounds: int, folder: Path) -> Iterator[Figure]:
    small = n_rows < ROWS_OF_A_FILE
    yield from whole_table(write_table(folder, n_rows), _SCORED_FILES)
    yield from rates(min(n_rows, 320_000), rounds)
    yield from traffic((4_000, 16_000) if small else (40_000, 160_000))
    yield from merging((10, 100, 1000), 1_000, 100)
    yield from coding(1_000 if small else 20_000)
