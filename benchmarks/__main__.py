"""Measure, print one table, write JSON; with ``--write`` also the table of a page."""

from __future__ import annotations

import argparse
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks import report
from benchmarks.coders import cone_lines, gauss_lines, omp_lines
from benchmarks.detectors import detector_lines
from benchmarks.ensembles import ensemble_lines
from benchmarks.growth import first_call_lines, growth_lines
from benchmarks.learners import aksvd_lines
from benchmarks.lines import Line
from benchmarks.machine import describe
from benchmarks.paper import paper_lines
from benchmarks.settings import FULL, QUICK, Settings
from benchmarks.shapes import missing_tables

PARTS: dict[str, Callable[[Settings], Iterator[Line]]] = {
    "omp": omp_lines,
    "cone": cone_lines,
    "gauss": gauss_lines,
    "aksvd": aksvd_lines,
    "detectors": detector_lines,
    "growth": growth_lines,
    "first-call": first_call_lines,
    "ensembles": ensemble_lines,
    "paper": paper_lines,
}
# the first has a page of its own, the second only repeats what other parts show, for half an hour
OPTIONAL = {"ensembles", "paper"}
COMPLETE_JSON, PARTIAL_JSON = Path("benchmarks/results.json"), Path("build/benchmarks-partial.json")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark as the command line says."""
    options = _parse(arguments)
    if options.read is not None:
        lines, about = report.read_json(options.read.read_text(encoding="utf-8"))
        print(report.header(), *map(report.text_row, lines), sep="\n")
    else:
        lines, about = _measure(options)
    print(report.tally(lines))
    if options.write is not None:
        report.fill_page(options.write, report.as_markdown(lines, about))
        print(f"Table put into {options.write}.")
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", metavar="PART,...", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--paper", action="store_true", help="extrapolate the paper's 27,000 fits")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, fewer rounds")
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds of which to take medians")
    parser.add_argument("--threads", type=int, default=FULL.threads, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write all figures")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="Markdown page to put them into")
    parser.add_argument(
        "--read", type=Path, metavar="FILE", help="show figures written before, measure nothing"
    )
    options = parser.parse_args(arguments)
    options.command = shlex.join(["python", "-m", "benchmarks", *(arguments or sys.argv[1:])])
    usual = [part for part in PARTS if part not in OPTIONAL]
    options.parts = options.only.split(",") if options.only else usual
    if options.paper and "paper" not in options.parts:
        options.parts.append("paper")
    if unknown := [part for part in options.parts if part not in PARTS]:
        parser.error(f"--only {','.join(unknown)}: choose from {', '.join(PARTS)}")
    return options


def _settings(options: argparse.Namespace) -> Settings:
    settings = replace(QUICK if options.quick else FULL, threads=options.threads)
    return settings if options.rounds is None else replace(settings, rounds=options.rounds)


def _measure(options: argparse.Namespace) -> tuple[list[Line], dict[str, Any]]:
    """Run the parts asked for; print lines as they come, write them down after each part."""
    settings = _settings(options)
    missing = missing_tables(settings.tables)
    settings = replace(settings, tables=tuple(n for n in settings.tables if n not in missing))
    about = {
        "command": options.command,
        "complete": not missing and settings.shrink == 1,
        "settings": asdict(settings),
        "machine": describe(),
    }
    whole = about["complete"] and not options.only
    path = options.json or (COMPLETE_JSON if whole else PARTIAL_JSON)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [Line("tables", name, "all", skipped=why) for name, why in missing.items()]
    print(report.header(), *map(report.text_row, lines), sep="\n")
    with threadpool_limits(limits=settings.threads), warnings.catch_warnings():
        # of peers that do not converge, and of tables too short for their atoms, used to warm up
        warnings.simplefilter("ignore", UserWarning)
        for part in options.parts:
            for line in PARTS[part](settings):
                print(report.text_row(line), flush=True)
                lines.append(line)
            path.write_text(report.as_json(lines, about), encoding="utf-8")
    print(f"\nWritten to {path}.")
    return lines, about


if __name__ == "__main__":
    sys.exit(main())
