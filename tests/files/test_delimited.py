"""CSV and its kin: each is read rightly, or the error names the file and the line."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import numpy as np
import pytest

from setatoms.files import Choice, FileError

Reader = Callable[..., object]

PLAIN = b"a,b\n1,2\n3,5\n"
VALUES = [[1.0, 2.0], [3.0, 5.0]]

SAME_TABLE = {
    "CRLF": b"a,b\r\n1,2\r\n3,5\r\n",
    "CR": b"a,b\r1,2\r3,5\r",
    "no end of the last line": b"a,b\n1,2\n3,5",
    "blank lines": b"\n\na,b\n\n1,2\n\n\n3,5\n\n",
    "UTF-8 BOM": b"\xef\xbb\xbf" + PLAIN,
    "UTF-16 BOM": "\ufeffa,b\n1,2\n3,5\n".encode("utf-16-le"),
    "UTF-16 BOM, big": "\ufeffa,b\n1,2\n3,5\n".encode("utf-16-be"),
    "UTF-32 BOM": PLAIN.decode().encode("utf-32"),
    "semicolons": PLAIN.replace(b",", b";"),
    "tabs": PLAIN.replace(b",", b"\t"),
    "bars": PLAIN.replace(b",", b"|"),
    "quotes": b'"a","b"\n"1","2"\n"3","5"\n',
    "spaces": b"a , b\n 1 ,2 \n3 , +5\n",
    "exponents": b"a,b\n1e0,.2E1\n30.0e-1,5.\n",
    "decimal commas": b"a;b\n1,0;2,0\n3;5,00\n",
    "gzip": gzip.compress(PLAIN),
}


@pytest.mark.parametrize("content", SAME_TABLE.values(), ids=SAME_TABLE.keys())
def test_variants_of_one_table_read_the_same(content: bytes, read_bytes: Reader) -> None:
    found = read_bytes(content)
    assert found.names == ["a", "b"]
    np.testing.assert_array_equal(found.X, VALUES)


HEADER = b"x,y\n1,2\n3,4\n"
ERRORS = {
    "empty": (b"", "data.csv is empty"),
    "blank": (b"\n\r\n\n", "data.csv is empty"),
    "header only": (b"x,y\n", "no rows, only a header"),
    "one row": (b"x,y\n1,2\n", "has one row; learning takes at least two"),
    "open quote": (HEADER + b'5,"6\n7,8\n', "data.csv, line 4: a quote is never closed"),
    "one column": (b"x\n1\n2\n", "too few columns"),
    "text only": (b"x,y\na,b\nc,d\n", "'x', 'y': dropped, text"),
    "zip": (b"PK\x03\x04rest", "cannot be read as a workbook"),
    "broken gzip": (gzip.compress(PLAIN * 99)[:40], "cannot be read to its end"),
    "bzip2": (b"BZh91AY", "packed with bzip2; unpack it first"),
}


@pytest.mark.parametrize(("content", "message"), ERRORS.values(), ids=ERRORS.keys())
def test_what_is_no_table_is_an_error_with_its_place(
    content: bytes, message: str, read_bytes: Reader
) -> None:
    with pytest.raises(FileError) as caught:
        read_bytes(content)
    assert message in str(caught.value)


MENDED = {
    "a long row": (b"5,6,7\n", [5, 6], "1 of 3 rows has more cells than there are columns"),
    "a short row": (b"5\n", [5, np.nan], "1 missing value in 'y'"),
    "a word": (b"5,ERR\n", [5, np.nan], "1 of 3 cells of 'y' is no number: 'ERR', line 4"),
    "infinity": (b"5,inf\n", [5, np.nan], "1 of 3 cells of 'y' is no number: 'inf', line 4"),
    "too large": (b"5,-1e999\n", [5, np.nan], "is no number: '-1e999', line 4"),
    "a NUL": (b"5,\x006\n", [5, np.nan], "is no number"),
    "not UTF-8": (b"5,\xe4\n", [5, np.nan], "text is not UTF-8; read as Windows-1252"),
}  # fmt: skip


@pytest.mark.parametrize(("line", "row", "note"), MENDED.values(), ids=MENDED.keys())
def test_a_cell_among_many_that_is_no_number_is_missing_and_named(
    line: bytes, row: list[float], note: str, read_bytes: Reader
) -> None:
    rows = b"1,2\n3,4\n" * 10
    found = read_bytes(b"x,y\n1,2\n3,4\n" + line + rows)
    np.testing.assert_array_equal(found.X[2], row)
    assert len(found.X) == 23
    assert note.replace("of 3", "of 23") in found.notes


@pytest.mark.parametrize("line", [b"5,6,7\n", b"5,ERR\n"])
def test_strict_stops_at_what_is_no_number(line: bytes, read_bytes: Reader) -> None:
    with pytest.raises(FileError, match=r"data\.csv, line 4"):
        read_bytes(b"x,y\n1,2\n3,4\n" + line + b"1,2\n3,4\n" * 10, strict=True)


def test_places_far_into_a_file_are_right(read_bytes: Reader) -> None:
    rows = b'1.25,2.5,"two\r\nlines"\r\n3.5,4.5,""\r\n' * 150_000
    found = read_bytes(b"x,y,z\r\n" + rows + b"1,odd,\r\n")
    assert len(found.X) == 300_001
    assert (
        f"1 of 300,001 cells of 'y' is no number: 'odd', line {1 + 3 * 150_000 + 1}" in found.notes
    )


@pytest.mark.parametrize("word", ["", "NA", "NaN", "null", " n/a ", '""', "#DIV/0!", "?", "None"])
def test_words_for_no_value_are_missing(word: str, read_bytes: Reader) -> None:
    found = read_bytes(f"x,y\n1,2\n3,{word}\n4,7\n".encode())
    np.testing.assert_array_equal(found.X, [[1, 2], [3, np.nan], [4, 7]])
    assert "1 missing value in 'y'" in found.notes


def test_own_words_for_no_value(read_bytes: Reader) -> None:
    found = read_bytes(b"x,y\n1,2\n3,-\n-999,7\n", missing=["-", "-999"])
    np.testing.assert_array_equal(found.X, [[1, 2], [3, np.nan], [np.nan, 7]])


def test_names_that_are_empty_or_repeated_are_made_unique(read_bytes: Reader) -> None:
    found = read_bytes(b"a,,a,a_2,a\n1,2,3,4,5\n6,7,8,9,1\n")
    assert found.names == ["a", "column_2", "a_3", "a_2", "a_4"]
    assert "1 column without a name: 'column_2'" in found.notes
    assert "2 repeated names: 'a_3', 'a_4'" in found.notes


def test_a_file_without_names_gets_numbered_ones(read_bytes: Reader) -> None:
    found = read_bytes(b"1,2\n3,4\n")
    assert found.names == ["column_1", "column_2"]
    assert len(found.X) == 2
    assert "no names" in found.notes
    assert read_bytes(b"1,2\n3,4\n5,7\n", header=True).names == ["1", "2"]
    assert read_bytes(b"x,y\n3,4\n5,7\n", header=None).names == ["x", "y"]


def test_columns_that_cannot_be_used_are_dropped_and_said(read_bytes: Reader) -> None:
    found = read_bytes(
        b"x,y,text,day,same,none,yes\n"
        b"1,2,a,2024-01-31,7,,true\n"
        b"3,5,b,2024-02-01 10:00,7,NA,FALSE\n"
        b"4,9,a,2024-02-02,7,,\n"
    )
    assert found.names == ["x", "y", "yes"]
    np.testing.assert_array_equal(found.X[:, 2], [1.0, 0.0, np.nan])
    for note in (
        "'text': dropped, text; --one-hot",
        "'day': dropped, dates or times; --index names the rows by it",
        "'same': dropped, all values are the same",
        "'none': dropped, no row has a value",
        "'yes': taken as 0 and 1",
    ):
        assert note in found.notes


def test_text_with_few_values_becomes_one_hot_on_request(read_bytes: Reader) -> None:
    content = b"x,y,c,n\n1,2,red,1\n3,5,blue,2\n4,9,,1\n"
    found = read_bytes(content, choice=Choice(one_hot=True, encode=["n"]))
    assert found.names == ["x", "y", "c=blue", "c=red", "n=1", "n=2"]
    nan = np.nan
    np.testing.assert_array_equal(found.X[:, 2:], [[0, 1, 1, 0], [1, 0, 0, 1], [nan, nan, 1, 0]])


def test_a_column_is_text_if_many_late_cells_are(read_bytes: Reader) -> None:
    content = b"x,y,z\n" + b"1,2,3\n2,3,5\n" * 20_000 + b"3,4,oops\n" * 2_000
    found = read_bytes(content)
    assert found.names == ["x", "y"]
    assert "'z': dropped, text" in found.notes


def test_nothing_in_a_cell_or_a_name_is_more_than_text(read_bytes: Reader) -> None:
    nasty = "<script>alert(1)</script>"
    found = read_bytes(
        f'{nasty},"=HYPERLINK(""http://x"")",日本 🎉,{"w" * 1_000_000}\n'
        f"1,2,{nasty},{'v' * 1_000_000}\n3,5,=1+1,v\n".encode()
    )
    assert found.names == [nasty, '=HYPERLINK("http://x")']
    assert len(found.notes) < 1000


def test_other_encodings_are_recognised_or_read_when_named(read_bytes: Reader) -> None:
    content = "größe,y\n1,2\n3,5\n"
    assert read_bytes(content.encode("latin-1")).names == ["größe", "y"]
    assert read_bytes(content.encode("cp850"), encoding="cp850").names == ["größe", "y"]
    with pytest.raises(FileError, match="encoding 'klingon' is unknown"):
        read_bytes(content.encode(), encoding="klingon")
    with pytest.raises(FileError, match="encoding is wrong"):
        read_bytes(b"\xff\xfea\x00,\x00b\x00\n\x00\x00\xd8\x00\x00", encoding=None)


def test_a_line_without_an_end_is_an_error_not_a_full_memory(read_bytes: Reader) -> None:
    with pytest.raises(FileError, match=r"data\.csv"):
        read_bytes(b"x,y\n1," + b"2" * (9 << 20) + b"\n3,4\n5,6\n")


def test_cells_may_hold_what_separates_notes(read_bytes: Reader) -> None:
    rows = "".join(f"{i},{i * i % 7}\n" for i in range(60))
    found = read_bytes(f"a,b\n{rows}7,\x1e1\x1fx\x1d\n".encode())
    assert "1 of 61 cells of 'b' is no number" in found.notes
