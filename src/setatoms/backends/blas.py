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
    """What the main thread has set, and how many blocks deep it is."""

    def __init__(self) -> None:
        self.depth = 0
        self.controller: ThreadpoolController | None = None
        self.limit: Any = None

    def enter(self) -> None:
        if self.depth == 0:
            if self.controller is None:
                # Looking for the loaded libraries takes a millisecond, so it is done once.
                self.controller = ThreadpoolController().select(user_api="blas")
            self.limit = self.controller.limit(limits=1)
        self.depth += 1

    def leave(self) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.limit.restore_original_limits()


_hold = _Hold()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limit BLAS to one thread; from any thread but the main one, do nothing.

    OpenBLAS ignores what other threads set. They depend on `setatoms.coding.blocks` making products
    so small that it does not split them.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _hold.enter()
    try:
        yield
    finally:
        _hold.leave()


def _release_in_child() -> None:
    """Start anew after a fork from inside the block: the parent's exit does not reach the child."""
    global _hold
    if _hold.depth:
        _hold.limit.restore_original_limits()
    _hold = _Hold()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_in_child)
