"""Where a batch runs. Nothing above this package knows about threads or BLAS settings."""

from setatoms.backends.blas import single_threaded_blas
from setatoms.backends.tasks import run_tasks
from setatoms.backends.threads import CHUNK_ROWS, effective_jobs, run_chunks, run_together
from setatoms.backends.turns import take

__all__ = [
    "CHUNK_ROWS",
    "effective_jobs",
    "run_chunks",
    "run_tasks",
    "run_together",
    "single_threaded_blas",
    "take",
]
