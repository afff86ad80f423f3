"""Parts of a table say together what the whole table says."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from setatoms.files import (
    Choice,
    Column,
    Encoding,
    Source,
    choose_columns,
    feature_chunks,
    open_table,
)
from setatoms.files import parts as parts_module
from setatoms.files.choose import choose_from
from setatoms.files.errors import FileError
from setatoms.files.parts import cut_table
from setatoms.files.survey import merge_surveys, survey_part

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def table_of(n_rows: int, seed: int) -> Any:
    """Return columns of every kind, some of them only so as long as all rows are known."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=n_rows).round(3)
    words = numbers.astype(str)
    words[: n_rows // 50] = "ERR"
    return pa.table({
        "row": np.arange(n_rows),
        "gapped": np.r_[np.arange(n_rows // 2), np.arange(n_rows // 2 + 1, n_rows + 1)],
        "x": pa.array(numbers, mask=rng.random(n_rows) < 0.1),
        "y": numbers**2,
        "mostly": words,
        "few": rng.choice(list("abcd"), n_rows),
        "many": rng.choice([f"w{i}" for i in range(40)], n_rows),
        "yes": rng.choice(["yes", "no"], n_rows),
        "constant": np.ones(n_rows),
        "empty": pa.array([None] * n_rows, pa.float64()),
        "late": pa.array([None] * (n_rows - 1) + [1.5]),
    })  # fmt: skip


def write(folder: Path, table: Any, cuts: list[int]) -> Path:
    folder.mkdir()
    bounds = [0, *cuts, len(table)]
    for i, (first, last) in enumerate(pairwise(bounds)):
        pq.write_table(table.slice(first, last - first), folder / f"{i:02d}.parquet")
    return folder


@pytest.mark.parametrize("cuts", [[], [100], [0, 7, 7, 199], [50, 100, 101, 250]])
@pytest.mark.parametrize("most", [30, 1000])
def test_parts_are_surveyed_as_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cuts: list[int], most: int
) -> None:
    monkeypatch.setattr(parts_module, "CHUNK_ROWS", most)
    monkeypatch.setattr(parts_module, "_NUMBERS", 0)
    source = Source(str(write(tmp_path / "data", table_of(300, 0), cuts)))
    table = open_table(source)
    choice = Choice(encode=["few"])
    expected = choose_columns(table, choice)
    reader, parts = cut_table(source, table)
    assert sum(part.n_rows for part in parts) == 300
    found = merge_surveys(
        table, [survey_part(reader.open(part), as_words=choice.encode) for part in parts]
    )
    chosen = choose_from(table, found, choice)
    assert chosen.encoding == expected.encoding
    assert chosen.notes == expected.notes
    # as text: since Python 3.13 records with a NaN in them are not equal
    assert repr(found.numbers) == repr(expected.survey.numbers)
    assert {n: w.values for n, w in found.words.items() if not w.many} == {
        n: w.values for n, w in expected.survey.words.items() if not w.many
    }
    whole = features(table, expected.encoding)
    cut = np.concatenate([features(reader.open(part), expected.encoding) for part in parts])
    np.testing.assert_array_equal(cut, whole)


def features(table: Any, encoding: Encoding) -> Any:
    blocks = [rows.features for rows in feature_chunks(table, encoding)]
    return np.concatenate([np.empty((0, len(encoding.features))), *blocks])


def test_folders_have_the_types_of_the_whole(tmp_path: Path) -> None:
    for name in ("size=1", "size=1.5"):
        (tmp_path / name).mkdir()
        pq.write_table(table_of(60, 1), tmp_path / name / "a.parquet")
    source = Source(str(tmp_path))
    table = open_table(source)
    encoding = choose_columns(table, Choice()).encoding
    assert "size" in encoding.features
    reader, parts = cut_table(source, table)
    cut = np.concatenate([features(reader.open(part), encoding) for part in parts])
    np.testing.assert_array_equal(cut, features(table, encoding))


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    source = Source(str(write(tmp_path / "data", table_of(60, 1), [20])))
    reader, parts = cut_table(source, open_table(source))
    Path(parts[1].path).unlink()
    with pytest.raises(FileError, match=r"01\.parquet cannot be seen by the worker"):
        reader.open(parts[1])


def test_names_with_signs_of_a_pattern_are_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "data[1]", table_of(60, 1), [])
    source = Source(str(folder / "00.parquet"))
    with pytest.raises(FileError, match="workers read Parquet files where they are"):
        cut_table(source, open_table(source))


def test_files_keep_their_order_beside_words_for_yes_and_no(tmp_path: Path) -> None:
    # a long list of words in a query made DuckDB read the largest file first
    source = Source(str(write(tmp_path / "data", table_of(300, 0), [50, 100, 101, 250])))
    encoding = Encoding((Column("row"), Column("yes", "boolean")))
    rows = features(open_table(source), encoding)[:, 0]
    np.testing.assert_array_equal(rows, np.arange(300))
