"""DuckDB, allowed to read the files it was given and nothing else."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple
from uuid import uuid4

import duckdb
import nanoarrow
import numpy as np
from numpy.typing import NDArray

from setatoms.files.errors import FileError
from setatoms.files.sources import OPEN_FILES, path_of, temporary

# Megabytes: for queries and tables with types; for text, which stays in memory up to the limit.
_MEMORY = 400
_TEXT_MEMORY, _TEXT_MEMORY_PER_COLUMN = 56, 0.8
_LINES_AT_ONCE = 4 * 2048
# How many rows and numbers are handed on at a time, at most.
CHUNK_ROWS = 1 << 15
_CHUNK_NUMBERS = 1 << 22


class Batch(NamedTuple):
    """Some consecutive rows of an answer.

    Attributes
    ----------
    numbers : ndarray of shape (n_rows, n_numbers)
        Its columns of numbers, NaN where missing.
    words : list of list
        Its other columns, None where missing.
    """

    numbers: NDArray[np.float64]
    words: list[list[Any]]


class Engine:
    """A connection that can read these files, and write nowhere.

    Parameters
    ----------
    paths : sequence of Path or str
        Files, or patterns of their names, that may be read.
    attach : Path, optional
        A DuckDB database, whose tables are read.
    frame : pandas or polars DataFrame, optional
        What is to be known as the table ``frame``.
    text_shape : tuple of int and float, optional
        How many columns files of text have, and how long lines are, if they are such.
    """

    def __init__(
        self,
        paths: Sequence[Path | str],
        attach: Path | None = None,
        frame: Any = None,
        text_shape: tuple[int, float] | None = None,
    ) -> None:
        self.paths = [str(path) for path in paths]
        memory = _MEMORY
        if text_shape is not None:
            n_columns, length = text_shape
            memory = _TEXT_MEMORY + round(
                _TEXT_MEMORY_PER_COLUMN * n_columns + _LINES_AT_ONCE * length / 1e6
            )
        with _as_file_errors():
            self._connection = connect(self.paths, attach, memory)
        self._frame = frame

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of an answer."""
        with _as_file_errors():
            self._show_frame()
            answer = self._connection.execute(sql)
            return answer.fetchall() if answer.description else []

    def _show_frame(self) -> None:
        """Register the frame; a stream of Arrow, as polars gives, can be read once."""
        if self._frame is not None:
            stream = hasattr(self._frame, "__arrow_c_stream__") and not hasattr(self._frame, "iloc")
            self._connection.register(
                "frame", nanoarrow.ArrayStream(self._frame) if stream else self._frame
            )

    def describe(self, source: str) -> list[tuple[str, str]]:
        """Return names and types of the columns of a source."""
        return [(row[0], row[1]) for row in self.run(f"describe select * from {source}")]

    def stream(self, sql: str, n_numbers: int) -> Iterator[Batch]:
        """Yield an answer whose first `n_numbers` columns are doubles without null."""
        with _as_file_errors():
            self._show_frame()
            arrays = iter(nanoarrow.ArrayStream(self._connection.sql(sql)))
        held: list[Batch] = []
        n_held, most = 0, max(1024, min(CHUNK_ROWS, _CHUNK_NUMBERS // max(1, n_numbers)))
        while True:
            with _as_file_errors():
                array = next(arrays, None)
            if array is not None:
                held.append(_batch(array, n_numbers))
                n_held += len(held[-1].numbers)
            if held and (array is None or n_held >= most):
                yield from _cut(_merged(held), most)
                held, n_held = [], 0
            if array is None:
                return


def connect(
    paths: Sequence[str], attach: Path | None = None, memory: int = _MEMORY
) -> duckdb.DuckDBPyConnection:
    """Return a connection that can read these files or this database, and nothing else."""
    connection = duckdb.connect(
        config={
            "memory_limit": f"{memory}MB",
            # reading takes far less time than scoring, which has the other cores
            "threads": "1",
            # of its own, made when it is needed: DuckDB lets queries read what is in there
            "temp_directory": f"{tempfile.gettempdir()}/setatoms-{os.getpid()}-{uuid4().hex}",
            "autoinstall_known_extensions": "false",
            # it makes joins of long lists, after which the files of a table come in another order
            "disabled_optimizers": "in_clause",
        }
    )
    if attach is not None:
        connection.execute(f"attach {quoted_text(attach)} as source (read_only)")
        connection.execute("use source")
    else:
        # what a pattern names is in a folder
        folders = [_folder(path) for path in paths if glob.has_magic(path)]
        plain = [path for path in paths if not glob.has_magic(path)]
        connection.execute(f"set allowed_paths = [{', '.join(map(quoted_text, plain))}]")
        if folders:
            found = ", ".join(map(quoted_text, folders))
            connection.execute(f"set allowed_directories = [{found}]")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")
    return connection


def _folder(pattern: str) -> str:
    """Return the folder that a pattern of names begins with, without any sign of a pattern."""
    parts = Path(pattern).parts
    first = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    return str(Path(*parts[:first])) if first else "."


def rewrite_as_parquet(source: IO[bytes], target: IO[bytes], columns: dict[str, str]) -> None:
    """Write the rows of a CSV file that has names to a file as Parquet.

    Parameters
    ----------
    source, target : binary file objects
        From and to; files, not pipes.
    columns : dict of str to str
        The type of each column.
    """
    types = ", ".join(f"{quoted_text(name)}: '{kind}'" for name, kind in columns.items())
    source.flush()
    with _with_path(target) as path, _as_file_errors():
        duckdb.connect(config={"memory_limit": f"{_MEMORY}MB"}).execute(
            f"copy (select * from read_csv({quoted_text(path_of(source))}, columns = {{{types}}}, "
            "header = true, auto_detect = false, delim = ',', quote = '\"', escape = '\"')) "
            f"to {quoted_text(path)} (format parquet, use_tmp_file false)"
        )


@contextmanager
def _with_path(target: IO[bytes]) -> Iterator[Path]:
    """Yield a path that leads to an open file, or to one that is copied into it at the end."""
    if OPEN_FILES.is_dir():
        yield path_of(target)
        return
    with temporary() as copy:
        yield path_of(copy)
        with path_of(copy).open("rb") as written:
            shutil.copyfileobj(written, target)


def _batch(array: nanoarrow.Array, n_numbers: int) -> Batch:
    columns = nanoarrow.c_array(array)
    numbers = np.empty((len(array), n_numbers))
    for j in range(n_numbers):
        child = columns.child(j)
        values = np.frombuffer(memoryview(child.view().buffer(1)), np.float64)
        numbers[:, j] = values[child.offset : child.offset + len(array)]
    others = range(n_numbers, array.n_children)
    return Batch(numbers, [_words(columns.child(j), array.child(j)) for j in others])


def _words(column: nanoarrow.c_array.CArray, words: nanoarrow.Array) -> list[Any]:
    if column.null_count == len(words):
        return [None] * len(words)
    found: list[Any] = words.to_pylist()
    return found


def _cut(batch: Batch, n_rows: int) -> Iterator[Batch]:
    for start in range(0, len(batch.numbers), n_rows):
        part = slice(start, start + n_rows)
        yield Batch(batch.numbers[part], [words[part] for words in batch.words])


def _merged(batches: list[Batch]) -> Batch:
    if len(batches) == 1:
        return batches[0]
    words = zip(*(batch.words for batch in batches), strict=True)
    return Batch(
        np.concatenate([batch.numbers for batch in batches]),
        [[word for part in parts for word in part] for parts in words],
    )


class _as_file_errors:  # noqa: N801  reads as what it does
    """Turn what DuckDB says into one line."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if isinstance(error, (duckdb.Error, nanoarrow._utils.NanoarrowException)):
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            raise FileError(" ".join(lines[:2])[:300] or type(error).__name__) from None


def quoted_text(text: str | Path) -> str:
    """Return a text constant of SQL.

    Examples
    --------
    >>> quoted_text("it's")
    "'it''s'"
    """
    return "'" + str(text).replace("'", "''") + "'"


def quoted_name(name: str) -> str:
    """Return the name of a column in SQL, in double quotes."""
    return '"' + name.replace('"', '""') + '"'
