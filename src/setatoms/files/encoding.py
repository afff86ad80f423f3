"""From the columns of a file to the features of a model, the same at every reading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setatoms.files.cells import Cells, Chunk, Table, is_missing, parse_boolean
from setatoms.files.errors import BadCell, FileError, NotNumbersError, listed, located, quoted
from setatoms.files.names import unique_names
from setatoms.files.survey import infinite

Matrix = NDArray[np.float64]

_NAME_LENGTH = 60
_KINDS = ("number", "boolean", "one-hot")


@dataclass(frozen=True)
class Column:
    """A column of the file that is used.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"number", "boolean", "one-hot"}
        Whether it is taken as it is, as 0 and 1, or as one feature for each of its `values`.
    values : tuple of str
        The values that have a feature; another one at scoring is 0 in all of them.
    """

    name: str
    kind: str = "number"
    values: tuple[str, ...] = ()

    @property
    def labels(self) -> list[str]:
        """The names of its features."""
        if self.kind != "one-hot":
            return [self.name]
        return [f"{self.name}={value}"[:_NAME_LENGTH] for value in self.values]


@dataclass(frozen=True)
class Encoding:
    """How the columns of a file become features.

    Parameters
    ----------
    columns : tuple of Column
        The columns used, in the order of the features.

    Examples
    --------
    >>> encoding = Encoding((Column("size"), Column("kind", "one-hot", ("a", "b"))))
    >>> encoding.features
    ['size', 'kind=a', 'kind=b']
    >>> Encoding.from_json(encoding.to_json()) == encoding
    True
    """

    columns: tuple[Column, ...]

    @property
    def features(self) -> list[str]:
        """The names of the features, all different."""
        return unique_names([label for column in self.columns for label in column.labels])[0]

    @property
    def numbers(self) -> list[str]:
        """The columns to read as numbers."""
        return [column.name for column in self.columns if column.kind == "number"]

    @property
    def words(self) -> list[str]:
        """The columns to read as words."""
        return [column.name for column in self.columns if column.kind != "number"]

    def check(self, table: Table) -> None:
        """Raise if `table` lacks a column."""
        known = set(table.names)
        absent = [c.name for c in self.columns if c.name not in known]
        if absent:
            raise FileError(
                f"{table.name} lacks what the model needs: {listed(absent)}; "
                f"it has {listed(list(table.names))}"
            )

    def read(self, table: Table, chunk: Chunk, also: Sequence[str] = ()) -> tuple[Matrix, Cells]:
        """Return the features (n_rows, n_features) of a chunk, NaN where missing.

        Parameters
        ----------
        table : Table
            What the chunk is part of.
        chunk : Chunk
            The rows.
        also : sequence of str
            Columns whose words to return besides.

        Returns
        -------
        features : ndarray of shape (n_rows, n_features)
            As the model wants them.
        cells : Cells
            The words asked for.
        """
        words = list(dict.fromkeys([*self.words, *also]))
        try:
            cells = chunk.read(self.numbers, words)
            features = self._features(cells, table.missing)
        except NotNumbersError as error:
            raise _first_of(error.cells, table.name, chunk, self.columns) from None
        if np.isinf(cells.numbers).any():
            j = int(np.flatnonzero(np.isinf(cells.numbers).any(axis=0))[0])
            raise infinite(table.name, chunk, self.numbers[j], cells.numbers[:, j])
        return features, cells

    def _features(self, cells: Cells, missing: frozenset[str]) -> Matrix:
        if not self.words:
            return cells.numbers
        parts: list[Matrix] = []
        numbers = iter(cells.numbers.T[:, :, np.newaxis])
        for column in self.columns:
            if column.kind == "number":
                parts.append(next(numbers))
            elif column.kind == "boolean":
                parts.append(_booleans(column, cells.words[column.name], missing))
            else:
                parts.append(_indicators(column, cells.words[column.name], missing))
        return np.hstack(parts)

    def to_json(self) -> dict[str, Any]:
        """Return plain values from which `from_json` makes the same encoding."""
        return {"columns": [_column_json(column) for column in self.columns]}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Encoding:
        """Return the encoding that `to_json` wrote, or raise if it is none."""
        try:
            columns = tuple(_parse_column(entry) for entry in plain["columns"])
            names = [column.name for column in columns]
            if len(set(names)) < len(names):
                raise ValueError("a column occurs twice")
        except (KeyError, TypeError, ValueError) as error:
            raise FileError(f"the model does not say how to read a table ({error!r})") from None
        return cls(columns)


def _column_json(column: Column) -> dict[str, Any]:
    plain: dict[str, Any] = {"name": column.name, "kind": column.kind}
    return plain | {"values": list(column.values)} if column.kind == "one-hot" else plain


def _parse_column(entry: Any) -> Column:
    name, kind, values = entry["name"], entry["kind"], entry.get("values", [])
    plain = isinstance(name, str) and kind in _KINDS and isinstance(values, list)
    if not plain or not all(isinstance(value, str) for value in values):
        raise ValueError(f"column {entry!r:.80}")
    return Column(name, kind, tuple(values))


def _booleans(column: Column, words: list[str | None], missing: frozenset[str]) -> Matrix:
    numbers = np.empty((len(words), 1))
    for i, word in enumerate(words):
        value = np.nan if is_missing(word, missing) else parse_boolean(word or "")
        if value is None:
            raise NotNumbersError([BadCell(i, column.name, word or "")])
        numbers[i] = value
    return numbers


def _indicators(column: Column, words: list[str | None], missing: frozenset[str]) -> Matrix:
    """Return a 1 where a row has a value, NaN in all features where it has none."""
    position = {value: j for j, value in enumerate(column.values)}
    numbers = np.zeros((len(words), len(position)))
    for i, word in enumerate(words):
        if is_missing(word, missing):
            numbers[i] = np.nan
        elif (j := position.get((word or "").strip())) is not None:
            numbers[i, j] = 1.0
    return numbers


def _first_of(
    cells: Sequence[BadCell], file: str, chunk: Chunk, columns: Sequence[Column]
) -> FileError:
    """Return the error for the first of several bad cells."""
    cell = min(cells, key=lambda cell: cell.row)
    kind = next(column.kind for column in columns if column.name == cell.column)
    wanted = "a number" if kind == "number" else "true or false"
    hint = "; if commas are decimal marks, give --decimal ," if "," in cell.value else ""
    return located(
        file,
        f"{quoted(cell.value)} is not {wanted}{hint}",
        place=chunk.place(cell.row),
        column=cell.column,
    )


def feature_chunks(
    table: Table, encoding: Encoding, also: Sequence[str] = ()
) -> Iterator[tuple[Matrix, Cells]]:
    """Yield the features of a table, chunk by chunk, with the words of the columns `also`."""
    encoding.check(table)
    wanted = [*encoding.numbers, *encoding.words, *also]
    for chunk in table.chunks(list(dict.fromkeys(wanted))):
        yield encoding.read(table, chunk, also)
