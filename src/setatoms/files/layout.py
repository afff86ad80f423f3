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
from setatoms.files.sources import lines_of
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
# Lines of names, units and kinds.
_MOST_ABOVE = 3
# A line that says how wide columns are.
_FORMAT = re.compile(r"\d+[sdn]")
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
    left_out : list of list of str
        Records that are no rows wherever they stand: notes below the table, the names once more.
    comment : str
        What starts a line that is none of the table.
    notes : list of str
        What was left out.
    below : int
        Records below the rows, if their number was given.
    """

    delimiter: str
    quote: str = '"'
    escape: str = '"'
    skip: int = 0
    above: int = 0
    names: list[str] | None = None
    width: int = 1
    left_out: list[list[str]] = field(default_factory=list)
    comment: str = ""
    notes: list[str] = field(default_factory=list)
    below: int = 0


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
    body = _Body(records, width, missing)
    names_at, rows_at = _find_names(records, body, options.header)
    if options.skip_rows is not None:
        names_at, rows_at = 0, rows_at if names_at == 0 else int(options.header is not False)
    table, above = records[names_at:], rows_at - names_at
    notes: list[str] = []
    if names_at:
        noun = "line" if table[0].line == 1 else "lines"
        notes.append(f"left out {table[0].line} {noun} above the table")
    if above:
        names: list[str] | None = _names(table[0], table[above:], width)
        width = max(width, len(names or ()))
        if above > 1:
            notes.append(f"left out {above - 1} of {above} lines of names and units")
    else:
        width = max(width, min(len(table[0].cells), width + 1))
        names = _commented_names(head, layout, width)
        if names is None:
            notes.append("the first line has no names, so columns are column_1, column_2, ...")
    footer = _find_footer(tail, layout, body, options)
    if n_below := options.footer or len(footer):
        noun = "line" if n_below == 1 else "lines"
        notes.append(f"left out {n_below} {noun} below the table")
    return replace(
        layout,
        skip=table[0].line,
        above=above,
        names=names,
        width=width,
        left_out=footer + ([table[0].cells] if above else []),
        notes=notes,
        below=options.footer or 0,
    )


def records_of(text: str, layout: Layout, skip: int = 0) -> Iterator[Record]:
    """Yield the records of a text, but for its first `skip` lines and comments."""
    lines = lines_of(text)[skip:]
    counted = _split if layout.delimiter in (SPACES, WIDE_SPACES) else _read
    for row, line in counted(lines, layout, skip):
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


def _split(lines: list[str], layout: Layout, skip: int) -> Iterator[tuple[list[str], int]]:
    for line, text in enumerate(lines, skip):
        yield split(text, layout.delimiter), line


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
    comment = options.comment or ("#" if _has_comments(head) else "")
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


def _has_comments(head: str) -> bool:
    """Tell whether lines that begin with # are comments, not rows."""
    lines = [line for line in lines_of(head)[:_LOOKED_AT] if line.strip()]
    above = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    others = [line for line in lines[above:] if not line.startswith("#")]
    inside = [line for line in lines[above:] if line.startswith("#")]
    if not others:
        return False
    for delimiter in ",;\t|":
        usual = Counter(line.count(delimiter) for line in others).most_common(1)[0][0]
        if usual and any(line.count(delimiter) == usual for line in inside):
            return False
    return bool(above or inside)


def _fitness(records: Sequence[Record], delimiter: str, missing: frozenset[str]) -> float:
    """Return how well a delimiter cuts: into equally many cells that look like values."""
    if not records:
        return 0.0
    width = _usual_width(records)
    two = delimiter == "," and width == 2 and len(records[0].cells) == 1
    if two and all("".join(record.cells).isdecimal() for record in records[1:]):
        return 0.0  # one column of decimal commas
    usual = [record for record in records if len(record.cells) == width]
    cells = [cell for record in usual[1:][-50:] or usual for cell in record.cells]
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
    """Return the width of the records that hold most cells."""
    cells: Counter[int] = Counter()
    for record in records:
        cells[len(record.cells)] += len(record.cells)
    return max(cells, key=lambda width: (cells[width], width))


