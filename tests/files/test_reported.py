"""What people who tried the reader found, one test each."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pytest

from setatoms.files import (
    Choice,
    Encoding,
    FileError,
    ReadOptions,
    Source,
    choose_columns,
    feature_chunks,
    open_table,
)
from setatoms.files.engine import Engine
from setatoms.files.written import Style

from .conftest import Read

Reader = Callable[..., Read]

ROWS = [f"{i},{i * i % 17},{i % 5 + 0.25}" for i in range(60)]


def table(*lines: str, end: str = "\n") -> bytes:
    return end.join(lines).encode() + end.encode()


def test_a_connection_reads_nothing_of_the_temporary_folder(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_bytes(table("a,b", "1,2"))
    assert str(tmp_path).startswith(tempfile.gettempdir())
    with pytest.raises(FileError):
        Engine([tmp_path / "other.csv"]).run(f"from read_csv('{secret}')")


def test_a_view_of_a_strange_database_reads_no_file(tmp_path: Path) -> None:
    secret, database = tmp_path / "secret.csv", tmp_path / "evil.duckdb"
    secret.write_bytes(table("a,b", "1,2"))
    with duckdb.connect(database) as connection:
        connection.execute(f"create view v as from read_csv('{secret}')")
    with pytest.raises(FileError):
        open_table(Source(str(database)))


def test_brackets_in_a_name_are_no_pattern(tmp_path: Path) -> None:
    (tmp_path / "br[1].csv").write_bytes(table("a,b,c", *ROWS))
    (tmp_path / "br1.csv").write_bytes(table("a,b,c", *ROWS[:9]))
    found = choose_columns(open_table(Source(str(tmp_path / "br[1].csv"))), Choice(use=["a"]))
    assert found.survey.n_rows == 60


def test_a_query_may_name_a_pattern_and_has_comments(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_bytes(table("a,b,c", *ROWS))
    query = f"-- it's mine\nselect * from '{tmp_path}/*.csv' -- all"
    assert open_table(None, ReadOptions(query=query)).n_rows == 120


def test_rows_that_begin_with_a_sign_of_comments_are_rows(read_bytes: Reader) -> None:
    rows = [f"{'#' if i % 3 == 0 else ''}{i},{row}" for i, row in enumerate(ROWS)]
    assert len(read_bytes(table("tag,a,b,c", *rows)).X) == 60
    assert len(read_bytes(table("tag,a,b,c", *(f"#{row}" for row in rows))).X) == 60


def test_comments_between_names_and_units_are_left_out(read_bytes: Reader) -> None:
    assert len(read_bytes(table("a,b,c", "# all in SI", "m,s,kg", *ROWS)).X) == 60


def test_a_footer_is_left_out_where_it_stands(read_bytes: Reader) -> None:
    found = read_bytes(table("a,b,c", *ROWS, ROWS[4]), footer=1, choice=Choice(use=["a"]))
    np.testing.assert_array_equal(found.X[:, 0], np.arange(60))
    assert len(read_bytes(table("a,b,c", *ROWS[:12]), footer=7).X) == 5


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        (["\u00a01.5", "2.5\u2009", "3"], [1.5, 2.5, 3.0]),
        (["\t1,5", "2,25", "3,5"], [1.5, 2.25, 3.5]),
    ],
)
def test_spaces_around_numbers_do_not_matter(cells: list[str], wanted: list[float]) -> None:
    style = Style.of(cells)
    assert style is not None
    values = ", ".join(f"('{cell}')" for cell in cells)
    read = duckdb.sql(f"select {style.sql('c')} from (values {values}) t(c)").fetchall()
    assert [row[0] for row in read] == [style.read(cell) for cell in cells] == wanted


def test_whole_numbers_with_points_are_whole(read_bytes: Reader) -> None:
    counts = [37 * i + 5 for i in range(300)]
    written = [f"{n // 1000}.{n % 1000:03d}" if n >= 1000 else str(n) for n in counts]
    found = read_bytes(table("n;m", *(f"{n};{i % 7}" for i, n in enumerate(written))))
    np.testing.assert_array_equal(found.X[:, 0], counts)


def test_three_decimals_stay_decimals(read_bytes: Reader) -> None:
    found = read_bytes(table("n;m", *(f"{1 + i / 1000:.3f};{i % 7}" for i in range(300))))
    np.testing.assert_allclose(found.X[:, 0], 1 + np.arange(300) / 1000)


def test_marks_and_words_for_no_value_are_kept_with_the_model(tmp_path: Path) -> None:
    first, later = tmp_path / "first.csv", tmp_path / "later.csv"
    first.write_bytes(table("n;m", *(f"{i}.{i % 9}00,50;{i % 7}" for i in range(1, 99)), "-7;oh"))
    later.write_bytes(table("n;m", "2.500;1", "-7;3", "3.100;oh"))
    options = ReadOptions(missing=["-7", "oh"])
    chosen = choose_columns(open_table(Source(str(first)), options), Choice())
    known = Encoding.from_json(chosen.encoding.to_json())
    assert known == chosen.encoding
    opened = open_table(Source(str(later)), known.options(ReadOptions()))
    (rows,) = feature_chunks(opened, known)
    np.testing.assert_array_equal(rows.features, [[2500, 1], [np.nan, 3], [3100, np.nan]])


def test_yes_and_no_may_come_as_one_and_zero(tmp_path: Path) -> None:
    first, later = tmp_path / "first.csv", tmp_path / "later.csv"
    first.write_bytes(table("n,ok", *(f"{i % 7},{'yes' if i % 3 else 'no'}" for i in range(60))))
    later.write_bytes(table("n,ok", "3,1", "4,0"))
    encoding = choose_columns(open_table(Source(str(first))), Choice()).encoding
    (rows,) = feature_chunks(open_table(Source(str(later))), encoding)
    np.testing.assert_array_equal(rows.features, [[3, 1], [4, 0]])


@pytest.mark.parametrize(
    "row", ['1,"5\\" pipe",2', '1,5" pipe,"2"', '1,"two\nlines",2', '1,"a ""b""",2']
)
def test_closed_quotes_are_closed(row: str, read_bytes: Reader) -> None:
    rows = [f'{i % 7},"x {i % 4}",{i % 5}' for i in range(60)]
    assert len(read_bytes(table("a,b,c", *rows, row)).X) == 61


