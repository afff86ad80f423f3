"""What to do about columns and cells, in the words of the command line or of Python."""

from __future__ import annotations

from typing import NamedTuple


class Remedies(NamedTuple):
    """Parts of notes and errors that name an option or a parameter."""

    use: str = "--use"
    convert: str = "--query can make a number of it"
    one_hot: str = "--one-hot"
    name_rows: str = "--index"
    missing: str = "--missing={}"
    filled: str = "filled with what the rest of the row implies"
    strict: str = " (--strict stops instead)"
    decimal: str = "; if commas are decimal marks, give --decimal ,"
    separator: str = "--delimiter '{}'"


IN_PYTHON = Remedies(
    use="`use`",
    convert="make a number of it first",
    one_hot="one_hot=True",
    name_rows="`index`",
    missing="missing=[{}]",
    filled="NaN, which detectors with missing='fill' take",
    strict="",
    decimal="",
    separator="pandas.read_csv(..., sep='{0}') or polars.read_csv(..., separator='{0}')",
)
