"""The command ``setatoms``: parse, call, print.

Nothing heavy is imported before a command runs, so that help and completion answer at once.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence

from setatoms.cli.process import (
    StoppedError,
    complete_streams,
    flush_output,
    forget_output,
    tidy_on_signals,
)
from setatoms.terminal import print_error, print_own

FOUND = 3
INTERRUPTED = 130
_READER_GONE = 141
_REMEDY = "; fewer rows (--sample), fewer --atoms and fewer --jobs take less"
_COMPLETE = "_SETATOMS_COMPLETE"
_TRACEBACK = "SETATOMS_TRACEBACK"


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
    complete_streams()
    if sys.stdout is None:
        print_error("setatoms: standard output is closed; redirect it to a file or /dev/null")
        return 1
    try:
        with tidy_on_signals(), warnings.catch_warnings():
            warnings.showwarning = _warn  # type: ignore[assignment]
            status = _run(list(sys.argv[1:] if arguments is None else arguments))
            flush_output()
    except StoppedError as stopped:
        print_error("stopped")
        return stopped.status
    except KeyboardInterrupt:
        print_own("", sys.stderr)
        print_error("interrupted")
        return INTERRUPTED
    except BrokenPipeError as error:
        if error.filename is None:  # who read the answer has read enough
            forget_output()
            return _READER_GONE
        return _failed(error)
    # whatever goes wrong in a command is told in one line
    except Exception as error:  # noqa: BLE001
        return _failed(error)
    return status


def _run(words: list[str]) -> int:
    """Run a command and return its exit status; errors that no word can mend go on."""
    try:
        import click
    except ImportError:
        print_error('setatoms: the command line needs click: pip install "setatoms[cli]"')
        return 1
    from setatoms.cli.root import setatoms

    if instruction := os.environ.get(_COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(setatoms, {}, "setatoms", _COMPLETE, instruction)
    if not words:
        help_text = setatoms.get_help(click.Context(setatoms, info_name="setatoms"))
        print_own(help_text, sys.stderr)
        return 2
    try:
        # not main(), which takes an end of file for an interruption and hides broken pipes
        with setatoms.make_context("setatoms", words, obj=words) as context:
            status = setatoms.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        if isinstance(error, click.UsageError) and error.ctx is not None:
            print_own(error.ctx.get_usage(), sys.stderr)
            print_own(f"Try '{error.ctx.command_path} --help' for help.\n", sys.stderr)
        print_error(f"Error: {error.format_message()}")
        return error.exit_code
    return status if isinstance(status, int) else 0


def _warn(message: Warning | str, *_: object) -> None:
    """Print a warning as one line, without the place in the library where it arose."""
    print_error(f"setatoms: {message}")


def _failed(error: Exception) -> int:
    if os.environ.get(_TRACEBACK):
        raise error
    print_error(f"setatoms: {_in_words(error)}")
    return 1


def _in_words(error: Exception) -> str:
    """Return an error in one line: the library's own words, or what and where it was."""
    if isinstance(error, ModuleNotFoundError) and error.name in {"pyarrow", "rich"}:
        return f'reading files needs {error.name}: pip install "setatoms[cli]"'
    if isinstance(error, MemoryError) or str(error) == "can't start new thread":
        return f"not enough memory: {error or 'an allocation failed'}{_REMEDY}"
    # what the library says of bad input, damaged files, missing packages and full disks
    if isinstance(error, (ValueError, ImportError, OSError, RuntimeError)) and str(error):
        return str(error)
    return (
        f"an error that should not happen, {type(error).__name__}: {error}; please report it with "
        f"what {_TRACEBACK}=1 prints"
    )
