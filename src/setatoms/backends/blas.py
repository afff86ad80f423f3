"""Hold BLAS to one thread while our own threads share the work.

Besides oversubscription this is about determinism: a product that BLAS splits over threads may
round differently for another number of threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import scipy.linalg.cython_blas  # noqa: F401  loads the library that compiled kernels call
from threadpoolctl import ThreadpoolController


class _Hold:
    """Count the callers inside, so that the first sets the limit and the last lifts it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.callers = 0
        self.controller: ThreadpoolController | None = None
        self.limit: Any = None

    def enter(self) -> None:
        with self.lock:
            if self.controller is None:
                # Looking for the loaded libraries takes a millisecond, so it is done once.
                self.controller = ThreadpoolController().select(user_api="blas")
            if self.callers == 0:
                self.limit = self.controller.limit(limits=1)
            self.callers += 1

    def leave(self) -> None:
        with self.lock:
            self.callers -= 1
            if self.callers == 0:
                self.limit.restore_original_limits()


_hold = _Hold()


def _forget_callers_of_the_parent() -> None:
    """Start anew in a forked child: the threads that held BLAS do not exist there."""
    global _hold
    if _hold.callers:
        _hold.limit.restore_original_limits()
    _hold = _Hold()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_callers_of_the_parent)


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limit BLAS to one thread; safe to enter from several threads at once."""
    hold = _hold
    hold.enter()
    try:
        yield
    finally:
        hold.leave()
