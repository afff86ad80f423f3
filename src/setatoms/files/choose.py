"""Choose the columns to learn from, and say what became of the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from setatoms.files.cells import Table
from setatoms.files.encoding import Column, Encoding
from setatoms.files.errors import FileError, listed
from setatoms.files.survey import MOST_VALUES, Survey, WordColumn, survey

FILLED = "filled with what the rest of the row implies"


@dataclass(frozen=True)
class Choice:
    """Which columns to use, and how.

    Attributes
    ----------
    index : str, optional
        The column that names the rows; not learned from.
    drop : sequence of str
        Columns to leave out.
    encode : sequence of str
        Columns to make one feature a value of.
    one_hot : bool
        Whether to do that with every column of words that has few values.
    """

    index: str | None = None
    drop: Sequence[str] = ()
    encode: Sequence[str] = ()
    one_hot: bool = False


@dataclass(frozen=True)
class Chosen:
    """What was chosen.

    Attributes
    ----------
    encoding : Encoding
        The columns used.
    survey : Survey
        What was in the table.
    notes : list of str
        What became of columns and missing values, a sentence each.
    """

    encoding: Encoding
    survey: Survey
    notes: list[str]


def choose_columns(
    table: Table, choice: Choice, on_chunk: Callable[[int], None] | None = None
) -> Chosen:
    """Look at a whole table and choose the columns to learn from.

    Parameters
    ----------
    table : Table
        The training rows.
    choice : Choice
        What the user wants.
    on_chunk : callable, optional
        Called with the number of rows after every chunk.

    Raises
    ------
    FileError
        If a column is unknown, or fewer than two columns or rows are left.
    """
    check_known(table, [*choice.drop, *choice.encode, *([choice.index] if choice.index else [])])
    skip = [*choice.drop, *([choice.index] if choice.index else [])]
    found = survey(
        table,
        skip=skip,
        as_words=choice.encode,
        count_values=choice.one_hot,
        on_chunk=on_chunk,
    )
    columns = [_column(name, found, choice) for name in table.names]
    encoding = Encoding(tuple(column for column in columns if column is not None))
    notes = [*table.notes, *_notes(found, choice)]
    _check_enough(table, found, encoding, notes)
    return Chosen(encoding, found, notes)


def check_known(table: Table, names: Sequence[str]) -> None:
    """Raise if `table` lacks one of `names`."""
    known = set(table.names)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise FileError(
            f"{table.name} has no column {listed(unknown)}; it has {listed(list(table.names))}"
        )


def _column(name: str, found: Survey, choice: Choice) -> Column | None:
    """Return how a column is used, None if it is not."""
    if name in found.numbers:
        number = found.numbers[name]
        return None if number.empty or number.constant else Column(name)
    if name not in found.words:
        return None
    words = found.words[name]
    if words.many and name in choice.encode:
        raise FileError(
            f"column {name!r} has more than {MOST_VALUES} different values, too many to make a "
            "feature of each; drop it"
        )
    if len(words.values) < 2:
        return None
    if words.booleans and name not in choice.encode:
        return Column(name, "boolean")
    wanted = name in choice.encode or (choice.one_hot and not words.dates and not words.many)
    return Column(name, "one-hot", tuple(sorted(words.values))) if wanted else None


def _notes(found: Survey, choice: Choice) -> list[str]:
    """Say what became of the columns, a sentence for each reason."""
    groups: dict[str, list[str]] = {}
    for number in found.numbers.values():
        if number.empty:
            groups.setdefault("dropped, no row has a value", []).append(number.name)
        elif number.constant:
            groups.setdefault("dropped, all values are the same", []).append(number.name)
    for words in found.words.values():
        groups.setdefault(_fate(words, choice), []).append(words.name)
    for name, what in found.opaque.items():
        groups.setdefault(f"dropped, neither numbers nor text ({what:.40})", []).append(name)
    if choice.drop:
        groups["dropped, as asked"] = list(choice.drop)
    notes = [f"{listed(names)}: {reason}" for reason, names in groups.items()]
    return notes + _missing_notes(found)


def _fate(words: WordColumn, choice: Choice) -> str:
    encoded = words.name in choice.encode
    if not words.values:
        return "dropped, no row has a value"
    if len(words.values) == 1 and not words.many:
        return "dropped, all values are the same"
    if words.booleans and not encoded:
        return "taken as 0 and 1"
    if encoded or (choice.one_hot and not words.dates and not words.many):
        return "one feature for each value"
    if words.dates:
        return "dropped, dates or times"
    few = "; --one-hot makes a feature of each value" if not words.many else ""
    return f"dropped, text{few}"


def _missing_notes(found: Survey) -> list[str]:
    counts = {c.name: c.n_missing for c in found.numbers.values() if not c.empty}
    gaps = {name: count for name, count in counts.items() if count}
    if not gaps:
        return []
    total = sum(gaps.values())
    cells = f"{total} missing value{'s' if total > 1 else ''} in {listed(list(gaps))}"
    return [f"{cells}: {FILLED}"]


def _check_enough(table: Table, found: Survey, encoding: Encoding, notes: Sequence[str]) -> None:
    if found.n_rows < 2:
        has = "one row" if found.n_rows else "no rows, only a header"
        raise FileError(f"{table.name} has {has}; learning takes at least two rows")
    if len(encoding.features) < 2:
        usable = listed(encoding.features) if encoding.features else "none"
        raise FileError(
            f"{table.name} has too few columns to learn from ({usable}): relations take at least "
            f"two. {'. '.join(notes)}"
        )
