"""Choose the columns to learn from, and say what became of the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setatoms.files.encoding import Column, Encoding
from setatoms.files.errors import FileError, listed, quoted
from setatoms.files.remedies import Remedies
from setatoms.files.survey import NumberColumn, Survey, WordColumn, no_measurement, survey
from setatoms.files.tables import FEW, Table, TableColumn
from setatoms.files.written import MISSING, booleans_of, clean

# Times the range of all other values.
_FAR = 0.5


@dataclass(frozen=True)
class Choice:
    """Which columns to use, and how.

    Attributes
    ----------
    index : str, optional
        The column that names the rows; not learned from.
    drop : sequence of str
        Columns to leave out.
    use : sequence of str
        Columns to take for measurements, whatever they look like.
    encode : sequence of str
        Columns to make one feature a value of.
    one_hot : bool
        Whether to do that with every column of words that has few values.
    """

    index: str | None = None
    drop: Sequence[str] = ()
    use: Sequence[str] = ()
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
    index : str or None
        The column that names the rows.
    """

    encoding: Encoding
    survey: Survey
    notes: list[str]
    index: str | None = None

    def features(self) -> NDArray[np.float64] | None:
        """Return the features (n_rows, n_features) of all rows, None if they were not kept."""
        if self.survey.kept is None:
            return None
        return self.encoding.expand(np.column_stack(list(self.columns().values())))

    def columns(self) -> dict[str, NDArray[np.float64]]:
        """Return the numbers (n_rows,) of each column in use, if they were kept."""
        kept, words = self.survey.kept or {}, self.survey.words
        return {
            column.name: _recoded(kept[column.name], column, words[column.name])
            if column.name in words
            else kept[column.name]
            for column in self.encoding.columns
        }

    def labels(self) -> dict[str, list[str | None]]:
        """Return the words of the index column by its name, if there is one."""
        index, words = self.index, self.survey.labels
        return {} if index is None or words is None else {index: words}


def choose_columns(
    table: Table,
    choice: Choice,
    on_chunk: Callable[[int], None] | None = None,
    most_numbers: int = 0,
    least_columns: int = 2,
) -> Chosen:
    """Read a whole table and choose the columns to learn from.

    Parameters
    ----------
    table : Table
        The training rows.
    choice : Choice
        What the user wants.
    on_chunk : callable, optional
        Called with the number of rows after every chunk.
    most_numbers : int, default=0
        How many numbers may be kept in memory.
    least_columns : int, default=2
        How many features there must be.

    Raises
    ------
    FileError
        If a column is unknown, or fewer than two columns or rows are left.
    """
    check_choice(table, choice)
    found = survey(
        table,
        skip=choice.drop,
        as_words=choice.encode,
        index=choice.index,
        most_numbers=most_numbers,
        on_chunk=on_chunk,
    )
    return choose_from(table, found, choice, least_columns)


def choose_from(table: Table, found: Survey, choice: Choice, least_columns: int = 2) -> Chosen:
    """Choose the columns to learn from by what was found in them."""
    fates = {name: _fate(name, table, found, choice) for name in table.columns}
    columns = [column for column, _ in fates.values() if column is not None]
    encoding = Encoding(tuple(columns), tuple(sorted(table.missing - MISSING)))
    notes = [*table.notes, *_notes(fates), *_missing_notes(table, found, encoding)]
    notes += found.bad.notes(found.n_rows, [column.name for column in columns])
    notes += _stand_in_notes(table, found, encoding)
    _check_enough(table, found, encoding, notes, least_columns)
    return Chosen(encoding, found, notes, choice.index)


def check_choice(table: Table, choice: Choice) -> None:
    """Raise if `table` lacks a column that is named."""
    named = [*choice.drop, *choice.use, *choice.encode, *([choice.index] if choice.index else [])]
    check_known(table, named)


def check_known(table: Table, names: Sequence[str]) -> None:
    """Raise if `table` lacks one of `names`."""
    unknown = [name for name in names if name not in table.columns]
    if unknown:
        raise FileError(
            f"{table.name} has no column {listed(unknown)}; it has {listed(table.names)}"
        )


def _fate(name: str, table: Table, found: Survey, choice: Choice) -> tuple[Column | None, str]:
    """Return how a column is used, if it is, and what to say of it."""
    if name in choice.drop:
        return None, "dropped, as asked"
    if name == choice.index:
        return None, ""
    if name in found.numbers:
        return _fate_of_number(found.numbers[name], table, choice)
    if name in found.words:
        return _fate_of_words(found.words[name], table, choice)
    return None, "dropped, neither numbers nor text"


def _fate_of_number(
    number: NumberColumn, table: Table, choice: Choice
) -> tuple[Column | None, str]:
    column = table.columns[number.name]
    if number.empty:
        # a delimiter at the end of each line makes a column of nothing
        unnamed = number.name.startswith("column_")
        return None, "" if unnamed else "dropped, no row has a value"
    if number.constant:
        return None, "dropped, all values are the same"
    if number.name not in choice.use and (what := no_measurement(number, column)):
        return None, f"dropped, {what}; {table.remedies.use} takes it for a measurement"
    if column.kind == "boolean":
        return Column(number.name, "boolean"), ""
    style = column.style
    marks = None if style is None else (style.decimal, style.thousands)
    return Column(number.name, marks=None if marks == (".", "") else marks), ""


