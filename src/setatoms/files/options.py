"""How to read a table, where it should not be found out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

FORMATS = ("csv", "tsv", "parquet", "json", "jsonl", "excel", "duckdb")


@dataclass(frozen=True)
class ReadOptions:
    """How to read a table, where it should not be found out.

    Attributes
    ----------
    format : str, optional
        One of `FORMATS`; by default what the file's name and first bytes say, else CSV.
    delimiter : str, optional
        What separates cells, by default what fits the first lines.
    decimal : {".", ","}, optional
        The decimal mark, by default what fits each column.
    thousands : str, optional
        What groups thousands, by default what fits each column.
    encoding : str, optional
        By default UTF-8, what a byte order mark says, or Windows-1252.
    header : bool, optional
        Whether the first line has names; by default whether it differs from those below.
    skip_rows, footer : int, optional
        Lines above and below the table, by default those that look so.
    comment : str, optional
        What starts a line that is none of the table.
    missing : iterable of str
        Further words for a missing value.
    table : str, optional
        The table of a database, or the sheet of a workbook; by default the only or first one.
    query : str, optional
        What to select, instead of a file.
    strict : bool
        Whether a cell that is no number among numbers is an error.
    marks : mapping of str to tuple of str
        The decimal mark and what groups thousands, of columns of which a model knows them.
    """

    format: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    header: bool | None = None
    skip_rows: int | None = None
    footer: int | None = None
    comment: str | None = None
    missing: Iterable[str] = ()
    table: str | None = None
    query: str | None = None
    strict: bool = False
    marks: Mapping[str, tuple[str, str]] = field(default_factory=dict)
