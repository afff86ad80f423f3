"""Write a file, read it back as names and values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("duckdb")

from setatoms.files import Choice, Encoding, ReadOptions, Source, choose_columns, feature_chunks
from setatoms.files import open_table as open_source


class Read(NamedTuple):
    names: list[str]
    X: NDArray[np.float64]
    notes: str
    encoding: Encoding


def read(path: Path, choice: Choice | None = None, **options: Any) -> Read:
    """Choose the columns of a file and read them."""
    table = open_source(Source(str(path), options.pop("encoding", None)), ReadOptions(**options))
    chosen = choose_columns(table, choice or Choice())
    parts = [features for features, *_ in feature_chunks(table, chosen.encoding)]
    return Read(
        chosen.encoding.features, np.concatenate(parts), "\n".join(chosen.notes), chosen.encoding
    )


@pytest.fixture
def read_bytes(tmp_path: Path) -> Callable[..., Read]:
    """Return a function from the content of a file to what is read from it."""

    def read_content(content: bytes, name: str = "data.csv", **options: Any) -> Read:
        path = tmp_path / name
        path.write_bytes(content)
        return read(path, **options)

    return read_content
