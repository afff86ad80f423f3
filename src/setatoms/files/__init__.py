"""Tables in files: CSV and its kin, Parquet, JSON lines; read in constant memory.

Needs PyArrow: ``pip install "setatoms[cli]"``.
"""

from setatoms.files.choose import Choice, Chosen, choose_columns
from setatoms.files.encoding import Column, Encoding, feature_chunks
from setatoms.files.errors import FileError
from setatoms.files.sources import Source
from setatoms.files.tables import FORMATS, ReadOptions, open_table

__all__ = [
    "FORMATS",
    "Choice",
    "Chosen",
    "Column",
    "Encoding",
    "FileError",
    "ReadOptions",
    "Source",
    "choose_columns",
    "feature_chunks",
    "open_table",
]