def _fate_of_words(words: WordColumn, table: Table, choice: Choice) -> tuple[Column | None, str]:
    wanted, remedies = words.name in choice.encode, table.remedies
    if words.name in choice.use:
        what = "dates or times" if words.dates else "text, not numbers"
        raise FileError(
            f"column {words.name!r} holds {what}, so {remedies.use} cannot take it for a "
            f"measurement; {remedies.convert}"
        )
    if words.many and wanted:
        raise FileError(
            f"column {words.name!r} has more than {FEW} different values, too many to make a "
            "feature of each; drop it"
        )
    if words.dates and not wanted:
        names = "" if choice.index else f"; {remedies.name_rows} names the rows by it"
        return None, f"dropped, dates or times{names}"
    if words.many:
        return None, _fate_of_text(table.columns[words.name], remedies)
    if not words.values:
        return None, "dropped, no row has a value"
    if len(words.values) == 1:
        return None, "dropped, all values are the same"
    if words.booleans and not wanted:
        return Column(words.name, "boolean"), "taken as 0 and 1"
    if wanted or choice.one_hot:
        values = tuple(sorted(words.values))
        return Column(words.name, "one-hot", values), "one feature for each value"
    return None, f"dropped, text; {remedies.one_hot} makes a feature of each value"


def _fate_of_text(column: TableColumn, remedies: Remedies) -> str:
    if column.odd is None:
        return "dropped, text"
    odd = quoted(column.odd)
    gaps = remedies.missing.format(odd)
    return f"dropped, text among numbers, most often {odd}; {gaps} takes that for no value"


def _recoded(places: NDArray[np.float64], column: Column, words: WordColumn) -> NDArray[np.float64]:
    """Return the numbers of a column from the places of its values in the survey."""
    if column.kind == "boolean":
        means = booleans_of(words.values) or {}
        numbers = [means[clean(value).lower()] for value in words.values]
    else:
        numbers = [column.values.index(value) + 1.0 for value in words.values]
    table = np.array([np.nan, *numbers])
    return np.asarray(table[np.nan_to_num(places).astype(np.intp)])


def _notes(fates: dict[str, tuple[Column | None, str]]) -> list[str]:
    """Say what became of the columns, a sentence for each reason."""
    groups: dict[str, list[str]] = {}
    for name, (_, fate) in fates.items():
        if fate:
            groups.setdefault(fate, []).append(name)
    return [f"{listed(names)}: {fate}" for fate, names in groups.items()]


def _missing_notes(table: Table, found: Survey, encoding: Encoding) -> list[str]:
    used = {column.name for column in encoding.columns}
    counts = {c.name: c.n_missing for c in found.numbers.values() if c.name in used}
    gaps = {name: count for name, count in counts.items() if count}
    if not gaps:
        return []
    total = sum(gaps.values())
    cells = f"{total} missing value{'s' if total > 1 else ''} in {listed(list(gaps))}"
    return [f"{cells}: {table.remedies.filled}"]


def _stand_in_notes(table: Table, found: Survey, encoding: Encoding) -> list[str]:
    """Question values that may stand for no value: nines far from the rest, more than once."""
    notes = []
    for column in encoding.columns:
        number = found.numbers.get(column.name)
        if number is None or found.kept is None:
            continue
        for end in (number.low, number.high):
            if not re.fullmatch(r"-?(?:9{2,}|8{3,}|7{3,})(?:\.[09]+)?", f"{end:.6g}"):
                continue
            values = found.kept[column.name]
            rest = values[(values != end) & ~np.isnan(values)]
            count = int((values == end).sum())
            if len(rest) > count and _gap(rest, end) > _FAR * np.ptp(rest):
                times = "time" if count == 1 else "times"
                remedy = table.remedies.missing.format(f"{end:.6g}")
                notes.append(
                    f"{quoted(column.name)}: {end:.6g} occurs {count:,} {times}, far from all "
                    f"other values ({rest.min():.4g} to {rest.max():.4g}); {remedy} if it stands "
                    "for no value"
                )
    return notes


def _gap(rest: NDArray[np.float64], value: float) -> float:
    return float(max(rest.min() - value, value - rest.max()))


def _check_enough(
    table: Table, found: Survey, encoding: Encoding, notes: Sequence[str], least_columns: int
) -> None:
    if found.n_rows < 2:
        has = "one row" if found.n_rows else "no rows, only a header"
        raise FileError(f"{table.name} has {has}; learning takes at least two rows")
    if len(encoding.features) < least_columns:
        usable = listed(encoding.features) if encoding.features else "none"
        raise FileError(
            f"{table.name} has too few columns to learn from ({usable}): relations take at least "
            f"two. {'. '.join(notes)}{_unsplit(table)}"
        )


def _unsplit(table: Table) -> str:
    """Question a single column whose name looks like the header of a whole table."""
    header = table.names[0] if len(table.names) == 1 else ""
    found = [mark for mark in ";|,\t" if header.count(mark) > 0]
    if not found:
        return ""
    mark = max(found, key=header.count)
    shown = mark.replace("\t", "\\t")
    remedy = table.remedies.separator.format(shown)
    return f". The name of its one column has '{shown}' in it; if that parts columns: {remedy}"
