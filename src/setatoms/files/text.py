"""CSV and its kin, and what becomes such: sheets of workbooks, text in other encodings."""

from __future__ import annotations

import csv
import io
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from setatoms.files.engine import Engine, quoted_text
from setatoms.files.errors import FileError, located
from setatoms.files.layout import (
    RULES,
    SPACES,
    Layout,
    LayoutOptions,
    Record,
    find_layout,
    records_of,
    split,
)
from setatoms.files.names import numbered_names, unique_names
from setatoms.files.options import ReadOptions
from setatoms.files.sources import (
    LONGEST_LINE,
    Source,
    TextFile,
    is_packed_otherwise,
    path_of,
    temporary,
)
from setatoms.files.tables import Table, TableColumn, look
from setatoms.files.written import clean

# In larger files rows are counted, not lines.
_LARGE = 1 << 28
_MOST_COLUMNS = 200_000
# Between the cells of a record, and around them.
_MARK, _SPACE = "\x1f", quoted_text(" \t\r\n\u00a0\u2009\u202f\ufeff")
# Tables of more columns are read in plain Python.
MOST_AT_ONCE = 500


def open_text(source: Source, kind: str, missing: frozenset[str], options: ReadOptions) -> Table:
    """Open text files of the same columns, or sheets of workbooks, as one table."""
    holds: list[Any] = [source]
    files = []
    for given in source.paths:
        path, name = given, source.name if len(source.paths) == 1 else str(given)
        if kind == "excel":
            holds.append(_sheet_as_text(path, name, options.table))
            path = path_of(holds[-1])
        elif is_packed_otherwise(source.start(path)):
            holds.append(_unpacked(path, name))
            path = path_of(holds[-1])
        files.append(TextFile(path, name, source.encoding, source.on_bytes))
    holds += files
    usual = {"tsv": "\t", "excel": ","}.get(kind if kind == "excel" else options.format or "")
    delimiter = options.delimiter or usual
    wished = LayoutOptions(
        _checked(delimiter) if delimiter else None,
        options.header, options.skip_rows, options.footer, options.comment,
    )  # fmt: skip
    layouts = [_layout(file, missing, wished) for file in files]
    _check_alike(files, layouts)
    first, text = layouts[0], files[0]
    if len(first.names or ()) > _MOST_COLUMNS or first.width > _MOST_COLUMNS:
        raise FileError(f"{source.name} has more than {_MOST_COLUMNS:,} columns")
    if first.delimiter[0] == " ":
        for file in files:
            holds.append(_with_tabs(file, first.delimiter))
            file.path, file.packed = path_of(holds[-1]), False
    length = len(text.head.encode()) / max(1, text.head.count("\n") or text.head.count("\r"))
    engine = Engine([file.path for file in files], text_shape=(first.width, length))
    named = first.names or numbered_names(first.width)
    parts = [{k: v for k, v in part.items() if k not in named} for part in source.partitions()]
    selects = [
        f"select *{''.join(f', {quoted_text(v)} as h{i}' for i, v in enumerate(part.values()))} "
        f"from {_select(file, layout)}"
        for file, layout, part in zip(files, layouts, parts, strict=True)
    ]
    names, renamed = unique_names([*named, *parts[0]])
    cells = [*(f"c{i}" for i in range(len(named))), *(f"h{i}" for i in range(len(parts[0])))]
    notes = [*first.notes, *(f"renamed {note}" for note in renamed)]
    if text.encoding == "cp1252" and source.encoding is None:
        notes.append("text is not UTF-8; read as Windows-1252 (--encoding)")
    table = Table(
        name=source.name, engine=engine,
        source=f"({' union all '.join(selects)})",
        columns={n: TableColumn(n, cell, "text") for n, cell in zip(names, cells, strict=True)},
        notes=notes, missing=missing, n_rows=None,
        about_rows=max(1, round(sum(file.n_bytes for file in files) / max(length, 1.0))),
        place=_places(files, layouts), strict=options.strict, too_much=f"c{first.width}",
        holds=holds,
    )  # fmt: skip
    if first.width > MOST_AT_ONCE:
        pieces = list(zip(files, layouts, parts, strict=True))
        table.records = lambda: chain.from_iterable(_records(*piece) for piece in pieces)
    look(table, options)
    return table


