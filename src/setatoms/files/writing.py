"""Numbers as lines of text, by DuckDB: three times as fast as Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
import nanoarrow
import numpy as np
from numpy.typing import NDArray

from setatoms.files.engine import quoted_text

_MEMORY = "200MB"
_TYPES = {np.dtype(np.int64): nanoarrow.int64(), np.dtype(np.float64): nanoarrow.float64()}


class LineWriter:
    r"""Write columns of numbers as lines of CSV.

    Numbers are written with as few digits as it takes to read the same ones again.

    Examples
    --------
    >>> import numpy as np
    >>> text, starts = LineWriter().write([np.array([7, 8]), np.array([0.1, 2.0])])
    >>> text
    b'7,0.1\n8,2.0\n'
    >>> starts
    array([ 0,  6, 12])
    """

    def __init__(self) -> None:
        self._connection = duckdb.connect(config={"threads": "1", "memory_limit": _MEMORY})

    def write(
        self, columns: Sequence[NDArray[Any]], tail: str = ""
    ) -> tuple[bytes, NDArray[np.int64]]:
        """Return a line for each row, and where each begins; the last begins after all.

        Parameters
        ----------
        columns : sequence of ndarray of shape (n_rows,)
            Finite numbers, of 64 bits.
        tail : str
            What each line ends with.
        """
        n_rows = len(columns[0])
        if not n_rows:
            return b"", np.zeros(1, np.int64)
        arrays = [
            nanoarrow.c_array_from_buffers(_TYPES[c.dtype], n_rows, [None, np.ascontiguousarray(c)])
            for c in columns
        ]
        types = {f"c{j}": _TYPES[c.dtype] for j, c in enumerate(columns)}
        table = nanoarrow.c_array_from_buffers(
            nanoarrow.struct(types), n_rows, [None], children=arrays
        )
        self._connection.register("numbers", nanoarrow.ArrayStream(table))
        cells = ", ',', ".join(types)
        end = quoted_text(f"{tail}\n")
        lines = self._connection.sql(f"select concat({cells}, {end}) from numbers")
        texts, starts = [], [np.zeros(1, np.int64)]
        for array in nanoarrow.ArrayStream(lines):
            column = nanoarrow.c_array(array).child(0)
            view = column.view()
            ends = np.frombuffer(memoryview(view.buffer(1)), np.int32).astype(np.int64)
            ends = ends[column.offset : column.offset + len(array) + 1]
            texts.append(bytes(memoryview(view.buffer(2)))[ends[0] : ends[-1]])
            starts.append(ends[1:] - ends[0] + starts[-1][-1])
        return b"".join(texts), np.concatenate(starts)
