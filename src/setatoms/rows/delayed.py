"""Tasks of Dask that wait, or that the workers of a cluster have done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import dask
from dask.base import get_scheduler

Later = Any  # a `dask.delayed` object

# What is done, or sent, when Dask asks for it: once, however often it is needed.
later = partial(dask.delayed, pure=False, traverse=False)


def cluster() -> Any:
    """Return the client of the cluster that Dask works on, or None."""
    owner = getattr(get_scheduler(), "__self__", None)
    return owner if hasattr(owner, "scheduler_info") else None


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