def _layout(file: TextFile, missing: frozenset[str], wished: LayoutOptions) -> Layout:
    try:
        layout = find_layout(file.head, file.tail, missing, wished)
    except FileError as error:
        raise FileError(f"{file.name} {error}") from None
    if layout.quote == '"' and file.n_quotes % 2:
        if (line := _open_quote(file, layout)) is not None:
            raise located(file.name, "a quote is never closed", place=f"line {line}")
        if not re.search(rf'(?:^|[{re.escape(layout.delimiter)}])\s*"', file.head, re.M):
            return replace(layout, quote="", escape="")
    return layout


def _open_quote(file: TextFile, layout: Layout) -> int | None:
    """Return the line with the quote that is never closed, if there is one."""
    opened: int | None = None
    # a quote opens at the start of a cell; it closes before the end of one
    opening = re.compile(rf'(?:^|{re.escape(layout.delimiter)})[ ]*"')
    inside = r'(?:[^"\\]|\\.|"")*"' if layout.escape == "\\" else r'(?:[^"]|"")*"'
    closing = re.compile(inside, re.S)
    for number, line in enumerate(file.lines(), 1):
        at = 0
        while True:
            match = (opening if opened is None else closing).search(line, at)
            if match is None or (opened is not None and match.start() > at):
                break
            opened, at = (number if opened is None else None), match.end()
    return opened


def _check_alike(files: Sequence[TextFile], layouts: Sequence[Layout]) -> None:
    first = layouts[0]
    for file, layout in zip(files, layouts, strict=True):
        if layout.names != first.names or layout.width != first.width:
            raise FileError(
                f"{file.name} has other columns than {files[0].name}; read them one by one, or "
                "name those that belong together"
            )


def _select(file: TextFile, layout: Layout) -> str:
    """Return the rows of a text file as something to select from."""
    delimiter = "\t" if layout.delimiter[0] == " " else layout.delimiter
    # one more, which catches what is too much
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(layout.width + 1))
    packing = ", compression = 'gzip'" if file.packed else ", compression = 'none'"
    read = (
        f"read_csv({quoted_text(file.path)}, columns = {{{columns}}}, auto_detect = false, "
        f"header = false, delim = {quoted_text(delimiter)}, quote = {quoted_text(layout.quote)}, "
        f"escape = {quoted_text(layout.escape)}, skip = {layout.skip}, null_padding = true, "
        f"strict_mode = false, parallel = false, max_line_size = {LONGEST_LINE}, "
        f"buffer_size = {2 * LONGEST_LINE}{packing})"
    )
    cells = [f"c{i}" for i in range(layout.width)]
    drawn = quoted_text(RULES)
    some = ", ".join(f"nullif(trim({cell}, {drawn}), '')" for cell in cells)
    # to trim takes longer than to read; what begins with a digit need not be looked at twice
    digits = "(c0 >= '0' and c0 < ':' or c0 >= '-0' and c0 < '-:')"
    full, tests = [f"({digits} or coalesce({some}) is not null)"], ["true"]
    if layout.comment:
        full.append(f"(c0 is null or not starts_with(c0, {quoted_text(layout.comment)}))")
    if layout.left_out:
        firsts = ", ".join(quoted_text(clean(record[0])) for record in layout.left_out)
        wholes = ", ".join(quoted_text(_joined(record, layout)) for record in layout.left_out)
        parts = ", ".join(f"coalesce(trim({cell}, {_SPACE}), '')" for cell in cells)
        whole = f"concat_ws('{_MARK}', {parts}) in ({wholes})"
        first = f"coalesce(trim(c0, {_SPACE}), '') in ({firsts})"
        numeric = any(re.match(r"-?\d", clean(record[0])) for record in layout.left_out)
        quickly = "false" if numeric else digits
        tests.append(f"({quickly} or not (case when {first} then {whole} else false end))")
    offset = f" offset {layout.above}" if layout.above else ""
    rows = f"select * from {read} where {' and '.join(full)}{offset}"
    table = f"(select * from ({rows}) where {' and '.join(tests)})"
    if layout.below:
        rest = f"(select greatest(count(*) - {layout.below}, 0) from {table})"
        table = f"(select * from {table} limit {rest})"
    return table


