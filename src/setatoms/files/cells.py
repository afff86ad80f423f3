"""What cells hold: numbers, words, nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

# What spreadsheets, databases, R and Python write where a value is missing.
MISSING = frozenset([
    "", "NA", "N/A", "n/a", "na", "#N/A", "#N/A N/A", "#NA", "<NA>",
    "NaN", "nan", "NAN", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
    "NULL", "null", "Null", "None", "none", "NONE", "?",
    "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NULL!", "#NAME?",
])  # fmt: skip
TRUE_WORDS = frozenset(["true", "yes"])
FALSE_WORDS = frozenset(["false", "no"])

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[+-]?inf(?:inity)?", re.I | re.A)
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ]\d{1,2}:\d{2}.{0,24})?"
    r"|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}(?:[T ]\d{1,2}:\d{2}.{0,24})?"
    r"|\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?",
    re.A,
)


class Cells(NamedTuple):
    """The cells of some rows.

    Attributes
    ----------
    numbers : ndarray of shape (n_rows, n_numbers)
        Columns asked for as numbers, NaN where missing.
    words : dict of str to list
        Columns asked for as words: a string a row, None where there is nothing.
    """

    numbers: NDArray[np.float64]
    words: dict[str, list[str | None]]

    @property
    def n_rows(self) -> int:
        """How many rows these are."""
        return len(self.numbers)


class Chunk(Protocol):
    """Some consecutive rows of a table, parsed when asked for."""

    def read(self, numbers: Sequence[str], words: Sequence[str]) -> Cells:
        """Return these columns; raise `NotNumbersError` for other things among `numbers`."""
        ...

    def place(self, row: int) -> str:
        """Return where row `row` of this chunk is in the file, as ``line 3``."""
        ...


class Table(Protocol):
    """A table in a file.

    Attributes
    ----------
    name : str
        The file's name, for messages.
    names : list of str
        Its columns.
    opaque : dict of str to str
        Columns that can be neither numbers nor words, and what they are.
    notes : list of str
        What was done to read it.
    missing : frozenset of str
        Words that stand for a missing value.
    n_rows : int or None
        How many rows it has, where that is known before reading.
    """

    name: str
    names: list[str]
    opaque: dict[str, str]
    notes: list[str]
    missing: frozenset[str]
    n_rows: int | None

    def chunks(self, wanted: Sequence[str] | None = None) -> Iterator[Chunk]:
        """Read the table from its start; other columns than `wanted` may be left out."""
        ...


def parse_number(text: str, missing: frozenset[str], decimal: str = ".") -> float | None:
    """Return the number in a cell, NaN for a missing one, None for anything else.

    Examples
    --------
    >>> parse_number(" +1,5 ", MISSING, decimal=",")
    1.5
    >>> parse_number("N/A", MISSING)
    nan
    >>> parse_number("12 kg", MISSING) is None
    True
    """
    text = text.strip()
    if text in missing:
        return float("nan")
    if decimal != ".":
        text = text.replace(".", "?").replace(decimal, ".")
    return float(text) if _NUMBER.fullmatch(text) else None


def is_missing(word: str | None, missing: frozenset[str]) -> bool:
    """Tell whether a word stands for no value."""
    return word is None or word.strip() in missing


def parse_boolean(word: str) -> float | None:
    """Return 1 for a word that means true, 0 for false, None for others."""
    word = word.strip().lower()
    return 1.0 if word in TRUE_WORDS else 0.0 if word in FALSE_WORDS else None


def all_dates(words: Iterable[str]) -> bool:
    """Tell whether all words look like dates or times.

    Examples
    --------
    >>> all_dates(["2024-02-29", "2024-02-29T10:00:00Z"]), all_dates(["1.5.2"])
    (True, False)
    """
    return all(_DATE.fullmatch(word.strip()) is not None for word in words)
