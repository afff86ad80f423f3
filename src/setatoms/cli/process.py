"""The process around a command: its standard streams, and the signals that end it."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import NoReturn

_TIDY = (signal.SIGTERM, signal.SIGHUP)
_SOON_SECONDS = 0.01


class StoppedError(BaseException):
    """A signal asks the process to end; raised so that drafts are removed on the way out.

    Parameters
    ----------
    number : int
        The signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def status(self) -> int:
        """The exit status by which shells know the signal."""
        return 128 + self.number


@contextmanager
def tidy_on_signals() -> Iterator[None]:
    """Turn signals that would end the process at once into a `StoppedError`, while this lasts.

    A signal that is ignored, as SIGHUP under nohup, or that has a handler is left alone. One that
    comes while Python destroys an object, where exceptions go nowhere, comes again a little later.
    """
    is_main = threading.current_thread() is threading.main_thread()
    mine = [n for n in _TIDY if is_main and signal.getsignal(n) == signal.SIG_DFL]
    for number in mine:
        signal.signal(number, _stop)
    hook = sys.unraisablehook
    sys.unraisablehook = partial(_deliver_again, hook)
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number in mine:
            signal.signal(number, signal.SIG_DFL)


def complete_streams() -> None:
    """Give closed standard streams a place, so that no file is opened under their numbers."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a terminal that knows ASCII alone still gets an answer
            stream.reconfigure(errors="backslashreplace")


def flush_output() -> None:
    """Write what is left of standard output; if that fails, do not let Python try once more."""
    try:
        sys.stdout.flush()
    except OSError:
        forget_output()
        raise


def forget_output() -> None:
    """Send what standard output still holds nowhere."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _deliver_again(
    otherwise: Callable[[sys.UnraisableHookArgs], object], lost: sys.UnraisableHookArgs
) -> None:
    """Send the signal behind an exception that was raised where nothing can catch it."""
    if isinstance(lost.exc_value, KeyboardInterrupt):
        number = int(signal.SIGINT)
    elif isinstance(lost.exc_value, StoppedError):
        number = lost.exc_value.number
    else:
        otherwise(lost)
        return
    main = threading.main_thread().ident
    again = threading.Timer(_SOON_SECONDS, signal.pthread_kill, (main, number))
    again.daemon = True
    again.start()


def _stop(number: int, _: FrameType | None) -> NoReturn:
    raise StoppedError(number)
