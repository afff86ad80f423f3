"""Run a few long tasks side by side; when one fails or is interrupted, the others stop soon."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from setatoms.backends.threads import run_chunks

T = TypeVar("T")
OnStep = Callable[[float, str], None]


class _StoppedError(Exception):
    """Another task has failed, so this one need not go on."""


def run_tasks(
    task: Callable[[int, OnStep], T], n_tasks: int, on_step: OnStep, *, n_jobs: int | None = -1
) -> list[T]:
    """Return ``[task(0, step), task(1, step), ...]``, several at a time.

    A task calls ``step(amount, note)`` as it proceeds. Calls reach `on_step` one at a time, which
    may raise to stop all tasks. What stopped the first of them is raised here.
    """
    lock = threading.Lock()
    reasons: list[BaseException] = []

    def step(amount: float, note: str) -> None:
        with lock:
            if reasons:
                raise _StoppedError
            on_step(amount, note)

    def run_one(start: int, _: int) -> T:
        try:
            return task(start, step)
        except _StoppedError:
            raise
        except BaseException as error:
            reasons.append(error)
            raise

    try:
        return run_chunks(run_one, n_tasks, n_jobs=n_jobs, chunk_rows=1, chunks_per_thread=1)
    except _StoppedError:
        if not reasons:  # these are steps of a task that was stopped itself
            raise
        raise reasons[0] from None
