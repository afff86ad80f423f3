"""Models in files: safetensors with a JSON header, no pickles.

What a file may be is described in ``docs/model-format.md``. Nothing here knows the estimators, and
reading a header needs neither NumPy nor Numba.
"""

from setatoms.persistence.errors import ModelFileError
from setatoms.persistence.header import read_header

__all__ = ["ModelFileError", "read_header"]
