"""The command ``setatoms``: parse, call, print.

Nothing heavy is imported before a command runs, so that help and completion answer at once.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from setatoms.cli.running import call, guard
from setatoms.terminal import print_error

FOUND = 3
_COMPLETE = "_SETATOMS_COMPLETE"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after the program's name, by default those of ``sys.argv``.

    Returns
    -------
    int
        0 on success, 1 on an error, 2 on a wrong option or command, 3 where rows were flagged
        and ``--exit-code`` was given, 130 when interrupted, 129, 141 and 143 when ended by SIGHUP,
        SIGPIPE and SIGTERM.
    """
    return guard("setatoms", _run, arguments)


def _run(words: list[str]) -> int:
    try:
        import click  # noqa: F401
    except ImportError:
        print_error('setatoms: the command line needs click: pip install "setatoms[cli]"')
        return 1
    from setatoms.cli.root import setatoms

    if instruction := os.environ.get(_COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(setatoms, {}, "setatoms", _COMPLETE, instruction)
    return call(setatoms, "setatoms", words)
