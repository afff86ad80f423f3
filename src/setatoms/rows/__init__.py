"""Rows to learn from, wherever they are: in memory, on disk, or on the workers of a cluster."""

from setatoms.rows.base import OnShare, OnStep, Places, Rows, Task, ignore, rows_of_a_block
from setatoms.rows.columns import Columns, moments, overflowing, summarise
from setatoms.rows.memory import MappedRows, MemoryRows, as_whole

__all__ = [
    "Columns",
    "MappedRows",
    "MemoryRows",
    "OnShare",
    "OnStep",
    "Places",
    "Rows",
    "Task",
    "as_whole",
    "ignore",
    "moments",
    "overflowing",
    "rows_of_a_block",
    "summarise",
]
