"""Tasks of Dask that wait, or that the workers of a cluster have done."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import dask
from dask import multiprocessing
from dask.base import get_scheduler
from dask.system import CPU_COUNT

Later = Any  # a `dask.delayed` object

# What is done, or sent, when Dask asks for it: once, however often it is needed.
later = partial(dask.delayed, pure=False, traverse=False)


def cluster() -> Any:
    """Return the client of the cluster that Dask works on, or None."""
    owner = getattr(get_scheduler(), "__self__", None)
    return owner if hasattr(owner, "scheduler_info") else None


@contextmanager
def same_processes() -> Iterator[None]:
    """Keep the processes of Dask's scheduler of that name from one question to the next.

    By itself it starts new ones for every question, each of which has to import this package.
    """
    settings = dask.config.get
    if get_scheduler() is not multiprocessing.get or settings("pool", None) is not None:
        yield
        return
    if os.environ.get("PYTHONHASHSEED") in (None, "0"):
        os.environ["PYTHONHASHSEED"] = "6640"  # as Dask does, so that hashes agree everywhere
    initializer = settings("multiprocessing.initializer", None)
    with (
        ProcessPoolExecutor(
            settings("num_workers", None) or CPU_COUNT,
            mp_context=multiprocessing.get_context(),
            initializer=partial(multiprocessing.initialize_worker_process, initializer),
        ) as pool,
        # an initializer of a pool that is there already is warned of
        dask.config.set({"pool": pool, "multiprocessing.initializer": None}),
    ):
        yield


def hold(tasks: list[Later]) -> list[Later]:
    """Let the workers of a cluster do these tasks and keep what comes of them."""
    return list(dask.persist(*tasks)) if cluster() is not None else tasks


def finished(tasks: Sequence[Later]) -> Iterator[tuple[int, Any]]:
    """Yield the number and the result of each task as it is done."""
    client = cluster()
    if client is None:
        yield from enumerate(dask.compute(*tasks))
        return
    from distributed import as_completed

    futures = client.compute(list(tasks))
    numbers = {future.key: i for i, future in enumerate(futures)}
    for future, result in as_completed(futures, with_results=True):
        yield numbers[future.key], result
