"""Threads that work on other cores than the one that calls for them.

On a virtual machine a core without work looks taken to the system, which then wakes a thread on
the core of its caller: two threads share one core, and the other one rests. Passes of learning
take a millisecond, too short for the system to notice.

Waking a thread takes a tenth of such a pass. So a thread that is done looks out for more work
before it falls asleep, and so does the caller for threads that are nearly done.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

import numpy as np

from setatoms.backends.counters import Counter, wait_briefly

Work = Callable[[], None]

# How often to look for more work, or for the end of it, before sleeping: some tenths of a
# millisecond.
_LOOKS = 10_000
# A caller keeps the interpreter for some microseconds after it gave work, a thread that has ended
# for one: pauses until then, in which asking for the interpreter would only slow them down.
_PAUSES_TO_BEGIN, _PAUSES_TO_END = 400, 40


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

    def begin(self, work: Work) -> Task | None:
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


class Task:
    """Work that a thread was given.

    Parameters
    ----------
    future : Future
        What came of it.
    ended : ndarray of shape (1,)
        How many pieces of work its thread has ended.
    number : int
        How many they are with this one.
    """

    def __init__(self, future: Future[None], ended: Counter, number: int) -> None:
        self._future = future
        self._ended, self._number = ended, number

    def wait(self) -> None:
        """Wait for the end of the work, whatever comes of it."""
        wait_briefly(self._ended, self._number, _LOOKS, _PAUSES_TO_END)
        self._future.exception()

    def result(self, timeout: float | None = None) -> None:
        """Wait for the end of the work; raise what was raised there."""
        self._future.result(timeout)


class _Hand(threading.Thread):
    """One of the crew."""

    def __init__(self, crew: Crew, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self._crew = crew
        self._given: SimpleQueue[tuple[Future[None], Work]] = SimpleQueue()
        self._left = -1
        # how many pieces of work were given, as the thread sees it, and how many have ended
        self._given_so_far, self._ended = np.zeros(1, np.int64), np.zeros(1, np.int64)

    def leave(self, core: int) -> None:
        """Work on any core but this one from now on, if there is another."""
        if core in {self._left, -1} or self.native_id is None:
            return
        others = os.sched_getaffinity(0) - {core}
        if others:
            os.sched_setaffinity(self.native_id, others)
            self._left = core

    def give(self, work: Work) -> Task:
        """Have the work done."""
        future: Future[None] = Future()
        number = int(self._given_so_far[0]) + 1
        self._given.put((future, work))
        self._given_so_far[0] = number
        return Task(future, self._ended, number)

    def run(self) -> None:
        """Do what is given, for ever."""
        for number in itertools.count(1):
            wait_briefly(self._given_so_far, number, _LOOKS, _PAUSES_TO_BEGIN)
            self._do(*self._given.get())
            self._ended[0] = number

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
