"""Parquet, JSON lines, and how a format is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from setatoms.files import (
    Choice,
    Column,
    Encoding,
    FileError,
    ReadOptions,
    Source,
    choose_columns,
    feature_chunks,
    open_table,
)

from .conftest import read

Reader = Callable[..., Any]


def write_parquet(path: Path, select: str) -> None:
    """Write what a query selects."""
    duckdb.connect().execute(f"copy ({select}) to '{path}' (format parquet)")


def test_parquet_columns_are_taken_by_their_types(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    write_parquet(
        path,
        """select * from (values
        (1::int, 0.5::float, 1.25::decimal(9, 2), true, 'a', date '2024-01-01', [1], null::double),
        (null, 1.5, 2.5, false, 'b', date '2024-01-02', [2], null),
        (3, null, null, null, 'a', date '2024-01-03', [3], null)
        ) as t(whole, real, money, yes, word, day, list, none)""",
    )
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


def test_parquet_that_is_damaged_is_named(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    write_parquet(path, "select i as a, 2 * i as b from range(100) t(i)")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FileError, match=r"data\.parquet cannot be read as a table"):
        read(path)


def test_infinity_in_parquet_is_missing_and_named(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    write_parquet(
        path,
        "select if(i = 2, 'inf'::double, i % 7) as a, i * i as b from range(60) t(i)",
    )
    found = read(path)
    assert np.isnan(found.X[2, 0])
    assert "1 of 60 cells of 'a' is no number: 'inf', row 3" in found.notes


def test_a_database_is_read_by_its_only_or_named_table(tmp_path: Path) -> None:
    path = tmp_path / "plant.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute(
            "create table pumps as select i % 5 as a, i * 1.5 as b from range(20) t(i)"
        )
    assert read(path).names == ["a", "b"]
    with duckdb.connect(str(path)) as database:
        database.execute("create table other as select 1 as x")
    with pytest.raises(FileError, match="has the tables 'other', 'pumps'; name one with --table"):
        read(path)
    assert read(path, table="pumps").X.shape == (20, 2)


def test_a_workbook_is_read_like_a_text(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (
        ["Pump log"],
        [],
        ["hour", "flow", "at"],
        *([i, i * 2.5, f"2024-01-{i:02}"] for i in range(2, 20, 2)),
    ):
        book.active.append(row)
    book.save(tmp_path / "log.xlsx")
    found = read(tmp_path / "log.xlsx")
    assert found.names == ["hour", "flow"]
    assert len(found.X) == 9


def test_files_of_a_pattern_and_of_a_folder_are_one_table(tmp_path: Path) -> None:
    for i in (1, 2, 3):
        (tmp_path / f"part{i}.csv").write_text(f"a,b\n{i},2.5\n{i},3.5\n", encoding="utf-8")
    for path in (tmp_path / "part*.csv", tmp_path):
        found = read(path)
        assert found.names == ["a", "b"]
        np.testing.assert_array_equal(found.X[:, 0], [1, 1, 2, 2, 3, 3])
    (tmp_path / "part4.csv").write_text("a,c\n1,2\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"part4\.csv has other columns than .*part1\.csv"):
        read(tmp_path)
    with pytest.raises(FileError, match="matches no file"):
        read(tmp_path / "*.parquet")


def test_hive_partitions_are_columns(tmp_path: Path) -> None:
    for year in (2023, 2024):
        folder = tmp_path / f"year={year}"
        folder.mkdir()
        write_parquet(
            folder / "x.parquet", f"select i % 3 as a, i * 1.5 + {year} as b from range(6) t(i)"
        )
    found = read(tmp_path)
    assert found.names == ["a", "b", "year"]
    assert len(found.X) == 12


@pytest.mark.parametrize("content", ["a,b\n1,2.5\n2,3\n", '{"a": 1, "b": 2.5}\n{"a": 2, "b": 3}\n'])
def test_partitions_of_text_are_columns(tmp_path: Path, content: str) -> None:
    suffix = "csv" if content.startswith("a") else "jsonl"
    for year, site in ((2023, "north%20east"), (2024, "south")):
        folder = tmp_path / f"year={year}" / f"site={site}"
        folder.mkdir(parents=True)
        (folder / f"x.{suffix}").write_text(content, encoding="utf-8")
    found = read(tmp_path, choice=Choice(encode=["site"]))
    assert found.names == ["a", "b", "site=north east", "site=south", "year"]
    np.testing.assert_array_equal(found.X[:, 3], [0, 0, 1, 1])
    np.testing.assert_array_equal(found.X[:, 4], [2023, 2023, 2024, 2024])


def test_the_file_of_a_partition_keeps_its_own_column(tmp_path: Path) -> None:
    (tmp_path / "year=2023").mkdir()
    (tmp_path / "year=2023" / "x.csv").write_text("a,year\n1,7\n2,8.5\n", encoding="utf-8")
    found = read(tmp_path)
    assert found.names == ["a", "year"]
    np.testing.assert_array_equal(found.X[:, 1], [7, 8.5])


def test_whole_numbers_are_the_same_value_with_a_point(tmp_path: Path) -> None:
    model = Encoding((Column("kind", "one-hot", ("1", "2.0")),))
    (tmp_path / "k.csv").write_text("kind,x\n1.0,1\n2,2\n3,1\n", encoding="utf-8")
    write_parquet(tmp_path / "k.parquet", "select unnest([1.0, 2.0, 3.0]) as kind")
    for name in ("k.csv", "k.parquet"):
        table = open_table(Source(str(tmp_path / name)))
        rows = np.concatenate([rows.features for rows in feature_chunks(table, model)])
        np.testing.assert_array_equal(rows, [[1, 0], [0, 1], [0, 0]])


def test_a_column_of_nearly_the_same_name_is_asked_after(tmp_path: Path) -> None:
    (tmp_path / "k.csv").write_text("Pressure,x\n1,1\n2,2\n", encoding="utf-8")
    table = open_table(Source(str(tmp_path / "k.csv")))
    with pytest.raises(FileError, match=r"; is 'Pressure' 'pressure'\? then rename it"):
        Encoding((Column("pressure"),)).check(table)


def test_a_query_reads_the_files_it_names_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,x\n1,2.5\n2,3.5\n3,7.5\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("id,y\n1,5\n2,9\n3,4\n", encoding="utf-8")
    query = f"select x, y from '{tmp_path}/a.csv' join '{tmp_path}/b.csv' using (id) order by x"
    table = open_table(None, ReadOptions(query=query))
    chosen = choose_columns(table, Choice(), most_numbers=100)
    np.testing.assert_array_equal(chosen.features(), [[2.5, 5], [3.5, 9], [7.5, 4]])
    target = tmp_path / "c.csv"
    for bad in (
        f"copy (select 1) to '{target}'",
        f"attach '{tmp_path}/d.db'",
        "select 1; select 2",
        "pragma version",
        "selec 1",
        "select * from read_csv(concat('/etc', '/passwd'))",
    ):
        with pytest.raises(FileError):
            open_table(None, ReadOptions(query=bad))
    assert not target.exists()
    assert not (tmp_path / "d.db").exists()


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


@pytest.mark.parametrize("line", ['{"a": 1, "b": }', "[1, 2]", "[" * 100_000, "\x00"])
def test_json_that_is_none_is_an_error_in_one_line(line: str, read_bytes: Reader) -> None:
    start = '{"a": 1, "b": 2}\n{"a": 3, "b": 5}\n' * 10
    with pytest.raises(FileError, match=r"\A[^\n]*data\.jsonl[^\n]*\Z"):
        read_bytes((start + line).encode(), name="data.jsonl")


def test_a_number_beyond_doubles_in_json_is_missing_and_named(read_bytes: Reader) -> None:
    lines = '{"a": 1, "b": 2}\n{"a": 3, "b": 5}\n' * 10 + '{"a": ' + "9" * 5000 + ', "b": 1}'
    found = read_bytes(lines.encode(), name="data.jsonl")
    np.testing.assert_array_equal(found.X[-1], [np.nan, 1])
    assert "1 of 21 cells of 'a' is no number" in found.notes


def test_a_word_among_the_numbers_of_a_model_is_an_error_with_its_place(tmp_path: Path) -> None:
    encoding = Encoding.from_json({"columns": [{"name": n, "kind": "number"} for n in "ab"]})
    csv, lines = tmp_path / "x.csv", tmp_path / "x.jsonl"
    csv.write_text('a;b\n1;low\n"3\n";high\n', encoding="utf-8")
    lines.write_text('{"a": 1, "b": "low"}\n{"a": 1, "b": "high"}\n', encoding="utf-8")
    for path, message in (
        (csv, "x.csv, line 2, column 'b': 'low' is not a number"),
        (lines, "x.jsonl, row 1, column 'b': 'low' is not a number"),
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


@pytest.mark.parametrize(
    ("cell", "seconds"),
    [
        ("2024-02-03 04:05", 1706933100),
        ("2024-02-03T04:05:00", 1706933100),
        ("03.02.2024 04:05", 1706933100),
        ("3.2.2024 04:05:00", 1706933100),
        ("02/03/2024 04:05", 1706933100),
        ("02/03/2024 4:05 AM", 1706933100),
        ("2024-02-03", 1706918400),
    ],
)
def test_dates_tell_when_rows_were(cell: str, seconds: int, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    lines = "".join(f"{cell},{i % 7},{i % 5}\n" for i in range(30))
    path.write_text(f"at,a,b\n{lines},1,2\n", encoding="utf-8")
    table = open_table(Source(str(path)))
    assert table.time_column == "at"
    encoding = Encoding((Column("a"), Column("b")))
    (rows,) = feature_chunks(table, encoding, time="at")
    np.testing.assert_array_equal(rows.times, [seconds] * 30 + [np.nan])
    assert rows.features.shape == (31, 2)
