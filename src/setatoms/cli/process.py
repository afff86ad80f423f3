"""The process around a command: its standard streams, and the signals that end it."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from _thread import interrupt_main
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any, Self

# Signals that end a process, with the handler that does it.
_ENDING: dict[signal.Signals, Any] = {
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGINT: signal.default_int_handler,
}
if hasattr(signal, "SIGHUP"):  # not on Windows
    _ENDING[signal.SIGHUP] = signal.SIG_DFL
_SOON_SECONDS = 0.05


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


_ERRORS = (StoppedError, KeyboardInterrupt)


class SignalsAsErrors:
    """While this lasts, signals that would end the process raise an error, until it gets through.

    A signal that is ignored, as SIGHUP under nohup, or that has a handler is left alone. An
    exception can be dropped: by Python while an object is destroyed, by compiled code that looks
    something up or imports a module. So the signal is sent again and again, and the error raised
    again whenever none is on its way.

    Attributes
    ----------
    caught : int or None
        The first signal.
    """

    def __init__(self) -> None:
        self.caught: int | None = None
        self._mine: dict[signal.Signals, Any] = {}
        self._over = threading.Event()
        self._reminder: threading.Thread | None = None
        self._hooks = sys.unraisablehook, sys.excepthook

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._mine = {n: was for n, was in _ENDING.items() if signal.getsignal(n) == was}
        for number in self._mine:
            signal.signal(number, self._stop)
        self._hooks = sys.unraisablehook, sys.excepthook
        sys.unraisablehook, sys.excepthook = self._dropped, self._printed
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._reminder is not None:
            self._reminder.join()  # or its last signal would meet the old handler
        sys.unraisablehook, sys.excepthook = self._hooks
        for number, was in self._mine.items():
            signal.signal(number, was)

    def _stop(self, number: int, _: FrameType | None) -> None:
        """Handle a signal: raise an error, unless there is one on its way already."""
        if self.caught is None:
            self.caught = number
            here = threading.get_ident()
            self._reminder = threading.Thread(target=self._remind, args=(here, number), daemon=True)
            self._reminder.start()
        error = sys.exc_info()[1]
        while error is not None:
            if isinstance(error, _ERRORS):
                return
            error = error.__context__
        raise KeyboardInterrupt if self.caught == signal.SIGINT else StoppedError(self.caught)

    def _remind(self, thread: int, number: int) -> None:
        """Send a signal to a thread again and again, until this is over."""
        while not self._over.wait(_SOON_SECONDS):
            if hasattr(signal, "pthread_kill"):
                signal.pthread_kill(thread, number)
            else:  # Windows; signals are handled in the main thread, which is this one
                interrupt_main(signal.Signals(number))

    def _dropped(self, lost: sys.UnraisableHookArgs) -> None:
        """Stand in for what Python calls where an exception can go nowhere: it comes again."""
        if not isinstance(lost.exc_value, _ERRORS):
            self._hooks[0](lost)

    def _printed(
        self, kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        """Stand in for what prints an exception that nobody handles."""
        if not isinstance(error, _ERRORS):
            self._hooks[1](kind, error, traceback)


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
