"""Run a command to its exit status: signals, warnings and errors in one line each."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from setatoms.cli.process import (
    SignalsAsErrors,
    StoppedError,
    complete_streams,
    flush_output,
    forget_output,
)
from setatoms.terminal import print_error, print_own

if TYPE_CHECKING:
    import click

_READER_GONE = 141
_REMEDY = "; fewer rows (--sample), fewer --atoms and fewer --jobs take less"
_TRACEBACK = "SETATOMS_TRACEBACK"


def guard(name: str, run: Callable[[list[str]], int], arguments: Sequence[str] | None) -> int:
    """Run a program and return its exit status, whatever happens.

    Parameters
    ----------
    name : str
        The program, which begins its messages.
    run : callable
        From the words of the command line to an exit status.
    arguments : sequence of str or None
        The words after the program's name, by default those of ``sys.argv``.
    """
    complete_streams()
    if sys.stdout is None:
        print_error(f"{name}: standard output is closed; redirect it to a file or /dev/null")
        return 1

    def warn(message: Warning | str, *_: object) -> None:
        """Print a warning as one line, without the place in the library where it arose."""
        print_error(f"{name}: {message}")

    signals = SignalsAsErrors()
    try:
        with signals, warnings.catch_warnings():
            warnings.showwarning = warn  # type: ignore[assignment]
            status = run(list(sys.argv[1:] if arguments is None else arguments))
            flush_output()
    except StoppedError as stopped:
        return _ended_by(stopped.number)
    except KeyboardInterrupt:
        return _ended_by(signal.SIGINT)
    except BrokenPipeError as error:
        if error.filename is None:  # who read the answer has read enough
            forget_output()
            return _READER_GONE
        return _failed(name, error)
    # whatever goes wrong in a command is told in one line
    except Exception as error:  # noqa: BLE001
        # such as the failure to import a module that a signal interrupted
        return _failed(name, error) if signals.caught is None else _ended_by(signals.caught)
    return status


def call(group: click.Group, program: str, words: list[str]) -> int:
    """Run the command of a group and return its exit status; errors that no word can mend go on."""
    import click

    if not words:
        print_own(group.get_help(click.Context(group, info_name=program)), sys.stderr)
        return 2
    try:
        # not main(), which takes an end of file for an interruption and hides broken pipes
        with group.make_context(program, words, obj=words) as context:
            status = group.invoke(context)
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


def _ended_by(number: int) -> int:
    """Say that a signal ended the program, and return the status by which shells know it."""
    if number == signal.SIGINT:
        print_own("", sys.stderr)
    print_error("interrupted" if number == signal.SIGINT else "stopped")
    return 128 + number


def _failed(name: str, error: Exception) -> int:
    if os.environ.get(_TRACEBACK):
        raise error
    words = _in_words(error)
    if name == "setatoms":
        from setatoms.cli.options import as_options

        words = as_options(words)
    print_error(f"{name}: {words}")
    return 1


def _in_words(error: Exception) -> str:
    """Return an error in one line: the library's own words, or what and where it was."""
    if isinstance(error, ModuleNotFoundError) and error.name in {"duckdb", "nanoarrow", "rich"}:
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
