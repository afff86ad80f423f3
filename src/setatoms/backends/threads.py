"""Run a task over fixed chunks of rows on the threads of this machine."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

import joblib
import numpy as np

from setatoms.backends.counters import Counter
from setatoms.backends.crew import Crew, Task
from setatoms.backends.limits import most_jobs

T = TypeVar("T")

# Fixed, so that sums over chunks do not depend on the number of threads. Large enough to hide
# the cost of handing out a chunk (microseconds), small enough to stop soon when interrupted.
CHUNK_ROWS = 512

_crew = Crew("setatoms")
_stand_in: ThreadPoolExecutor | None = None
_pool_lock = threading.Lock()


def effective_jobs(n_jobs: int | None) -> int:
    """Return the number of threads that ``n_jobs`` asks for (-1: all cores; None: one)."""
    if n_jobs == 0:
        raise ValueError("n_jobs=0 asks for no thread at all; use 1, or -1 for all cores")
    if n_jobs is not None and n_jobs < 0:
        n_jobs = max(1, _count_cores() + 1 + n_jobs)
    # joblib warns on workers of a cluster, where we use one thread anyway
    if (most := most_jobs()) == 1:
        return 1
    n_threads = int(joblib.effective_n_jobs(n_jobs))
    return n_threads if most is None else min(n_threads, most)


@lru_cache(maxsize=1)
def _count_cores() -> int:
    """Return what this process may use; asking takes as long as coding a hundred signals."""
    return int(joblib.cpu_count())


def run_chunks(
    task: Callable[[int, int], T],
    n_rows: int,
    *,
    n_jobs: int | None = -1,
    chunk_rows: int = CHUNK_ROWS,
    chunks_per_thread: int = 2,
) -> list[T]:
    """Return ``[task(start, stop), ...]`` over consecutive chunks of rows, in row order.

    Chunks have `chunk_rows`, whatever the number of threads. The calling thread works too; others
    are woken if there are `chunks_per_thread` for each. When the caller is interrupted, chunks not
    yet begun are dropped and the interruption goes on.
    """
    starts = range(0, n_rows, chunk_rows)
    results: list[T | None] = [None] * len(starts)
    waiting = deque(enumerate(starts))

    def work() -> None:
        while True:
            try:
                position, start = waiting.popleft()
            except IndexError:
                return
            results[position] = task(start, min(start + chunk_rows, n_rows))

    n_threads = min(effective_jobs(n_jobs), len(starts) // chunks_per_thread)
    run_together(work, n_threads, waiting.clear)
    return results  # type: ignore[return-value]


def run_together(
    work: Callable[[], None],
    n_threads: int,
    stop: Callable[[], None],
    *,
    long: bool = False,
    halt: Callable[[], None] | None = None,
) -> None:
    """Call ``work`` on this thread and on others at once, and wait for all.

    When this thread is done, fails or is interrupted, ``stop`` tells the others that there is
    nothing left to begin. What was raised on one of them is raised here.

    Signals reach the main thread alone, and not while it runs compiled code. With `long` work it
    therefore lets another thread work in its place and waits. If it is interrupted, ``halt`` tells
    all threads that what they have begun is no longer wanted.
    """
    tasks: list[Task] = []

    def begin() -> None:
        begun = (_crew.begin(work) for _ in range(n_threads - 1))
        tasks.extend(task for task in begun if task is not None)
        work()

    waits = long and threading.current_thread() is threading.main_thread()
    own = _stand_in_pool().submit(begin) if waits else None
    try:
        begin() if own is None else own.result()
    except BaseException:
        if halt is not None:
            halt()
        raise
    finally:
        stop()
        if own is not None:
            own.exception()
        for task in tasks:
            task.wait()
    for task in tasks:
        task.result()


def run_counted(
    call: Callable[[Counter], None],
    n_numbers: int,
    n_threads: int,
    halt: Counter | None = None,
    long: bool = False,
) -> None:
    """Let threads ``call`` until the counter (1,) that they are given has reached `n_numbers`.

    A call may take several numbers, with `setatoms.backends.fetch_add`, and should come back soon
    when `halt` (1,), which is 0, becomes 1: then the work was interrupted. `long` says whether it
    could take long.
    """
    counter = np.zeros(1, np.int64)

    def work() -> None:
        while counter[0] < n_numbers:
            call(counter)

    def stop() -> None:
        counter[0] = n_numbers

    def give_up() -> None:
        if halt is not None:
            halt[0] = 1

    run_together(work, n_threads, stop, long=long, halt=give_up)


def _stand_in_pool() -> ThreadPoolExecutor:
    """Return the one thread that works while the main thread waits: never busy with other work."""
    global _stand_in
    with _pool_lock:
        if _stand_in is None:
            _stand_in = ThreadPoolExecutor(1, thread_name_prefix="setatoms-main")
        return _stand_in


def _forget_threads_of_the_parent() -> None:
    """Threads do not survive a fork; the child makes its own when it needs them."""
    global _crew, _pool_lock, _stand_in
    _crew, _stand_in, _pool_lock = Crew("setatoms"), None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads_of_the_parent)
