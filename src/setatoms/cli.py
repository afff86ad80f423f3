"""The command ``setatoms``: parse, call, print."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from setatoms import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after the program's name, by default those of ``sys.argv``.

    Returns
    -------
    int
        0 on success, 2 when no command was given, 130 when interrupted.
    """
    parser = _parser()
    command = parser.parse_args(arguments).command
    if command is None:
        parser.print_help(sys.stderr)
        return 2
    return _run_demo()


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="setatoms",
        description="Find rows whose features look normal one by one while the relations "
        "between them are broken.",
    )
    parser.add_argument("--version", action="version", version=f"setatoms {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command")
    summary = "detect injected anomalies in two real tables, beside four well-known detectors"
    commands.add_parser(
        "demo",
        help=summary,
        description=f"{summary.capitalize()}. The first run also compiles the library.",
    )
    return parser


def _run_demo() -> int:
    """Run the demo; an interruption is an ordinary way to end it."""
    # Imported here, so that --help and --version answer at once.
    from setatoms.demo import run

    try:
        run()
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 130
    return 0
