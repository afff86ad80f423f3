"""Threads that work on other cores than the one that calls for them.

On a virtual machine a core without work looks taken to the system, which then wakes a thread on
the core of its caller: two threads share one core, and the other one rests. Passes of learning
take a millisecond, too short for the system to notice.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

Work = Callable[[], None]


class Crew:
    """As many threads as there are cores, at most; they begin when they are needed.

    Parameters
    ----------
    name : str
        What their names begin with.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._idle: list[_Hand] = []
        self._n_hands = 0

    def begin(self, work: Work) -> Future[None] | None:
        """Let a thread do the work, on another core than this one; None if all are busy."""
        with self._lock:
            if self._idle:
                hand = self._idle.pop()
            elif self._n_hands < (os.cpu_count() or 1):
                hand = _Hand(self, f"{self._name}_{self._n_hands}")
                self._n_hands += 1
                hand.start()
            else:
                return None
        hand.leave(_core())
        return hand.give(work)

    def rest(self, hand: _Hand) -> None:
        """Take back a thread that is done."""
        with self._lock:
            self._idle.append(hand)


class _Hand(threading.Thread):
    """One of the crew."""

    def __init__(self, crew: Crew, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self._crew = crew
        self._given: SimpleQueue[tuple[Future[None], Work]] = SimpleQueue()
        self._left = -1

    def leave(self, core: int) -> None:
        """Work on any core but this one from now on, if there is another."""
        if core in {self._left, -1} or self.native_id is None:
            return
        others = os.sched_getaffinity(0) - {core}
        if others:
            os.sched_setaffinity(self.native_id, others)
            self._left = core

    def give(self, work: Work) -> Future[None]:
        """Have the work done."""
        future: Future[None] = Future()
        self._given.put((future, work))
        return future

    def run(self) -> None:
        """Do what is given, for ever."""
        while True:
            self._do(*self._given.get())

    def _do(self, future: Future[None], work: Work) -> None:
        future.set_running_or_notify_cancel()
        try:
            work()
        except BaseException as error:  # noqa: BLE001 (whoever waits for the future gets it)
            self._crew.rest(self)
            future.set_exception(error)
        else:
            self._crew.rest(self)
            future.set_result(None)


def _core_finder() -> Callable[[], int]:
    """Return a function that tells which core it runs on, -1 where that cannot be chosen."""
    library: Any = ctypes.PyDLL(None) if hasattr(os, "sched_setaffinity") else None
    find: Callable[[], int] = getattr(library, "sched_getcpu", lambda: -1)
    return find


_core = _core_finder()
