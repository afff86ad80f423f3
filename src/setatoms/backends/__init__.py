"""Where a batch runs. Nothing above this package knows about threads."""

from setatoms.backends.counters import Counter, fetch_add, wait_briefly
from setatoms.backends.limits import at_most_jobs
from setatoms.backends.tasks import run_tasks
from setatoms.backends.threads import (
    CHUNK_ROWS,
    effective_jobs,
    run_chunks,
    run_counted,
    run_together,
)

__all__ = [
    "CHUNK_ROWS",
    "Counter",
    "at_most_jobs",
    "effective_jobs",
    "fetch_add",
    "run_chunks",
    "run_counted",
    "run_tasks",
    "run_together",
    "wait_briefly",
]
