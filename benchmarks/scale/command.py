"""``python -m benchmarks scale``."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from benchmarks.figures import Figure, report
from benchmarks.scale.studies import (
    coding,
    merging,
    rates,
    scheduling,
    score_traffic,
    traffic,
    whole_table,
)
from benchmarks.scale.tables import ROWS_OF_A_FILE, write_table

_ROWS, _SCORED_FILES = 20_000_000, 4


_STUDIES = ("rates", "traffic")


@click.command("scale")
@click.option("--rows", type=int, default=_ROWS, metavar="N", help="rows of the large table")
@click.option("--rounds", type=int, default=3, metavar="N", help="rounds of which to take medians")
@click.option("--only", type=click.Choice(_STUDIES), help="one of the two studies")
@click.option(
    "--folder", type=click.Path(path_type=Path, file_okay=False), help="where the table is, or goes"
)
@click.option(
    "--write",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PAGE",
    help="Markdown page to put figures into",
)
def command(
    rows: int, rounds: int, only: str | None, folder: Path | None, write: Path | None
) -> None:
    """Measure what a cluster costs: rates, memory, traffic; with workers on this machine.

    Rates need a machine that does nothing else.
    """
    if only != "traffic":
        with tempfile.TemporaryDirectory() as own:
            report(_rates(rows, rounds, folder or Path(own)), write, "scale-rates")
    if only != "rates":
        report(_traffic(rows), write, "scale-traffic")


def _rates(n_rows: int, rounds: int, folder: Path) -> Iterator[Figure]:
    yield from whole_table(write_table(folder, n_rows), _SCORED_FILES)
    yield from rates(min(n_rows, 320_000), rounds)
    yield from coding(1_000 if n_rows < ROWS_OF_A_FILE else 20_000)


def _traffic(n_rows: int) -> Iterator[Figure]:
    sizes = (4_000, 16_000) if n_rows < ROWS_OF_A_FILE else (40_000, 160_000, 640_000)
    yield from traffic(sizes)
    yield from score_traffic(sizes)
    yield from merging((2, 10, 64, 100, 256, 1000), 1_000, 100)
    yield from scheduling((2, 8, 32))
