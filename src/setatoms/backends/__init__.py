"""Where a batch runs. Nothing above this package knows about threads or BLAS settings."""

from setatoms.backends.threads import CHUNK_ROWS, effective_jobs, run_chunks

__all__ = ["CHUNK_ROWS", "effective_jobs", "run_chunks"]
