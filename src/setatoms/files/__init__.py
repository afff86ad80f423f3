"""Tables in files, as people have them: read by DuckDB, in constant memory.

Needs DuckDB: ``pip install "setatoms[cli]"``.
"""

from setatoms.files.choose import Choice, Chosen, choose_columns
from setatoms.files.encoding import BadCells, Column, Encoding, Rows, feature_chunks
from setatoms.files.errors import FileError
from setatoms.files.formats import open_frame, open_table
from setatoms.files.options import FORMATS, ReadOptions
from setatoms.files.sources import Source
from setatoms.files.tables import Table

__all__ = [
    "FORMATS",
    "BadCells",
    "Choice",
    "Chosen",
    "Column",
    "Encoding",
    "FileError",
    "ReadOptions",
    "Rows",
    "Source",
    "Table",
    "choose_columns",
    "feature_chunks",
    "open_frame",
    "open_table",
]
