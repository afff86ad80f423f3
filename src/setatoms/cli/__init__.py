"""The command ``setatoms``: parse, call, print.

Nothing heavy is imported before a command runs, so that help and completion answer at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

FOUND = 3
INTERRUPTED = 130


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
        and ``--exit-code`` was given, 130 when interrupted.
    """
    try:
        import click
    except ImportError:
        print(
            'setatoms: the command line needs click: pip install "setatoms[cli]"', file=sys.stderr
        )
        return 1
    from setatoms.cli.root import setatoms

    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words and not _completing():
        print(setatoms.get_help(click.Context(setatoms, info_name="setatoms")), file=sys.stderr)
        return 2
    try:
        status = setatoms.main(words, prog_name="setatoms", standalone_mode=False, obj=words)
    except (KeyboardInterrupt, click.Abort):
        print("\ninterrupted", file=sys.stderr)
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    # what the library says of bad input, damaged files, missing packages and full disks
    except (ValueError, ImportError, OSError, RuntimeError, MemoryError) as error:
        print(f"setatoms: {_in_words(error)}", file=sys.stderr)
        return 1
    return status if isinstance(status, int) else 0


def _completing() -> bool:
    import os

    return "_SETATOMS_COMPLETE" in os.environ


def _in_words(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name in {"pyarrow", "rich"}:
        return f'reading files needs {error.name}: pip install "setatoms[cli]"'
    if isinstance(error, MemoryError):
        return f"out of memory ({error}); learn from fewer rows with --sample"
    return str(error)
