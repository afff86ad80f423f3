"""The process around a command: its standard streams, and the signals that end it."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType, TracebackType
from typing import NoReturn, Self

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


class SignalsAsErrors:
    """While this lasts, signals that would end the process at once raise a `StoppedError`.

    A signal that is ignored, as SIGHUP under nohup, or that has a handler is left alone. Python
    drops an exception that is raised while an object is destroyed, and compiled code may drop one,
    such as that of a module being imported: that signal is sent again a little later.

    Attributes
    ----------
    lost : int or None
        The signal behind an exception that was dropped.
    """

    def __init__(self) -> None:
        self.lost: int | None = None
        self._mine: list[signal.Signals] = []
        self._timers: list[threading.Timer] = []
        self._hooks = sys.unraisablehook, sys.excepthook

    def __enter__(self) -> Self:
        is_main = threading.current_thread() is threading.main_thread()
        self._mine = [n for n in _TIDY if is_main and signal.getsignal(n) == signal.SIG_DFL]
        for number in self._mine:
            signal.signal(number, _stop)
        self._hooks = sys.unraisablehook, sys.excepthook
        sys.unraisablehook, sys.excepthook = self._raised_in_vain, self._printed
        return self

    def __exit__(self, *_: object) -> None:
        sys.unraisablehook, sys.excepthook = self._hooks
        for timer in self._timers:
            timer.cancel()
        for number in self._mine:
            signal.signal(number, signal.SIG_DFL)

    def _raised_in_vain(self, lost: sys.UnraisableHookArgs) -> None:
        """Stand in for what Python calls where an exception can go nowhere."""
        if not self._send_again(lost.exc_value):
            self._hooks[0](lost)

    def _printed(
        self, kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        """Stand in for what prints an exception that nobody handles."""
        if not self._send_again(error):
            self._hooks[1](kind, error, traceback)

    def _send_again(self, error: BaseException | None) -> bool:
        """Send the signal behind an exception once more, soon; return whether there is one."""
        if isinstance(error, KeyboardInterrupt):
            self.lost = int(signal.SIGINT)
        elif isinstance(error, StoppedError):
            self.lost = error.number
        else:
            return False
        main = threading.main_thread().ident
        again = threading.Timer(_SOON_SECONDS, signal.pthread_kill, (main, self.lost))
        again.daemon = True
        self._timers.append(again)
        again.start()
        return True


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


def _stop(number: int, _: FrameType | None) -> NoReturn:
    raise StoppedError(number)