def _joined(record: Sequence[str], layout: Layout) -> str:
    """Return the cells of a record as one text."""
    cells = [clean(cell) for cell in record[: layout.width]]
    return _MARK.join(cells + [""] * (layout.width - len(cells)))


def _records(file: TextFile, layout: Layout, part: Mapping[str, str]) -> Iterator[list[str]]:
    """Yield the cells of each row and one more, which holds what is too much; in plain Python."""
    left_out = {_joined(record, layout) for record in layout.left_out}
    records = records_of(file.read(), layout, layout.skip)
    rows = islice(records, layout.above, None)
    for record in _without_last(rows, layout.below):
        if _joined(record.cells, layout) not in left_out:
            cells = record.cells + [""] * (layout.width + 1 - len(record.cells))
            yield [*cells[: layout.width], *part.values(), cells[layout.width]]


def _without_last(records: Iterator[Record], n_last: int) -> Iterator[Record]:
    held: deque[Record] = deque()
    for record in records:
        held.append(record)
        if len(held) > n_last:
            yield held.popleft()


def _places(files: Sequence[TextFile], layouts: Sequence[Layout]) -> Callable[[int], str]:
    """Return a function that tells the line of a row, by reading the file again."""
    starts: dict[str, list[int]] = {}

    def place(row: int) -> str:
        for file, layout in zip(files, layouts, strict=True):
            if len(files) > 1 or file.n_bytes > _LARGE:
                break
            lines = starts.get(file.name) or [
                record.line for record in records_of(file.read(), layout, layout.skip)
            ]
            starts[file.name] = lines
            if row + layout.above < len(lines):
                return f"line {lines[row + layout.above] + 1}"
        return f"row {row + 1}"

    return place


def _with_tabs(file: TextFile, delimiter: str) -> IO[bytes]:
    """Return a copy with a tab in place of any spaces between cells."""
    copy = temporary()
    for line in file.lines():
        copy.write(("\t".join(split(line, delimiter)) + "\n").encode())
    copy.flush()
    return copy


def _sheet_as_text(path: Path, name: str, sheet: str | None) -> IO[bytes]:
    """Return a sheet of a workbook as CSV."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise FileError(
            f'{name} is a workbook or archive; workbooks need: pip install "setatoms[excel]"'
        ) from None
    try:
        book = CalamineWorkbook.from_path(str(path))
        names = book.sheet_names
        if sheet is not None and sheet not in names:
            has = ", ".join(map(repr, names))
            raise FileError(f"{name} has the sheets {has}; name one of them by --table")
        wanted = names if sheet is None else [sheet]
        rows = _first_table(book.get_sheet_by_name(each).to_python() for each in wanted)
    except (CalamineError, OSError, ValueError, IndexError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{name} cannot be read as a workbook: {error}") from None
    copy = temporary()
    text = io.TextIOWrapper(copy, encoding="utf-8", newline="", write_through=True)
    csv.writer(text).writerows(rows)
    text.flush()
    text.detach()
    return copy


def _first_table(sheets: Iterator[list[list[Any]]]) -> list[list[Any]]:
    """Return the first of some sheets that has rows and columns; else the first."""
    first = next(sheets, [])
    for rows in chain([first], sheets):
        if len(rows) > 2 and max(map(len, rows)) > 1:
            return rows
    return first


def _unpacked(path: Path, name: str) -> IO[bytes]:
    """Return what a file packed with Zstandard holds."""
    engine = Engine([path])
    copy = temporary()
    lines = (
        f"select line from read_csv({quoted_text(path)}, columns = {{'line': 'VARCHAR'}}, "
        "auto_detect = false, header = false, delim = '\x01', quote = '', escape = '', "
        f"compression = 'zstd', parallel = false, max_line_size = {LONGEST_LINE})"
    )
    try:
        for batch in engine.stream(lines, 0):
            copy.write("".join(f"{line or ''}\n" for line in batch.words[0]).encode())
    except FileError as error:
        raise FileError(f"{name} cannot be unpacked: {error}") from None
    copy.flush()
    return copy


def _checked(delimiter: str) -> str:
    delimiter = {"\\t": "\t", "tab": "\t", "space": SPACES}.get(delimiter, delimiter)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise FileError(f"delimiter {delimiter!r} must be one ASCII character that is no quote")
    return delimiter
