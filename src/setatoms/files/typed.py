"""Tables whose columns have types: Parquet, JSON, DuckDB's own, and what a query selects."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import duckdb

from setatoms.files.engine import Engine, quoted_name, quoted_text
from setatoms.files.errors import FileError
from setatoms.files.names import unique_names
from setatoms.files.options import ReadOptions
from setatoms.files.remedies import IN_PYTHON
from setatoms.files.sources import Source
from setatoms.files.tables import Table, TableColumn, look

# Of an object, as columns; more fields are keys rather than names.
_MOST_FIELDS = 100


def open_parquet(source: Source, missing: frozenset[str], options: ReadOptions) -> Table:
    """Open Parquet files of the same columns as one table."""
    files = ", ".join(map(quoted_text, source.paths))
    rows = f"read_parquet([{files}]{_hive(source)})"
    return _typed_table(source.name, Engine(source.paths), rows, missing, options)


def _hive(source: Source) -> str:
    return f", hive_partitioning = {'true' if any(source.partitions()) else 'false'}"


def open_frame(frame: Any, missing: frozenset[str], options: ReadOptions) -> Table:
    """Open a frame of pandas or polars."""
    if not hasattr(frame, "columns"):
        raise FileError(f"expected a frame with named columns, found {type(frame).__name__}")
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise FileError("the frame has several columns of the same name; rename them")
    if hasattr(frame, "set_axis"):
        frame = frame.set_axis(names, axis=1)
    table = _typed_table("the frame", Engine([], frame=frame), "frame", missing, options)
    table.remedies = IN_PYTHON
    return table


def open_query(missing: frozenset[str], options: ReadOptions) -> Table:
    """Open what a query selects."""
    return _typed_table("the query", *_query(options), missing, options)


def _query(options: ReadOptions) -> tuple[Engine, str]:
    """Return a connection that may read the files a query names, and what to select from."""
    query = str(options.query).strip().rstrip(";")
    try:
        statements = duckdb.extract_statements(query)
    except duckdb.Error as error:
        raise FileError(f"the query cannot be read: {str(error).splitlines()[0]}") from None
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise FileError("the query must be one select; it may not write, attach or set anything")
    # the file names of a query stand in it, in quotes of either kind; comments are none of it
    comments = r"('(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")|--[^\n]*|/\*.*?\*/"
    bare = re.sub(comments, r"\1", query, flags=re.S)
    texts = re.findall(r"'((?:[^']|'')*)'|\"((?:[^\"]|\"\")*)\"", bare)
    paths = [one.replace("''", "'") or two.replace('""', '"') for one, two in texts]
    return Engine(paths), f"(\n{query}\n)"


def open_json(source: Source, missing: frozenset[str], options: ReadOptions) -> Table:
    """Open JSON: an array of objects, one object on each line, or one that holds an array."""
    engine = Engine(source.paths)
    files = ", ".join(map(quoted_text, source.paths))
    packing = ", compression = 'gzip'" if source.start().startswith(b"\x1f\x8b") else ""
    table = f"read_json([{files}], sample_size = -1, union_by_name = true{_hive(source)}, "
    table += f"maximum_object_size = {max(source.size, 1 << 24)}{packing})"
    try:
        described = engine.describe(table)
        records = [name for name, kind in described if re.fullmatch(r"STRUCT\(.*\)\[\]", kind)]
        if records and engine.run(f"select count(*) from {table}")[0][0] == 1:
            # one object that holds the rows
            rows = f"select unnest({quoted_name(records[0])}) as row from {table}"
            table = f"(select row.* from ({rows}))"
            described = engine.describe(table)
        (n_rows,) = engine.run(f"select count(*) from {table}")[0]
    except FileError as error:
        raise FileError(f"{source.name} cannot be read as JSON: {error}") from None
    if [name for name, _ in described] == ["json"]:
        raise FileError(
            f'{source.name}: expected objects, as {{"size": 1.5}}, one for each row of the table'
        )
    return _described(source.name, engine, table, described, int(n_rows), missing, options)


def open_database(source: Source, missing: frozenset[str], options: ReadOptions) -> Table:
    """Open a table of a DuckDB database."""
    try:
        if len(source.paths) > 1:
            raise FileError("there are several; name one of them")
        engine = Engine([], attach=source.paths[0])
        found = engine.run(
            "select schema_name, table_name from duckdb_tables() union all "
            "select schema_name, view_name from duckdb_views() where not internal"
        )
    except FileError as error:
        raise FileError(f"{source.name} cannot be read as a DuckDB database: {error}") from None
    # those of the usual schema by their own name
    tables = {
        table if schema == "main" else f"{schema}.{table}": (schema, table)
        for schema, table in found
    }
    wanted = options.table or (next(iter(tables)) if len(tables) == 1 else None)
    if wanted not in tables:
        has = ", ".join(map(repr, list(tables)[:20])) or "none"
        raise FileError(f"{source.name} has the tables {has}; name one with --table")
    place = ".".join(map(quoted_name, tables[wanted]))
    return _typed_table(source.name, engine, place, missing, options)


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
) -> Table:
    cells = [cell for column, kind in described for cell in _cells(engine, source, column, kind)]
    names, notes = unique_names([column for column, _, _ in cells])
    columns = {
        given: TableColumn(given, cell, _kind(kind))
        for given, (_, cell, kind) in zip(names, cells, strict=True)
    }
    table = Table(
        name=name, engine=engine, source=source, columns=columns,
        notes=[f"renamed {note}" for note in notes], missing=missing, n_rows=n_rows,
        about_rows=n_rows or 0, place=_place, strict=options.strict,
    )  # fmt: skip
    look(table, options)
    return table


def _place(row: int) -> str:
    return f"row {row + 1}"


def _cells(engine: Engine, source: str, column: str, kind: str) -> list[tuple[str, str, str]]:
    """Return name, expression and type of a column; those of its fields if it holds objects."""
    cell = quoted_name(column)
    if kind.startswith("STRUCT(") and kind.endswith(")"):
        fields = engine.describe(f"(select {cell}.* from {source})")
        if len(fields) <= _MOST_FIELDS:
            return [
                (f"{column}.{name}", _cell(f"{cell}.{quoted_name(name)}", of), of)
                for name, of in fields
            ]
    return [(column, _cell(cell, kind), kind)]


def _cell(column: str, kind: str) -> str:
    # a value of JSON as text, without quotes
    return f"({column} ->> '$')" if kind == "JSON" else column


def _kind(kind: str) -> str:
    kind = kind.upper()
    if re.fullmatch(
        r"U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DOUBLE|FLOAT|DECIMAL(?:\([\d, ]*\))?|BIGNUM", kind
    ):
        return "number"
    if kind in ("VARCHAR", "JSON") or kind.startswith("ENUM"):
        return "text"
    if kind == "BOOLEAN":
        return "boolean"
    if kind.startswith(("DATE", "TIME")) and "[" not in kind:
        return "date"
    return "opaque"
