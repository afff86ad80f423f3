"""How many threads work may have where others work beside it, as on a worker of a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_most: ContextVar[int | None] = ContextVar("most_jobs", default=None)


@contextmanager
def at_most_jobs(n_jobs: int) -> Iterator[None]:
    """Let what this thread does use at most so many threads."""
    token = _most.set(n_jobs)
    try:
        yield
    finally:
        _most.reset(token)


def most_jobs() -> int | None:
    """Return how many threads this thread may use, or None if it may use as many as it likes."""
    return _most.get()
