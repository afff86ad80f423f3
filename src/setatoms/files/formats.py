"""Open a table whatever its format."""

from __future__ import annotations

from typing import Any

from setatoms.files import typed
from setatoms.files.errors import FileError
from setatoms.files.options import ReadOptions
from setatoms.files.sources import Source
from setatoms.files.tables import Table
from setatoms.files.text import open_text
from setatoms.files.written import MISSING, clean

_BY_SUFFIX = {
    ".parquet": "parquet", ".pq": "parquet",
    ".jsonl": "json", ".ndjson": "json", ".json": "json",
    ".xlsx": "excel", ".xls": "excel", ".xlsm": "excel", ".xlsb": "excel", ".ods": "excel",
    ".duckdb": "duckdb", ".ddb": "duckdb",
}  # fmt: skip
_PACKED = {".gz", ".zst"}
# Formats of which people have many files, each with a sign of its own at the start.
_FOREIGN = {
    b"BZh": "packed with bzip2; unpack it first",
    b"\xfd7zXZ": "packed with xz; unpack it first",
    b"ARROW1": "an Arrow file; save it as Parquet or CSV",
    b"\x89HDF": "an HDF5 file; save the table as Parquet or CSV",
    b"SQLite format 3": "an SQLite database; export the table as CSV",
}
_EXCEL = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_OPENERS = {
    "parquet": typed.open_parquet, "json": typed.open_json, "jsonl": typed.open_json,
    "duckdb": typed.open_database,
}  # fmt: skip


def open_table(source: Source | None, options: ReadOptions | None = None) -> Table:
    """Open a table to read it chunk by chunk.

    Parameters
    ----------
    source : Source or None
        Where it comes from; None for a query.
    options : ReadOptions, optional
        What not to find out from the file.

    Raises
    ------
    FileError
        With the file, the line and the column, where it is not a table.
    """
    options = options or ReadOptions()
    missing = _words_for_missing(options)
    if source is None:
        return typed.open_query(missing, options)
    kind = options.format or _guess_format(source)
    if kind in _OPENERS:
        return _OPENERS[kind](source, missing, options)
    return open_text(source, kind, missing, options)


def open_frame(frame: Any, options: ReadOptions | None = None) -> Table:
    """Open a frame of pandas or polars as a table."""
    options = options or ReadOptions()
    return typed.open_frame(frame, _words_for_missing(options), options)


def _words_for_missing(options: ReadOptions) -> frozenset[str]:
    return MISSING | {clean(word).lower() for word in options.missing}


def _guess_format(source: Source) -> str:
    start = source.start()
    if start.startswith(b"PAR1"):
        return "parquet"
    if start[8:12] == b"DUCK":
        return "duckdb"
    if start.startswith(_EXCEL):
        return "excel"
    for sign, what in _FOREIGN.items():
        if start.startswith(sign):
            raise FileError(f"{source.name} is {what}")
    known = {*_BY_SUFFIX, ".csv", ".tsv", ".tab"}
    if start.lstrip()[:1] in (b"[", b"{") and not known & set(source.suffixes):
        return "json"
    suffixes = [suffix for suffix in source.suffixes if suffix not in _PACKED]
    return _BY_SUFFIX.get(suffixes[-1], "csv") if suffixes else "csv"
