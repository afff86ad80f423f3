"""Open a table whatever its format: where DuckDB finds its cells, and what they are."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from setatoms.files.engine import Engine, quoted_name, quoted_text
from setatoms.files.errors import FileError, located
from setatoms.files.layout import RULES, SPACES, Layout, LayoutOptions, find_layout, records_of, split
from setatoms.files.names import numbered_names, unique_names
from setatoms.files.sources import Source, TextFile, is_packed_otherwise, path_of, temporary
from setatoms.files.written import MISSING, Style, booleans_of, clean, is_date, is_missing

FORMATS = ("csv", "tsv", "parquet", "json", "jsonl", "excel", "duckdb")

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
_LONGEST_LINE = 4 << 20
_MOST_COLUMNS = 200_000
_SAMPLE_ROWS, _SAMPLE_CELLS = 20_000, 2_000_000
# Text with more different values is no category.
FEW = 20


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


@dataclass
class TableColumn:
    """A column of a table.

    Attributes
    ----------
    name : str
        Its name, unlike all others.
    cell : str
        An expression for its cells in SQL.
    kind : {"number", "boolean", "text", "date", "opaque"}
        What its cells are; for text, see the others.
    style : Style or None
        How text writes numbers, if it does.
    values : dict or None
        How often each value of text occurs in the first rows, if they are few.
    whole, codes : bool
        Whether the first rows hold whole numbers only; and some with a zero in front.
    """

    name: str
    cell: str
    kind: str
    style: Style | None = None
    values: dict[str, int] | None = None
    codes: bool = False

    @property
    def numeric(self) -> bool:
        """Whether its cells are numbers."""
        return self.kind == "number" or (self.kind == "text" and self.style is not None)

    def number(self) -> str:
        """Return an expression for the finite number in a cell, null where there is none."""
        if self.style is not None:
            return self.style.sql(self.cell)
        number = f"try_cast({self.cell} as double)"
        return f"case when isfinite({number}) then {number} end"

    def text(self) -> str:
        """Return an expression for a cell as text."""
        return self.cell if self.kind == "text" else f"cast({self.cell} as varchar)"


@dataclass
class Table:
    """A table that DuckDB reads.

    Attributes
    ----------
    name : str
        The file's name, for messages.
    engine : Engine
        Reads it.
    source : str
        What to select from.
    columns : dict of str to TableColumn
        Its columns by name.
    notes : list of str
        What was done to read it.
    missing : frozenset of str
        Words that stand for a missing value, in lower case.
    n_rows : int or None
        How many rows it has, where that is known before reading.
    about_rows : int
        About how many rows it has.
    place : callable
        Returns where a row, counted from 0, is in the file, as ``line 3``.
    strict : bool
        Whether a cell that is no number among numbers is an error.
    """

    name: str
    engine: Engine
    source: str
    columns: dict[str, TableColumn]
    notes: list[str]
    missing: frozenset[str]
    n_rows: int | None
    about_rows: int
    place: Callable[[int], str]
    strict: bool = False
    holds: list[Any] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The names of its columns."""
        return list(self.columns)

    def is_missing(self, cell: str) -> str:
        """Return an expression that tells whether a cell of text stands for no value."""
        words = "|".join(map(re.escape, sorted(self.missing)))
        pattern = quoted_text(rf"(?i)[\s\x{{a0}}]*(?:{words})[\s\x{{a0}}]*")
        return f"regexp_full_match({cell}, {pattern})"


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
    missing = MISSING | {clean(word).lower() for word in options.missing}
    if source is None:
        return _typed_table("the query", *_query(options), missing, options)
    kind = options.format or _guess_format(source)
    if kind == "parquet":
        opened = Engine(source.paths)
        files = ", ".join(map(quoted_text, source.paths))
        hive = "true" if any("=" in path for path in source.paths) else "false"
        table = f"read_parquet([{files}], hive_partitioning = {hive}, file_row_number = false)"
        return _typed_table(source.name, opened, table, missing, options)
    if kind in ("json", "jsonl"):
        return _json_table(source, missing, options)
    if kind == "duckdb":
        return _database_table(source, missing, options)
    return _delimited_table(source, kind, missing, options)


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
    suffixes = [suffix for suffix in source.suffixes if suffix not in _PACKED]
    return _BY_SUFFIX.get(suffixes[-1], "csv") if suffixes else "csv"


