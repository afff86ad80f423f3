"""Where a batch runs. Nothing above this package knows about threads or BLAS settings."""

from setatoms.backends.blas import single_threaded_blas
from setatoms.backends.threads import CHUNK_ROWS, effective_jobs, run_chunks

__all__ = ["CHUNK_ROWS", "effective_jobs", "run_chunks", "single_threaded_blas"]
