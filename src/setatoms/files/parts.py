"""Parts of a table in Parquet files, each read wherever its file can be seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from setatoms.files.engine import CHUNK_ROWS, Engine, quoted_name, quoted_text
from setatoms.files.errors import FileError, listed, quoted
from setatoms.files.sources import Source
from setatoms.files.tables import Table

# So many a part, about; a part is held in memory.
_NUMBERS = 1 << 23
_PARQUET = b"PAR1"
_ROW = "file_row_number"


class Part(NamedTuple):
    """Some consecutive rows of one file.

    Attributes
    ----------
    number : int
        Which of the parts it is, from 0.
    path : str
        The file.
    start : int
        The first of them in the file, from 0.
    n_rows : int
        How many there are.
    first_row : int
        The first of them in the whole table, from 0.
    whole : bool
        Whether these are all rows of the file.
    """

    number: int
    path: str
    start: int
    n_rows: int
    first_row: int
    whole: bool


@dataclass(frozen=True)
class PartReader:
    """Opens a part of a table as the whole table was opened.

    Attributes
    ----------
    table : Table
        The whole table, without what reads it.
    types : dict of str to str
        The type of each column in the first file.
    folders : dict of str to str
        The types of columns that folders as ``year=2024`` stand for.
    """

    table: Table
    types: dict[str, str]
    folders: dict[str, str]

    def open(self, part: Part) -> Table:
        """Return a part as a table of its own.

        Raises
        ------
        FileError
            If the file is not there, or has other columns or types than the first one.
        """
        if not Path(part.path).is_file():
            raise FileError(
                f"{part.path} cannot be seen by the worker that is to read it; keep files where "
                "this machine and all workers find them under the same path"
            )
        engine = Engine([part.path])
        self._check_types(engine, part)
        rows = self._rows(part, counted=not part.whole)
        if not part.whole:
            end = part.start + part.n_rows
            rows = f"(select * from {rows} where {_ROW} >= {part.start} and {_ROW} < {end})"
        return replace(
            self.table, name=part.path, engine=engine, source=rows, n_rows=part.n_rows,
            about_rows=part.n_rows, place=_Place(part.start),
        )  # fmt: skip

    def _rows(self, part: Part, counted: bool) -> str:
        options = f", hive_partitioning = {'true' if self.folders else 'false'}"
        if self.folders:
            types = ", ".join(f"{quoted_name(n)}: {kind}" for n, kind in self.folders.items())
            options += f", hive_types = {{{types}}}"
        if counted:
            options += f", {_ROW} = true"
        return f"read_parquet([{quoted_text(part.path)}]{options})"

    def _check_types(self, engine: Engine, part: Part) -> None:
        try:
            found = dict(engine.describe(self._rows(part, counted=False)))
        except FileError as error:
            raise FileError(f"{part.path} cannot be read as a table: {error}") from None
        absent = [name for name in self.types if name not in found]
        if absent:
            raise FileError(
                f"{part.path} has no column {listed(absent)}, which the first file of "
                f"{self.table.name} has; give files that have the same columns"
            )
        for name, kind in self.types.items():
            if found[name] != kind:
                raise FileError(
                    f"{part.path}, column {quoted(name)}: of type {found[name]}, and {kind} in the "
                    f"first file of {self.table.name}; write all files with the same types"
                )


class _Place:
    """Where a row is in its file."""

    def __init__(self, start: int) -> None:
        self._start = start

    def __call__(self, row: int) -> str:
        return f"row {self._start + row + 1}"


def cut_table(source: Source | None, table: Table) -> tuple[PartReader, list[Part]]:
    """Return parts of a table, in order, and what opens them.

    Parameters
    ----------
    source : Source or None
        Where the table comes from.
    table : Table
        The whole table.

    Raises
    ------
    FileError
        If it is not in Parquet files that others can see too.
    """
    if source is None or not source.in_place:
        name = table.name if source is None else source.name
        raise FileError(
            f"{name}: workers read Parquet files where they are; write it to such files first"
        )
    for path in source.paths:
        if source.start(path)[: len(_PARQUET)] != _PARQUET:
            raise FileError(
                f"{path} is no Parquet file; workers read nothing else, so write it as Parquet"
            )
    types = dict(table.engine.describe(table.source))
    names = source.partitions()[0]
    folders = {name: types[name] for name in names if name in types}
    reader = PartReader(table.detached(), types, folders)
    return reader, list(_parts(source, table, split=_ROW not in types))


def _parts(source: Source, table: Table, split: bool) -> Iterator[Part]:
    files = ", ".join(map(quoted_text, source.paths))
    facts = table.engine.run(
        f"select file_name, num_rows, num_row_groups from parquet_file_metadata([{files}])"
    )
    sizes = {name: (n_rows, n_groups) for name, n_rows, n_groups in facts}
    most = max(CHUNK_ROWS, _NUMBERS // max(1, len(table.columns)))
    number = first = 0
    for path in source.paths:
        n_rows, n_groups = sizes[str(path)]
        step = _step(n_rows, n_groups, most) if split else n_rows
        for start in range(0, n_rows, step) if n_rows else [0]:
            n = min(step, n_rows - start)
            yield Part(number, str(path.absolute()), start, n, first + start, n == n_rows)
            number += 1
        first += n_rows


def _step(n_rows: int, n_groups: int, most: int) -> int:
    """Return how many rows to read at a time: some whole row groups, or a share of one."""
    group = -(-n_rows // max(1, n_groups))
    if group <= most:
        return max(1, most // max(1, group) * group)
    return -(-group // -(-group // most))