def _query(options: ReadOptions) -> tuple[Engine, str]:
    """Return a connection that may read the files a query names, and what to select from."""
    import duckdb

    query = str(options.query).strip().rstrip(";")
    try:
        statements = duckdb.extract_statements(query)
    except duckdb.Error as error:
        raise FileError(f"the query cannot be read: {str(error).splitlines()[0]}") from None
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise FileError("the query must be one select; it may not write, attach or set anything")
    # the file names of a query stand in it
    paths = [text.replace("''", "'") for text in re.findall(r"'((?:[^']|'')*)'", query)]
    return Engine(paths), f"({query})"


def _typed_table(
    name: str, engine: Engine, source: str, missing: frozenset[str], options: ReadOptions
) -> Table:
    """Return a table whose columns have types."""
    try:
        described = engine.describe(source)
        (n_rows,) = engine.run(f"select count(*) from {source}")[0]
    except FileError as error:
        raise FileError(f"{name} cannot be read as a table: {error}") from None
    return _described(name, engine, source, described, int(n_rows), missing, options)


def _described(
    name: str,
    engine: Engine,
    source: str,
    described: Sequence[tuple[str, str]],
    n_rows: int | None,
    missing: frozenset[str],
    options: ReadOptions,
    about_rows: int = 0,
) -> Table:
    names, notes = unique_names([column for column, _ in described])
    columns = {
        given: TableColumn(given, _cell(quoted_name(column), kind), _kind(kind))
        for given, (column, kind) in zip(names, described, strict=True)
    }
    table = Table(
        name=name, engine=engine, source=source, columns=columns,
        notes=[f"renamed {note}" for note in notes], missing=missing, n_rows=n_rows,
        about_rows=n_rows or about_rows, place=lambda row: f"row {row + 1}", strict=options.strict,
    )  # fmt: skip
    _look(table, options)
    return table


def _cell(column: str, kind: str) -> str:
    # a value of JSON as text, without quotes
    return f"({column} ->> '$')" if kind == "JSON" else column


def _kind(kind: str) -> str:
    kind = kind.upper()
    if re.match(r"(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DOUBLE|FLOAT|DECIMAL|BIGNUM)", kind):
        return "number" if "[" not in kind else "opaque"
    if kind in ("VARCHAR", "JSON") or kind.startswith("ENUM"):
        return "text"
    if kind == "BOOLEAN":
        return "boolean"
    if kind.startswith(("DATE", "TIME")) and "[" not in kind:
        return "date"
    return "opaque"


def _json_table(source: Source, missing: frozenset[str], options: ReadOptions) -> Table:
    engine = Engine(source.paths)
    files = ", ".join(map(quoted_text, source.paths))
    packing = ", compression = 'gzip'" if source.start().startswith(b"\x1f\x8b") else ""
    table = f"read_json([{files}], sample_size = -1, union_by_name = true{packing})"
    try:
        described = engine.describe(table)
        records = [name for name, kind in described if re.fullmatch(r"STRUCT\(.*\)\[\]", kind)]
        if records and engine.run(f"select count(*) from {table}")[0][0] == 1:
            # one object that holds the rows
            table = f"(select row.* from (select unnest({quoted_name(records[0])}) as row from {table}))"
            described = engine.describe(table)
        (n_rows,) = engine.run(f"select count(*) from {table}")[0]
    except FileError as error:
        raise FileError(f"{source.name} cannot be read as JSON: {error}") from None
    if [name for name, _ in described] == ["json"]:
        raise FileError(
            f'{source.name}: expected objects, as {{"size": 1.5}}, one for each row of the table'
        )
    return _described(source.name, engine, table, described, int(n_rows), missing, options)


def _database_table(source: Source, missing: frozenset[str], options: ReadOptions) -> Table:
    try:
        engine = Engine([], attach=source.paths[0])
        tables = [row[0] for row in engine.run("select table_name from duckdb_tables()")]
        tables += [
            row[0] for row in engine.run("select view_name from duckdb_views() where not internal")
        ]
    except FileError as error:
        raise FileError(f"{source.name} cannot be read as a DuckDB database: {error}") from None
    wanted = options.table or (tables[0] if len(tables) == 1 else None)
    if wanted not in tables:
        has = ", ".join(map(repr, tables[:20])) or "none"
        raise FileError(f"{source.name} has the tables {has}; name one with --table")
    return _typed_table(source.name, engine, quoted_name(str(wanted)), missing, options)


