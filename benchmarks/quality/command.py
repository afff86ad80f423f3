"""``python -m benchmarks quality``."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click

from benchmarks.markdown import fill_page
from benchmarks.quality.options import Options

# Each is the function `study` of the module of its name.
STUDIES = (
    "choice",
    "curve",
    "ensemble",
    "explanations",
    "faults",
    "fdr",
    "missing",
    "mixed",
    "precision",
    "same_rows",
    "streams",
    "thresholds",
    "weights",
)
_DEFAULT = Options()


@click.command("quality")
@click.argument("names", nargs=-1, type=click.Choice(STUDIES))
@click.option("--quick", is_flag=True, help="three small tables, one seed")
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    default=_DEFAULT.keep,
    metavar="DIR",
    help="folder of tables and finished figures, such as that of paper run",
)
@click.option("--jobs", type=int, default=_DEFAULT.jobs, metavar="N", help="threads")
@click.option(
    "--write",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PAGE",
    help="Markdown page to put the figures into",
)
def command(names: tuple[str, ...], quick: bool, keep: Path, jobs: int, write: Path | None) -> None:
    """Run studies and print their figures: all of them, or those named."""
    for name in names or STUDIES:
        text = import_module(f"benchmarks.quality.{name}").study(Options(quick, keep, jobs))
        click.echo(text)
        if write is not None:
            fill_page(write, name, text)
