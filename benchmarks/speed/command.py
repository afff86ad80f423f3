"""``python -m benchmarks speed``."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import click
from threadpoolctl import threadpool_limits

from benchmarks.command import PROGRAM
from benchmarks.markdown import fill_page
from benchmarks.speed import report
from benchmarks.speed.coders import cone_lines, gauss_lines, omp_lines
from benchmarks.speed.default import default_lines
from benchmarks.speed.detectors import detector_lines
from benchmarks.speed.ensembles import ensemble_lines
from benchmarks.speed.growth import first_call_lines, growth_lines
from benchmarks.speed.learners import aksvd_lines
from benchmarks.speed.lines import Line
from benchmarks.speed.machine import describe
from benchmarks.speed.paper_grid import paper_lines
from benchmarks.speed.settings import FULL, QUICK, Settings
from benchmarks.speed.shapes import missing_tables
from benchmarks.speed.slowest import slowest_lines
from setatoms.persistence.atomic import replacing

PARTS: dict[str, Callable[[Settings], Iterator[Line]]] = {
    "omp": omp_lines,
    "cone": cone_lines,
    "gauss": gauss_lines,
    "slowest": slowest_lines,
    "aksvd": aksvd_lines,
    "detectors": detector_lines,
    "default": default_lines,
    "growth": growth_lines,
    "first-call": first_call_lines,
    "ensembles": ensemble_lines,
    "paper": paper_lines,
}
# the first has a page of its own, the second only repeats what other parts show, for half an hour
OPTIONAL = {"ensembles", "paper"}
COMPLETE_JSON, PARTIAL_JSON = Path("results/speed.json"), Path("build/speed-partial.json")


FILE = click.Path(path_type=Path, dir_okay=False)


class Wishes(NamedTuple):
    """What to measure, and where to keep it."""

    command: str
    parts: list[str]
    settings: Settings
    json: Path | None


@click.command("speed")
@click.option("--only", metavar="PART,...", help=f"of {', '.join(PARTS)}")
@click.option("--paper", is_flag=True, help="extrapolate the paper's 27,000 fits")
@click.option("--quick", is_flag=True, help="a tenth of the rows, fewer rounds")
@click.option("--rounds", type=int, metavar="N", help="rounds of which to take medians")
@click.option("--threads", type=int, default=FULL.threads, metavar="N")
@click.option("--json", type=FILE, metavar="FILE", help="where to write all figures")
@click.option("--write", type=FILE, metavar="PAGE", help="Markdown page to put them into")
@click.option(
    "--read", type=FILE, metavar="FILE", help="show figures written before, measure nothing"
)
@click.pass_obj
def command(
    words: list[str],
    only: str | None,
    paper: bool,
    quick: bool,
    rounds: int | None,
    threads: int,
    json: Path | None,
    write: Path | None,
    read: Path | None,
) -> None:
    """Measure, print one table, write JSON; with --write also the table of a page."""
    if read is not None:
        lines, about = report.read_json(read.read_text(encoding="utf-8"))
        click.echo("\n".join([report.header(), *map(report.text_row, lines)]))
    else:
        settings = replace(QUICK if quick else FULL, threads=threads)
        if rounds is not None:
            settings = replace(settings, rounds=rounds)
        said = f"{PROGRAM} {shlex.join(words)}"
        lines, about = _measure(Wishes(said, _parts(only, paper), settings, json))
    click.echo(report.tally(lines))
    if write is not None:
        fill_page(write, "results", report.as_markdown(lines, about))
        click.echo(f"Table put into {write}.")


def _parts(only: str | None, paper: bool) -> list[str]:
    usual = [part for part in PARTS if part not in OPTIONAL]
    parts = only.split(",") if only else usual
    if unknown := [part for part in parts if part not in PARTS]:
        raise click.BadParameter(
            f"{','.join(unknown)}: choose from {', '.join(PARTS)}", param_hint="--only"
        )
    return [*parts, "paper"] if paper and "paper" not in parts else parts


def _measure(wishes: Wishes) -> tuple[list[Line], dict[str, Any]]:
    """Run the parts asked for; print lines as they come, write them down after each part."""
    settings = wishes.settings
    missing = missing_tables(settings.tables)
    settings = replace(settings, tables=tuple(n for n in settings.tables if n not in missing))
    about = {
        "command": wishes.command,
        "complete": not missing and settings.shrink == 1,
        "settings": asdict(settings),
        "machine": describe(),
    }
    whole = about["complete"] and set(wishes.parts) >= set(PARTS) - OPTIONAL
    path = wishes.json or (COMPLETE_JSON if whole else PARTIAL_JSON)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [Line("tables", name, "all", skipped=why) for name, why in missing.items()]
    click.echo("\n".join([report.header(), *map(report.text_row, lines)]))
    with threadpool_limits(limits=settings.threads), warnings.catch_warnings():
        # of peers that do not converge, and of tables too short for their atoms, used to warm up
        warnings.simplefilter("ignore", UserWarning)
        for part in wishes.parts:
            for line in PARTS[part](settings):
                click.echo(report.text_row(line))
                lines.append(line)
            with replacing(path) as stream:
                stream.write(report.as_json(lines, about).encode())
    click.echo(f"\nWritten to {path}.")
    return lines, about
