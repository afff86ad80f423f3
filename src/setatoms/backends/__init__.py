"""Where a batch runs. Nothing above this package knows about threads or BLAS settings."""

from setatoms.backends.blas import single_threaded_blas
from setatoms.backends.tasks import run_tasks
from setatoms.backends.threads import CHUNK_ROWS, effective_jobs, run_chunks

__all__ = ["CHUNK_ROWS", "effective_jobs", "run_chunks", "run_tasks", "single_threaded_blas"]
