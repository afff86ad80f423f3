"""How a text file is laid out: what separates cells, where the table starts, what its columns are.

People put titles above a table and notes below it, units under the names, a delimiter too many at
the end of lines. The first and the last lines of a file tell; DuckDB reads what is in between.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

from setatoms.files.errors import FileError
from setatoms.files.written import (
    FALSE_WORDS,
    TRUE_WORDS,
    clean,
    is_date,
    is_missing,
    looks_like_number,
)

# Any number of spaces and tabs; at least two of them.
SPACES, WIDE_SPACES = " ", "  "
_DELIMITERS = (",", ";", "\t", "|", SPACES, WIDE_SPACES)
_LOOKED_AT = 300
# What lines are drawn with.
RULES = " \t\r\n\u00a0\ufeff\x1a-=+:_"
_MOST_TITLES = 100
_MOST_ABOVE = 4
_YEAR = re.compile(r"(?:1[89]|20)\d\d(?:\.0)?")
csv.field_size_limit(1 << 27)


class Record(NamedTuple):
    """The cells of a line, or of several where a cell holds ends of lines.

    Attributes
    ----------
    cells : list of str
        Without quotes.
    line : int
        The first of its lines, from 0.
    """

    cells: list[str]
    line: int

    @property
    def n_full(self) -> int:
        """How many cells are not empty."""
        return sum(bool(clean(cell)) for cell in self.cells)


@dataclass(frozen=True)
class Layout:
    """How a text file is laid out.

    Attributes
    ----------
    delimiter, quote, escape : str
        What separates cells, what encloses them, what precedes a quote inside.
    skip : int
        Lines above the table.
    above : int
        Records above the rows: the names, units.
    names : list of str or None
        The names of the columns as they are written, if they are.
    width : int
        How many columns there are.
    footer : list of str
        The first cells of notes below the table.
    comment : str
        What starts a line that is none of the table.
    notes : list of str
        What was left out.
    """

    delimiter: str
    quote: str = '"'
    escape: str = '"'
    skip: int = 0
    above: int = 0
    names: list[str] | None = None
    width: int = 1
    footer: list[str] = field(default_factory=list)
    comment: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class LayoutOptions:
    """What not to find out.

    Attributes
    ----------
    delimiter : str, optional
        What separates cells.
    header : bool, optional
        Whether there are names.
    skip_rows : int, optional
        Lines above the table.
    footer : int, optional
        Lines below it.
    comment : str, optional
        What starts a line that is none of the table.
    """

    delimiter: str | None = None
    header: bool | None = None
    skip_rows: int | None = None
    footer: int | None = None
    comment: str | None = None


def find_layout(
    head: str, tail: str, missing: frozenset[str], options: LayoutOptions | None = None
) -> Layout:
    r"""Return the layout of a file that begins and ends so.

    Parameters
    ----------
    head, tail : str
        Its first and its last lines, whole ones.
    missing : frozenset of str
        What stands for a missing value.
    options : LayoutOptions, optional
        What is known.

    Examples
    --------
    >>> layout = find_layout("Pump log\n\nhour;flow\n1;2,5\n2;3,5\n", "", frozenset([""]))
    >>> layout.delimiter, layout.skip, layout.names
    (';', 2, ['hour', 'flow'])
    """
    options = options or LayoutOptions()
    layout, records = _cut(head, options, missing)
    if not records:
        raise FileError("is empty: it has no header and no rows")
    width = _usual_width(records)
    start = 0 if options.skip_rows is not None else _find_start(records, width)
    table = records[start:]
    width = max(width, min(len(table[0].cells), width + 1))
    above = 0 if options.header is False else _count_above(table, missing, options.header)
    notes: list[str] = []
    if above:
        which = _which_names(table[:above])
        names = _names(table[which], table[above:], width)
        width = max(width, len(names))
        if above > 1:
            notes.append(f"left out {above - 1} of {above} lines of names and units")
    else:
        names = _commented_names(records[:start], head, width)
        if names is None:
            notes.append("the first line has no names, so columns are column_1, column_2, ...")
    if start:
        noun = "line" if table[0].line == 1 else "lines"
        notes.insert(0, f"left out {table[0].line} {noun} above the table")
    footer = _find_footer(tail, layout, width, options)
    if footer:
        noun = "line" if len(footer) == 1 else "lines"
        notes.append(f"left out {len(footer)} {noun} below the table")
    return replace(
        layout,
        skip=table[0].line,
        above=above,
        names=names,
        width=width,
        footer=footer,
        notes=notes,
    )


def records_of(text: str, layout: Layout, skip: int = 0) -> Iterator[Record]:
    """Yield the records of a text, but for its first `skip` lines and comments."""
    lines = text.splitlines(keepends=True)[skip:] if skip else _lines(text)
    if layout.delimiter in (SPACES, WIDE_SPACES):
        counted = ((split(line, layout.delimiter), skip + i) for i, line in enumerate(lines))
    else:
        counted = _read(lines, layout, skip)
    for row, line in counted:
        blank = not any(cell.strip(RULES) for cell in row)
        comment = layout.comment and row and row[0].startswith(layout.comment)
        if not blank and not comment:
            yield Record(row, line)


def split(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line that spaces separate."""
    line = line.strip()
    if delimiter == WIDE_SPACES:
        return re.split(r"\t| {2,}", line)
    return [cell.strip('"') for cell in re.findall(r'"[^"]*"|\S+', line)]