def test_long_cells_do_not_fill_the_memory(read_bytes: Reader) -> None:
    rows = (f"{i % 7},{'x' * 30_000},{i % 5}" for i in range(1500))
    assert len(read_bytes(table("a,b,c", *rows)).X) == 1500


def test_json_is_known_by_its_first_bytes(read_bytes: Reader) -> None:
    lines = [f'{{"a": {i % 7}, "b": {i * i % 11}}}' for i in range(60)]
    assert read_bytes(table(*lines), name="data.txt").X.shape == (60, 2)


def test_a_workbook_is_read_where_its_table_is(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    book.active.append(["see the other sheet"])
    sheet = book.create_sheet("Daten")
    sheet.append(["a;b", "c"])
    for i in range(60):
        sheet.append([f"{i};x", i % 7])
    book.save(tmp_path / "book.xlsx")
    assert open_table(Source(str(tmp_path / "book.xlsx"))).names == ["a;b", "c"]


def test_what_is_no_number_cannot_be_used_as_one(read_bytes: Reader) -> None:
    rows = (f"{i % 7},{i % 5},low {i}" for i in range(60))
    with pytest.raises(FileError, match="column 'c' holds text, not numbers, so --use cannot"):
        read_bytes(table("a,b,c", *rows), choice=Choice(use=["c"]))


def test_tables_of_a_database_may_have_a_schema(tmp_path: Path) -> None:
    path = tmp_path / "plant.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("create schema s")
        connection.execute("create table s.t as from (values (1, 2), (3, 5)) t(a, b)")
    assert open_table(Source(str(path))).n_rows == 2
    assert open_table(Source(str(path)), ReadOptions(table="s.t")).n_rows == 2
    (tmp_path / "other.duckdb").write_bytes(path.read_bytes())
    with pytest.raises(FileError, match="there are several; name one of them"):
        open_table(Source(str(tmp_path / "*.duckdb")))


def test_lists_are_no_numbers_for_a_model(tmp_path: Path) -> None:
    path = tmp_path / "lists.parquet"
    duckdb.execute(f"copy (select [1, 2] as a, 3 as b) to '{path}' (format parquet)")
    encoding = Encoding.from_json({"columns": [{"name": "a", "kind": "number"}]})
    with pytest.raises(FileError, match="'a' hold neither numbers nor text"):
        list(feature_chunks(open_table(Source(str(path))), encoding))


def test_fields_of_objects_are_columns(read_bytes: Reader) -> None:
    lines = [
        f'{{"a": {i % 7}, "size": {{"length": {i % 5}, "odd name": {i % 3}, "deep": {{"x": 1}}}}}}'
        for i in range(60)
    ]
    found = read_bytes(table(*lines), name="data.jsonl")
    assert found.names == ["a", "size.length", "size.odd name"]
    assert "'size.deep': dropped, neither numbers nor text" in found.notes
    np.testing.assert_array_equal(found.X[:, 1], np.arange(60) % 5)