class _Body:
    """What rows of a table look like: numbers, dates and booleans where most records have them."""

    def __init__(self, records: Sequence[Record], width: int, missing: frozenset[str]) -> None:
        self.width, self._missing = width, missing
        later = records[min(len(records) // 3, _MOST_TITLES) :] if len(records) > 3 else records[1:]
        self._rows = [r for r in later if 0.5 * width <= len(r.cells) <= width + 1] or list(later)
        self.typed = [j for j in range(width) if self._is_typed(j)]

    def _is_typed(self, j: int) -> bool:
        cells = [row.cells[j] for row in self._rows if j < len(row.cells)]
        cells = [cell for cell in cells if not is_missing(cell, self._missing)]
        typed = sum(_typed(cell, self._missing) for cell in cells)
        return bool(cells) and typed >= 0.8 * len(cells)

    def has(self, record: Record, share: float = 1.0, every: bool = False) -> bool:
        """Tell whether a record looks like a row, with at least this share of the cells.

        Half of the cells must hold what their column does, or every one of them.
        """
        if not share * self.width - 1 <= len(record.cells) <= self.width + 1:
            return False
        cells = [record.cells[j] for j in self.typed if j < len(record.cells)]
        cells = [cell for cell in cells if not is_missing(cell, self._missing)]
        values = sum(_typed(cell, self._missing) for cell in cells)
        if all(map(_FORMAT.fullmatch, cells)) or self._are_years(record):
            return False
        return values > 0 and (values if every else 2 * values) >= len(cells)

    def _are_years(self, record: Record) -> bool:
        """Tell whether the numbers of a record are years in order, and those of rows are not."""
        numbers = [clean(cell) for cell in record.cells if looks_like_number(cell)]
        if len(numbers) < 2 or not all(map(_YEAR.fullmatch, numbers)):
            return False
        below = [clean(c) for row in self._rows for c in row.cells if looks_like_number(c)]
        years = sum(_YEAR.fullmatch(cell) is not None for cell in below)
        rising = sorted(set(numbers))
        return numbers in (rising, rising[::-1]) and years < 0.5 * len(below)


def _find_names(records: Sequence[Record], body: _Body, header: bool | None) -> tuple[int, int]:
    """Return which record has the names and which is the first row; the same if there are none."""
    like_rows = [body.has(record) for record in records]
    rows_at = next(
        (i for i, like in enumerate(like_rows) if like and all(like_rows[i + 1 : i + 2])), None
    )
    if rows_at is None:
        # words only: names, then rows
        first = _first_wide(records, body.width)
        has_names = not any(map(looks_like_number, records[first].cells))
        return first, first + int(has_names if header is None else header)
    while rows_at > 0 and body.has(records[rows_at - 1], 0.5, every=True):
        rows_at -= 1  # a short row
    if header is False:
        return rows_at, rows_at
    if rows_at == 0:
        return 0, int(header is True)
    most = max(2, body.width - 1) if body.width > 1 else 1
    block = [rows_at - 1]
    while len(block) < _MOST_ABOVE and block[-1] > 0:
        width = len(records[block[-1] - 1].cells)
        if not most <= width <= body.width + 1:
            break
        block.append(block[-1] - 1)
    if len(records[block[0]].cells) < max(min(2, body.width), 0.5 * body.width):
        return rows_at, rows_at  # a title right above the rows
    fullest = max(records[i].n_full for i in block)
    for i in reversed(block):
        numbers = [cell for cell in records[i].cells if looks_like_number(cell)]
        years = all(_YEAR.fullmatch(clean(cell)) for cell in numbers)
        if records[i].n_full >= 0.75 * fullest and (years or i == block[0]):
            return i, rows_at
    return block[0], rows_at


def _first_wide(records: Sequence[Record], width: int) -> int:
    """Return the first record that is none of the title, of a table without numbers."""
    for i, record in enumerate(records[:_MOST_TITLES]):
        if len(record.cells) >= width - 1 and record.n_full >= max(min(2, width), 0.5 * width):
            return i
    return next(i for i, record in enumerate(records) if len(record.cells) == width)


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


def _commented_names(head: str, layout: Layout, width: int) -> list[str] | None:
    """Return names from a comment right above the rows, if it has as many as there are columns."""
    lines = head.splitlines()[:_MOST_TITLES]
    comments = [line.lstrip("#% ").strip() for line in lines if line.startswith("#")]
    if not comments:
        return None
    for pattern in (rf"\s*{re.escape(layout.delimiter)}\s*", r"[,;|\t]\s*|\s+"):
        words = re.split(pattern, comments[-1])
        if len(words) == width and not any(map(looks_like_number, words)):
            return words
    return None


def _find_footer(tail: str, layout: Layout, body: _Body, options: LayoutOptions) -> list[list[str]]:
    """Return the records below the table."""
    records = list(records_of(tail, layout))
    if options.footer is not None:
        return []
    footer: list[list[str]] = []
    for record in reversed(records[1:]):
        short = len(record.cells) < body.width or record.n_full == 1
        few = record.n_full <= max(1, body.width // 2 + body.width % 2)
        if not (short and few) or body.width < 2 or body.has(record, 0.5) or _all_numbers(record):
            break
        footer.append(record.cells)
    return footer[::-1]


def _all_numbers(record: Record) -> bool:
    return all(re.fullmatch(r"[\d.,+\-eE]+", clean(cell)) for cell in record.cells if clean(cell))
