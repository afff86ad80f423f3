"""Open a table whatever its format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from setatoms.files.cells import MISSING, Table
from setatoms.files.delimited import DelimitedTable
from setatoms.files.errors import FileError
from setatoms.files.json_lines import JsonLinesTable
from setatoms.files.sources import Source

FORMATS = ("csv", "tsv", "parquet", "jsonl")

_BY_SUFFIX = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
}
_PACKED = {".gz"}
# Formats of which people have many files, each with a sign of its own at the start.
_FOREIGN = {
    b"PK\x03\x04": "a ZIP archive or an Excel workbook; unpack it, or save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the sheet as CSV",
    b"\x28\xb5\x2f\xfd": "packed with Zstandard; unpack it first",
    b"BZh": "packed with bzip2; unpack it first",
    b"\xfd7zXZ": "packed with xz; unpack it first",
    b"ARROW1": "an Arrow file; save it as Parquet or CSV",
    b"\x89HDF": "an HDF5 file; save the table as Parquet or CSV",
    b"SQLite format 3": "a database; export the table as CSV",
}


@dataclass(frozen=True)
class ReadOptions:
    """How to read a table, where it should not be found out.

    Attributes
    ----------
    format : {"csv", "tsv", "parquet", "jsonl"}, optional
        By default what the file's name and first bytes say, else CSV.
    delimiter : str, optional
        What separates cells, by default the character that fits the first lines.
    decimal : {".", ","}, optional
        The decimal mark, by default the one in the first lines.
    encoding : str, optional
        By default UTF-8, or what a byte order mark says.
    header : bool, optional
        Whether the first line has names; by default unless it has numbers only.
    missing : iterable of str
        Further words for a missing value.
    """

    format: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool | None = None
    missing: Iterable[str] = ()


def open_table(source: Source, options: ReadOptions | None = None) -> Table:
    """Open a table to read it chunk by chunk.

    Parameters
    ----------
    source : Source
        Where it comes from.
    options : ReadOptions, optional
        What not to find out from the file.

    Raises
    ------
    FileError
        With the file, the line and the column, where it is not a table.
    """
    options = options or ReadOptions()
    missing = MISSING | frozenset(options.missing)
    kind = options.format or _guess_format(source)
    if kind == "parquet":
        from setatoms.files.parquet import ParquetTable  # many never need it

        return ParquetTable(source, missing)
    if kind == "jsonl":
        return JsonLinesTable(source, missing)
    return DelimitedTable(
        source,
        missing,
        options.delimiter or ("\t" if kind == "tsv" else None),
        options.decimal,
        options.header,
    )


def _guess_format(source: Source) -> str:
    with source.raw() as stream:
        start = stream.read(16)
    if start.startswith(b"PAR1"):
        return "parquet"
    for sign, what in _FOREIGN.items():
        if start.startswith(sign):
            raise FileError(f"{source.name} is {what}")
    suffixes = [suffix for suffix in source.suffixes if suffix not in _PACKED]
    return _BY_SUFFIX.get(suffixes[-1], "csv") if suffixes else "csv"
