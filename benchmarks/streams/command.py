"""``python -m benchmarks streams``."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from benchmarks.figures import Figure, report
from benchmarks.streams.rates import rates
from benchmarks.streams.watching import watching


@click.command("streams")
@click.option("--rows", type=int, default=1_000_000, metavar="N", help="rows for `watch`")
@click.option("--kills", type=int, default=10, metavar="N", help="how often to kill it")
@click.option("--rounds", type=int, default=3, metavar="N", help="rounds of which to take medians")
@click.option(
    "--write",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PAGE",
    help="Markdown page to put figures into",
)
def command(rows: int, kills: int, rounds: int, write: Path | None) -> None:
    """Measure how fast rows are learned from as they come, and kill `setatoms watch` on the way."""
    report(_measure(rows, kills, rounds), write, "stream-rates")


def _measure(n_rows: int, n_kills: int, rounds: int) -> Iterator[Figure]:
    yield from rates(rounds)
    with tempfile.TemporaryDirectory() as folder:
        yield from watching(Path(folder), n_rows, n_kills)
