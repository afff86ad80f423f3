"""``python -m benchmarks paper``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from setatoms.terminal import print_error, print_line, print_own

_MOST_SEEDS = 10_000
_MANY = ("--datasets", "--methods", "--skip", "--configs", "--seeds", "--anomalies")


class ManyWords(click.Command):
    """A command whose options take one word or several: ``--methods A B`` is both."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat such an option before every further word of its own."""
        repeated: list[str] = []
        current = ""
        for position, word in enumerate(args):
            if word.startswith("-"):
                current = word if word in _MANY else ""
            elif current and args[position - 1] != current:
                repeated.append(current)
            repeated.append(word)
        return super().parse_args(ctx, repeated)


@click.group("paper")
def command() -> None:
    """Reproduce the paper's benchmark, or run a part of it."""


@command.command("run", cls=ManyWords)
@click.option(
    "--suite",
    default="paper",
    help="paper (default), smoke, starts, ensemble, kinds, kinds-slow or relation",
)
@click.option(
    "--datasets",
    multiple=True,
    metavar="NAME...",
    help="tables of ADBench, or CSV files whose last column is the label",
)
@click.option(
    "--methods",
    multiple=True,
    metavar="NAME...",
    help="methods or baselines, or module:name of your own detector",
)
@click.option("--skip", multiple=True, metavar="NAME...", help="methods to leave out")
@click.option(
    "--configs",
    multiple=True,
    metavar="NAME...",
    help="configurations, such as 'n3 r0.04-0.12 *', k10, default",
)
@click.option("--seeds", multiple=True, metavar="SEED...", help="seeds, such as 1-5")
@click.option(
    "--anomalies",
    multiple=True,
    metavar="NAME...",
    help="dependency (mostly the default), local, cluster, global, or real for those in the table",
)
@click.option("--jobs", type=int, default=1, metavar="N", help="worker processes, one core each")
@click.option(
    "--scheduler", metavar="ADDRESS", help="compute on a Dask cluster, such as tcp://head:8786"
)
@click.option("--retry-failed", is_flag=True, help="compute cells that failed before once more")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("setatoms-bench"),
    metavar="DIR",
    help="folder of results",
)
def run(
    suite: str,
    datasets: tuple[str, ...],
    methods: tuple[str, ...],
    skip: tuple[str, ...],
    configs: tuple[str, ...],
    seeds: tuple[str, ...],
    anomalies: tuple[str, ...],
    jobs: int,
    scheduler: str | None,
    retry_failed: bool,
    out: Path,
) -> None:
    """Compute the cells of a suite that are not in the store yet.

    A cell is a table x seed x method x configuration. The same command resumes after any
    interruption. Names may be patterns, such as 'DLC*'.
    """
    # a user's own module lies where the command was called
    sys.path.insert(0, str(Path.cwd()))
    from benchmarks import paper

    tasks = paper.plan(
        suite,
        datasets=list(datasets) or None,
        methods=list(methods) or None,
        configs=list(configs) or None,
        seeds=_read_seeds(seeds) if seeds else None,
        anomalies=list(anomalies) or None,
        skip=list(skip),
    )
    try:
        summary = paper.run(tasks, out, n_jobs=jobs, retry_failed=retry_failed, scheduler=scheduler)
    except KeyboardInterrupt:
        print_own("", sys.stderr)
        print_error(f"Finished cells are in {out}; the same command goes on.")
        raise
    print_line(summary.in_words(out))


_STORES = click.argument(
    "stores", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path)
)


@command.command("tables")
@_STORES
@click.option("--format", "form", type=click.Choice(["text", "markdown"]), help="by default text")
@click.option(
    "--write", "page", type=click.Path(path_type=Path), metavar="PAGE",
    help="put the tables where this page has marks for them, instead of printing all",
)  # fmt: skip
def tables(
    stores: tuple[Path, ...], form: Literal["text", "markdown"] | None, page: Path | None
) -> None:
    """Print the paper's tables beside ours, or write some of them into a page."""
    from benchmarks.paper.tables import print_tables, write_tables

    if page is None:
        print_tables(stores, format=form or "text")
    elif form is not None:
        raise click.UsageError("--format is for printing; pages have Markdown, so leave it out")
    else:
        write_tables(stores, page)


_OUT = click.option(
    "--out", type=click.Path(path_type=Path), help="where to write, by default into the first DIR"
)


@command.command("figures")
@_STORES
@_OUT
def figures(stores: tuple[Path, ...], out: Path | None) -> None:
    """Draw the paper's figures with our results."""
    from benchmarks.paper.figures import draw_figures

    for file in draw_figures(stores, out or _folder_of(stores[0])):
        print_line(str(file))


@command.command("report")
@_STORES
@_OUT
def report(stores: tuple[Path, ...], out: Path | None) -> None:
    """Write all of it on one HTML page."""
    from benchmarks.paper.report import write_report

    print_line(str(write_report(stores, out or _folder_of(stores[0]))))


def _read_seeds(words: Sequence[str]) -> list[int]:
    """Return the seeds of words such as ``1-3`` and ``7,9``."""
    seeds: list[int] = []
    for word in ",".join(words).split(","):
        first, _, last = word.partition("-")
        if not (first.isdecimal() and (last or first).isdecimal()):
            raise ValueError(f"--seeds {word!r} is neither a number nor a range such as 1-5")
        if int(last or first) - int(first) >= _MOST_SEEDS:
            raise ValueError(
                f"--seeds {word} asks for more than {_MOST_SEEDS:,} seeds; give a shorter range"
            )
        seeds += range(int(first), int(last or first) + 1)
    return list(dict.fromkeys(seeds))


def _folder_of(store: Path) -> Path:
    return store if store.is_dir() else store.parent
