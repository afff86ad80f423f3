"""Where a batch runs. Nothing above this package knows about threads or BLAS settings."""

from setatoms.backends.blas import single_threaded_blas
from setatoms.backends.tasks import run_tasks
from setatoms.backends.threads import (
    CHUNK_ROWS,
    Counter,
    effective_jobs,
    run_chunks,
    run_together,
    run_turns,
)
from setatoms.backends.turns import take

__all__ = [
    "CHUNK_ROWS",
    "Counter",
    "effective_jobs",
    "run_chunks",
    "run_tasks",
    "run_together",
    "run_turns",
    "single_threaded_blas",
    "take",
]