def _lines(text: str) -> list[str]:
    # str.splitlines cuts at other characters too, which stand in cells
    return re.findall(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$", text)


def _read(lines: list[str], layout: Layout, skip: int) -> Iterator[tuple[list[str], int]]:
    reader = csv.reader(
        lines,
        delimiter=layout.delimiter,
        quotechar=layout.quote or None,
        quoting=csv.QUOTE_MINIMAL if layout.quote else csv.QUOTE_NONE,
        doublequote=layout.escape == layout.quote,
        escapechar=layout.escape if layout.escape not in (layout.quote, "") else None,
        skipinitialspace=True,
    )
    line = 0
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise FileError(f"line {skip + reader.line_num}: {error}") from None
        yield row, skip + line
        line = reader.line_num


def _cut(head: str, options: LayoutOptions, missing: frozenset[str]) -> tuple[Layout, list[Record]]:
    """Return what separates cells, and the first records."""
    skip = options.skip_rows or 0
    given = options.delimiter
    if first := re.match(r"sep=(.)\r?\n", head, re.I):  # a line for Excel
        given, skip = given or first[1], max(skip, 1)
    comment = options.comment or ("#" if re.search(r"^#", head, re.M) else "")
    escape = "\\" if '\\"' in head else '"'
    candidates = []
    for delimiter in (given,) if given else _DELIMITERS:
        for quote in (
            ('"', "'") if re.search(rf"(?:^|[{re.escape(delimiter)}])\s*'", head, re.M) else ('"',)
        ):
            layout = Layout(delimiter, quote, escape if quote == '"' else quote, comment=comment)
            records = list(islice(records_of(head, layout, skip), _LOOKED_AT))
            candidates.append((_fitness(records, delimiter, missing), layout, records))
    # the first of equals: usual delimiters and quotes come first
    _, layout, records = max(candidates, key=lambda candidate: candidate[0])
    return layout, records


def _fitness(records: Sequence[Record], delimiter: str, missing: frozenset[str]) -> float:
    """Return how well a delimiter cuts: into equally many cells that look like values."""
    if not records:
        return 0.0
    width = _usual_width(records)
    two = delimiter == "," and width == 2 and len(records[0].cells) == 1
    if two and all("".join(record.cells).isdecimal() for record in records[1:]):
        return 0.0  # one column of decimal commas
    usual = [record for record in records if len(record.cells) == width]
    cells = [cell for record in usual[-50:] for cell in record.cells]
    typed = sum(_typed(cell, missing) for cell in cells) / len(cells)
    # text has commas, but hardly ever the others
    whole = sum(not re.search(r"[;|\t]", cell) for cell in cells) / len(cells)
    fitness = len(usual) / len(records) * (0.2 + typed) * whole * (1.0 + 0.01 * min(width, 30))
    return fitness * (0.02 if width == 1 else 0.6 if delimiter[0] == " " else 1.0)


def _typed(cell: str, missing: frozenset[str]) -> bool:
    if is_missing(cell, missing) or looks_like_number(cell) or is_date(cell):
        return True
    word = clean(cell).lower()
    return len(word) > 1 and word in TRUE_WORDS | FALSE_WORDS


def _usual_width(records: Sequence[Record]) -> int:
    # titles are few; of equally frequent widths the larger
    counts = Counter(len(record.cells) for record in records)
    return max(counts, key=lambda width: (counts[width], width))


def _find_start(records: Sequence[Record], width: int) -> int:
    """Return the first record that is none of the title."""
    least = max(width - 1, 1 if width <= 2 else 2)
    for i, record in enumerate(records[:_MOST_TITLES]):
        full = record.n_full
        # a name may lack, as that of the row numbers; a title fills a cell or two
        if len(record.cells) >= least and full >= max(min(2, width), 0.5 * width):
            return i
    return next(i for i, record in enumerate(records) if len(record.cells) == width)


def _count_above(table: Sequence[Record], missing: frozenset[str], header: bool | None) -> int:
    """Return how many records stand above the rows: names, units."""
    rows = table[min(len(table) // 3, _MOST_ABOVE) :] if len(table) > 3 else table[1:]
    typed = _typed_columns(rows, missing)
    for i, record in enumerate(table[: _MOST_ABOVE + 1]):
        cells = [record.cells[j] for j in typed if j < len(record.cells)]
        words = sum(not _typed(cell, missing) for cell in cells)
        values = sum(_typed(cell, missing) and not is_missing(cell, missing) for cell in cells)
        if _are_years(record, rows):
            continue
        if (values >= words and values > 0) or (i > 0 and not words):
            return max(i, 1) if header else i
    # words only: names, unless they look like values
    full = [cell for cell in table[0].cells if clean(cell)]
    return 1 if header or not any(map(looks_like_number, full)) else 0


def _typed_columns(rows: Sequence[Record], missing: frozenset[str]) -> list[int]:
    """Return the columns that hold numbers, dates or booleans."""
    found = []
    for j in range(max((len(row.cells) for row in rows), default=0)):
        cells = [row.cells[j] for row in rows if j < len(row.cells)]
        cells = [cell for cell in cells if not is_missing(cell, missing)]
        if cells and sum(_typed(cell, missing) for cell in cells) >= 0.8 * len(cells):
            found.append(j)
    return found


def _are_years(record: Record, rows: Sequence[Record]) -> bool:
    """Tell whether the numbers of a record are years in order, and those below are not."""
    numbers = [clean(cell) for cell in record.cells if looks_like_number(cell)]
    if len(numbers) < 2 or not all(map(_YEAR.fullmatch, numbers)):
        return False
    below = [clean(cell) for row in rows for cell in row.cells if looks_like_number(cell)]
    years = sum(_YEAR.fullmatch(cell) is not None for cell in below)
    return numbers in (sorted(set(numbers)), sorted(set(numbers), reverse=True)) and (
        years < 0.5 * len(below)
    )


def _which_names(above: Sequence[Record]) -> int:
    """Return which of the records above the rows has the names: the first without numbers."""
    best = max(record.n_full for record in above)
    for i, record in enumerate(above):
        numbers = (cell for cell in record.cells if looks_like_number(cell))
        years = all(_YEAR.fullmatch(clean(cell)) for cell in numbers)
        if record.n_full >= 0.5 * best and years:
            return i
    return 0


def _names(record: Record, rows: Sequence[Record], width: int) -> list[str]:
    """Return the names, one for each column."""
    names = record.cells
    if len(names) == width - 1 and rows:
        last = [row.cells[width - 1] for row in rows if len(row.cells) == width]
        # a column of row names has none itself, as R writes it; or lines end with a delimiter
        names = ["", *names] if any(clean(cell) for cell in last) else [*names, ""]
    while len(names) > width and not clean(names[-1]):
        names = names[:-1]
    return [*names, *[""] * (width - len(names))]


def _commented_names(titles: Sequence[Record], head: str, width: int) -> list[str] | None:
    """Return names from a comment right above the rows, if it has as many as there are columns."""
    lines = head.splitlines()
    comments = [line for line in lines[:_MOST_TITLES] if line.startswith("#")]
    if not comments or titles:
        return None
    words = re.split(r"[,;|\t]\s*|\s+", comments[-1].lstrip("# ").strip())
    return words if len(words) == width and not any(map(looks_like_number, words)) else None


def _find_footer(tail: str, layout: Layout, width: int, options: LayoutOptions) -> list[str]:
    """Return the first cells of the records below the table."""
    records = list(records_of(tail, layout))
    if options.footer is not None:
        return [record.cells[0] for record in records[len(records) - options.footer :]]
    footer: list[str] = []
    for record in reversed(records[1:]):
        short = len(record.cells) < width or record.n_full == 1
        few = record.n_full <= max(1, width // 2 + width % 2)
        if not short or not few or width < 2 or _all_numbers(record):
            break
        footer.append(record.cells[0])
    return footer[::-1]


def _all_numbers(record: Record) -> bool:
    return all(re.fullmatch(r"[\d.,+\-eE]+", clean(cell)) for cell in record.cells if clean(cell))