def _delimited_table(
    source: Source, kind: str, missing: frozenset[str], options: ReadOptions
) -> Table:
    holds: list[Any] = [source]
    files = []
    for path in source.paths:
        name = source.name if len(source.paths) == 1 else path
        if kind == "excel":
            holds.append(_sheet_as_text(path, name, options.table))
            path = path_of(holds[-1])
        elif is_packed_otherwise(source.start()):
            holds.append(_unpacked(path))
            path = path_of(holds[-1])
        files.append(TextFile(path, name, source.encoding))
    holds += files
    delimiter = options.delimiter or ("\t" if kind == "tsv" else None)
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
    engine = Engine([file.path for file in files])
    selects = [_select(file, layout) for file, layout in zip(files, layouts, strict=True)]
    names, renamed = unique_names(first.names or [])
    names = names or numbered_names(first.width)
    notes = [*first.notes, *(f"renamed {note}" for note in renamed)]
    if text.encoding == "cp1252" and source.encoding is None:
        notes.append("text is not UTF-8; read as Windows-1252 (--encoding)")
    length = len(text.head.encode()) / max(1, text.head.count("\n") or text.head.count("\r"))
    table = Table(
        name=source.name, engine=engine,
        source=selects[0] if len(selects) == 1 else f"({' union all '.join(f'from {s}' for s in selects)})",
        columns={name: TableColumn(name, f"c{i}", "text") for i, name in enumerate(names)},
        notes=notes, missing=missing, n_rows=None,
        about_rows=max(1, round(sum(file.n_bytes for file in files) / max(length, 1.0))),
        place=_places(files, layouts), strict=options.strict, holds=holds,
    )  # fmt: skip
    _look(table, options)
    return table


def _layout(file: TextFile, missing: frozenset[str], wished: LayoutOptions) -> Layout:
    try:
        layout = find_layout(file.head, file.tail, missing, wished)
    except FileError as error:
        raise FileError(f"{file.name} {error}") from None
    if layout.quote == '"' and file.n_quotes % 2:
        from dataclasses import replace

        if re.search(rf'(?:^|[{re.escape(layout.delimiter)}])\s*"', file.head, re.M):
            raise located(file.name, "a quote is never closed", place=_last_record(file, layout))
        return replace(layout, quote="", escape="")
    return layout


