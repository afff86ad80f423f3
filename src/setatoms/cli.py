"""The command ``setatoms``: parse, call, print."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setatoms import __version__

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after the program's name, by default those of ``sys.argv``.

    Returns
    -------
    int
        0 on success, 1 on an error, 2 when no command was given, 130 when interrupted.
    """
    parser = _parser()
    words = parser.parse_args(arguments)
    if words.command is None:
        parser.print_help(sys.stderr)
        return 2
    try:
        words.run(words)
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 130
    # what the library says of bad input, damaged files, missing packages and full disks
    except (ValueError, ImportError, OSError, RuntimeError) as error:
        print(f"setatoms: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="setatoms",
        description="Find rows whose features look normal one by one while the relations "
        "between them are broken.",
    )
    parser.add_argument("--version", action="version", version=f"setatoms {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command")
    _add_demo(commands)
    _add_bench(commands)
    return parser


def _add_demo(commands: Commands) -> None:
    summary = "detect injected anomalies in two real tables, beside four well-known detectors"
    demo = commands.add_parser(
        "demo",
        help=summary,
        description=f"{summary.capitalize()}. The first run also compiles the library.",
    )
    demo.set_defaults(run=_run_demo)


def _add_bench(commands: Commands) -> None:
    summary = "reproduce the paper's benchmark, or run a part of it"
    bench = commands.add_parser("bench", help=summary, description=f"{summary.capitalize()}.")
    actions = bench.add_subparsers(metavar="action", required=True)
    _add_bench_run(actions)
    for name, call, help_text in (
        ("tables", _print_tables, "print the paper's tables beside ours"),
        ("figures", _draw_figures, "draw the paper's figures with our results"),
        ("report", _write_report, "write all of it on one HTML page"),
    ):
        action = actions.add_parser(name, help=help_text, description=f"{help_text.capitalize()}.")
        action.add_argument("store", metavar="DIR", type=Path, help="folder of a run, or its store")
        if name == "tables":
            action.add_argument("--format", choices=["text", "markdown"], default="text")
        else:
            action.add_argument("--out", type=Path, help="where to write, by default into DIR")
        action.set_defaults(run=call)


def _add_bench_run(actions: Commands) -> None:
    action = actions.add_parser(
        "run",
        help="compute the cells that are not in the store yet",
        description="Compute the cells (table x seed x method x configuration) of a suite that "
        "are not in the store yet. The same command resumes after any interruption. Names may be "
        "patterns, such as 'DLC*'.",
    )
    many: dict[str, Any] = {"nargs": "+", "metavar": "NAME"}
    add = action.add_argument
    add("--suite", default="paper", help="paper (default), smoke or starts")
    add("--datasets", **many, help="tables of ADBench, or CSV files whose last column is the label")
    add("--methods", **many, help="methods or baselines, or module:name of your own detector")
    add("--skip", **many, default=[], help="methods to leave out")
    add("--configs", **many, help="configurations, such as 'n3 r0.04-0.12 *', k10, default")
    add("--seeds", nargs="+", metavar="SEED", help="seeds, such as 1-5")
    kinds = "dependency (default), local, cluster, global, or real for those in the table"
    add("--anomalies", **many, default=["dependency"], help=kinds)
    add("--jobs", type=int, default=1, metavar="N", help="worker processes, each on one core")
    add("--retry-failed", action="store_true", help="compute cells that failed before once more")
    add("--out", type=Path, default=Path("setatoms-bench"), metavar="DIR", help="folder of results")
    action.set_defaults(run=_run_bench)


# The library is imported below only, so that --help and --version answer at once.


def _run_demo(_: argparse.Namespace) -> None:
    from setatoms.demo import run

    run()


def _run_bench(words: argparse.Namespace) -> None:
    # a user's own module lies where the command was called
    sys.path.insert(0, str(Path.cwd()))
    from setatoms.bench import plan, run

    tasks = plan(
        words.suite,
        datasets=words.datasets,
        methods=words.methods,
        configs=words.configs,
        seeds=None if words.seeds is None else _read_seeds(words.seeds),
        anomalies=words.anomalies,
        skip=words.skip,
    )
    try:
        summary = run(tasks, words.out, n_jobs=words.jobs, retry_failed=words.retry_failed)
    except KeyboardInterrupt:
        print(f"\nFinished cells are in {words.out}; the same command goes on.", file=sys.stderr)
        raise
    print(summary.in_words(words.out))


def _read_seeds(words: Sequence[str]) -> list[int]:
    """Return the seeds of words such as ``1-3`` and ``7,9``."""
    seeds: list[int] = []
    for word in ",".join(words).split(","):
        first, _, last = word.partition("-")
        if not (first.isdecimal() and (last or first).isdecimal()):
            raise ValueError(f"--seeds {word!r} is neither a number nor a range such as 1-5")
        seeds += range(int(first), int(last or first) + 1)
    return list(dict.fromkeys(seeds))


def _print_tables(words: argparse.Namespace) -> None:
    from setatoms.bench.tables import print_tables

    print_tables(words.store, format=words.format)


def _draw_figures(words: argparse.Namespace) -> None:
    from setatoms.bench.figures import draw_figures

    print(*draw_figures(words.store, words.out or _folder_of(words.store)), sep="\n")


def _write_report(words: argparse.Namespace) -> None:
    from setatoms.bench.report import write_report

    print(write_report(words.store, words.out or _folder_of(words.store)))


def _folder_of(store: Path) -> Path:
    return store if store.is_dir() else store.parent
