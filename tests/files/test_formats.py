"""Parquet, JSON lines, and how a format is found."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from setatoms.files import Encoding, FileError, Source, feature_chunks, open_table

from .conftest import read

Reader = Callable[..., Any]


def test_parquet_columns_are_taken_by_their_types(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    columns = {
        "whole": pa.array([1, None, 3], pa.int32()),
        "real": pa.array([0.5, 1.5, None], pa.float32()),
        "money": pa.array([Decimal("1.25"), Decimal("2.50"), None]),
        "yes": pa.array([True, False, None]),
        "word": pa.array(["a", "b", "a"]).dictionary_encode(),
        "day": pa.array([datetime.date(2024, 1, day) for day in (1, 2, 3)]),
        "list": pa.array([[1], [2], [3]]),
        "none": pa.nulls(3),
    }
    pq.write_table(pa.table(columns), path)
    found = read(path)
    assert found.names == ["whole", "real", "money", "yes"]
    nan = np.nan
    np.testing.assert_array_equal(
        found.X, [[1, 0.5, 1.25, 1], [nan, 1.5, 2.5, 0], [3, nan, nan, nan]]
    )
    for note in (
        "'word': dropped, text",
        "'day': dropped, dates or times",
        "'list': dropped, neither numbers nor text",
        "'none': dropped, no row has a value",
    ):
        assert note in found.notes


def test_parquet_text_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    broken = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"\xf9a")]
    )
    pq.write_table(pa.table({"a": [1.0, 2.0], "b": [3.0, 4.0], "word": broken}), path)
    with pytest.raises(FileError, match=r"row 1, column 'word': text that is not UTF-8"):
        read(path)


def test_parquet_with_repeated_names_is_read(tmp_path: Path) -> None:
    path = tmp_path / "data"
    arrays = [pa.array([1.0, 2.0]), pa.array([3.0, 5.0]), pa.array([4, 9])]
    pq.write_table(pa.Table.from_arrays(arrays, ["a", "a", ""]), path)
    found = read(path)
    assert found.names == ["a", "a_2", "column_3"]
    np.testing.assert_array_equal(found.X, [[1, 3, 4], [2, 5, 9]])


def test_parquet_errors_name_row_and_column(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"a": [1.0, 2.0, np.inf], "b": [1, 2, 4]}), path)
    with pytest.raises(FileError, match="row 3, column 'a': the value is infinite"):
        read(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FileError, match=r"data\.parquet is not a sound Parquet file"):
        read(path)


def test_json_lines_take_absent_keys_for_missing(read_bytes: Reader) -> None:
    lines = [
        '{"a": 1, "b": 2.5, "text": "x", "yes": true}',
        "",
        '{"b": 1e3, "a": null, "deep": {"x": [1]}}',
        '{"a": 7, "text": "\\u2028", "yes": false, "b": NaN}',
    ]
    found = read_bytes("\r\n".join(lines).encode(), name="data.jsonl")
    assert found.names == ["a", "b", "yes"]
    nan = np.nan
    np.testing.assert_array_equal(found.X, [[1, 2.5, 1], [nan, 1000, nan], [7, nan, 0]])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"a": 1, "b": }', "data.jsonl, line 3: not JSON at character 15"),
        ('{"\\ud800": 1}', "data.jsonl, line 3: cannot be read"),
        ("[1, 2]", "data.jsonl, line 3: expected an object"),
        ("[" * 100_000, "data.jsonl, line 3: "),
        ('{"a": ' + "9" * 5000 + "}", "data.jsonl, line 3: cannot be read"),
        ('{"a": ' + "9" * 400 + ', "b": 1}', "line 3, column 'a': the value is infinite"),
        ('{"a": 1, "b": -Infinity}', "line 3, column 'b': the value is infinite"),
    ],
)
def test_json_errors_name_the_line(line: str, message: str, read_bytes: Reader) -> None:
    start = '{"a": 1, "b": 2}\n{"a": 3, "b": 5}\n'
    with pytest.raises(FileError) as caught:
        read_bytes((start + line).encode(), name="data.jsonl")
    assert message in str(caught.value)


def test_a_word_among_the_numbers_of_a_model_is_an_error_with_its_place(tmp_path: Path) -> None:
    encoding = Encoding.from_json({"columns": [{"name": n, "kind": "number"} for n in "ab"]})
    csv, lines = tmp_path / "x.csv", tmp_path / "x.jsonl"
    csv.write_text('a;b\n1;2\n"3\n";"1.000,5"\n', encoding="utf-8")
    lines.write_text('{"a": 1, "b": 2}\n{"a": 1, "b": "1.5"}\n', encoding="utf-8")
    for path, message in (
        (csv, "x.csv, line 3, column 'b': '1.000,5' is not a number; if commas"),
        (lines, "x.jsonl, line 2, column 'b': '1.5' is not a number"),
    ):
        with pytest.raises(FileError) as caught:
            list(feature_chunks(open_table(Source(str(path))), encoding))
        assert message in str(caught.value)


@pytest.mark.parametrize(
    "plain",
    [{}, {"columns": 3}, {"columns": [{"name": "a"}]}, {"columns": [{"name": 1, "kind": "number"}]},
     {"columns": [{"name": "a", "kind": "pickle"}]},
     {"columns": [{"name": "a", "kind": "one-hot", "values": [1]}]}],
)  # fmt: skip
def test_an_encoding_from_a_forged_model_is_refused(plain: dict[str, Any]) -> None:
    with pytest.raises(FileError, match="does not say how to read"):
        Encoding.from_json(json.loads(json.dumps(plain)))