def _last_record(file: TextFile, layout: Layout) -> str:
    with open(file.path, encoding="utf-8", errors="replace", newline="") as stream:
        text = stream.read() if not file.packed else file.head
    line = 0
    for record in records_of(text, layout, layout.skip):
        line = record.line
    return f"line {line + 1}"


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
        f"strict_mode = false, parallel = false, max_line_size = {_LONGEST_LINE}, "
        f"buffer_size = {2 * _LONGEST_LINE}{packing})"
    )
    cells = [f"c{i}" for i in range(layout.width)]
    drawn = quoted_text(RULES)
    some = ", ".join(f"nullif(trim({cell}, {drawn}), '')" for cell in cells)
    tests = [f"coalesce({some}) is not null"]
    if layout.comment:
        tests.append(f"(c0 is null or not starts_with(c0, {quoted_text(layout.comment)}))")
    if layout.footer:
        notes = ", ".join(quoted_text(clean(note)) for note in layout.footer)
        few = max(1, layout.width // 2 + layout.width % 2)
        full = " + ".join(f"(coalesce(trim({cell}), '') != '')::int" for cell in cells)
        tests.append(f"not coalesce(trim(c0) in ({notes}) and ({full}) <= {few}, false)")
    offset = f" offset {layout.above}" if layout.above else ""
    return f"(select * from (select * from {read}{offset}) where {' and '.join(tests)})"


def _places(files: Sequence[TextFile], layouts: Sequence[Layout]) -> Callable[[int], str]:
    """Return a function that tells the line of a row, by reading the file again."""

    def place(row: int) -> str:
        for file, layout in zip(files, layouts, strict=True):
            if file.packed or len(files) > 1 or row > 2_000_000:
                break
            with open(file.path, encoding="utf-8", errors="replace", newline="") as stream:
                records = records_of(stream.read(), layout, layout.skip)
                for i, record in enumerate(records):
                    if i == row + layout.above:
                        return f"line {record.line + 1}"
        return f"row {row + 1}"

    return place


def _with_tabs(file: TextFile, delimiter: str) -> IO[bytes]:
    """Return a copy with a tab in place of any spaces between cells."""
    copy = temporary()
    with file._opened() as stream:
        for line in io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace"):
            copy.write(("\t".join(split(line, delimiter)) + "\n").encode())
    copy.flush()
    return copy


def _sheet_as_text(path: str, name: str, sheet: str | None) -> IO[bytes]:
    """Return a sheet of a workbook as CSV."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise FileError(
            f'{name} is a workbook or archive; workbooks need: pip install "setatoms[excel]"'
        ) from None
    try:
        book = CalamineWorkbook.from_path(path)
        names = book.sheet_names
        if sheet is not None and sheet not in names:
            raise FileError(f"{name} has the sheets {', '.join(map(repr, names))}; name one of them")
        rows = book.get_sheet_by_name(sheet or names[0]).to_python()
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


def _unpacked(path: str) -> IO[bytes]:
    """Return what a file packed with Zstandard holds."""
    engine = Engine([path])
    copy = temporary()
    lines = (
        f"select line from read_csv({quoted_text(path)}, columns = {{'line': 'VARCHAR'}}, "
        "auto_detect = false, header = false, delim = '\x01', quote = '', escape = '', "
        f"compression = 'zstd', parallel = false, max_line_size = {_LONGEST_LINE})"
    )
    for batch in engine.stream(lines, 0):
        copy.write("".join(f"{line}\n" for line in batch.words[0]).encode())
    copy.flush()
    return copy


def _checked(delimiter: str) -> str:
    delimiter = {"\\t": "\t", "tab": "\t", "space": SPACES}.get(delimiter, delimiter)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise FileError(f"delimiter {delimiter!r} must be one ASCII character that is no quote")
    return delimiter


def _look(table: Table, options: ReadOptions) -> None:
    """Find out from the first rows what text columns hold."""
    texts = [column for column in table.columns.values() if column.kind == "text"]
    if not texts:
        return
    n_rows = max(100, min(_SAMPLE_ROWS, _SAMPLE_CELLS // len(texts)))
    cells = ", ".join(column.cell for column in texts)
    words: list[list[str]] = [[] for _ in texts]
    try:
        for batch in table.engine.stream(f"select {cells} from {table.source} limit {n_rows}", 0):
            for column, more in zip(words, batch.words, strict=True):
                column += [word for word in more if not is_missing(word, table.missing)]
    except FileError as error:
        raise FileError(f"{table.name} cannot be read as a table: {error}") from None
    decimal, thousands = options.decimal, options.thousands
    styles = [Style.of(some, decimal, thousands) if some else Style() for some in words]
    if decimal is None and _commas_mark_decimals(styles, words):
        styles = [Style.of(some, ",", thousands) if some else Style() for some in words]
        table.notes.append("read commas as decimal marks")
    for column, style, some in zip(texts, styles, words, strict=True):
        _settle(column, style, some)


def _commas_mark_decimals(styles: Sequence[Style | None], words: Sequence[list[str]]) -> bool:
    """Tell whether commas mark decimals in some columns and points in none."""
    known = [
        style for style, some in zip(styles, words, strict=True) if style is not None and some
    ]
    points = [
        some
        for style, some in zip(styles, words, strict=True)
        if style is not None and style.decimal == "." and any("." in word for word in some)
    ]
    grouped = re.compile(r"\D*\d{1,3}(?:\.\d{3})+\D*")
    real_points = any(not grouped.fullmatch(w) for some in points for w in some if "." in w)
    return any(style.decimal == "," for style in known) and not real_points


def _settle(column: TableColumn, style: Style | None, words: Sequence[str]) -> None:
    """Write to a text column what its first rows say."""
    stripped = [clean(word) for word in words]
    distinct = dict.fromkeys(stripped)
    if stripped and all(map(is_date, list(distinct)[:1000])):
        column.kind = "date"
        return
    column.style = style
    column.codes = any(re.fullmatch(r"0\d+", word) for word in distinct)
    if style is None and len(distinct) <= FEW:
        column.values = {word: stripped.count(word) for word in distinct}
        if booleans_of(distinct) is not None:
            column.kind = "boolean"
