"""The readers against Python's own csv module, on whatever hypothesis thinks of."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setatoms.files import FileError, Source
from setatoms.files.blocks import delimited_blocks, record_end
from setatoms.files.cells import MISSING, parse_number
from setatoms.files.delimited import DelimitedTable
from setatoms.files.errors import NotNumbersError
from setatoms.files.records import records

csv.field_size_limit(1 << 30)
pieces = st.sampled_from(['"', '""', ",", "\n", "\r\n", "\r", "a", " ", "1.5", "é", ";"])
texts = st.lists(pieces, max_size=40).map("".join)
cells = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6),
    st.floats(allow_infinity=False).map(repr),
    st.integers().map(str),
    st.sampled_from(["", "NA", " 1", "+2", "1e5", "0x1", "1_0", "nan", "1,5", "'", '"', "\n"]),
)


def oracle(text: str) -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(text, newline="")) if row]


@given(texts)
@settings(max_examples=500)
def test_records_are_those_of_the_csv_module(text: str) -> None:
    found = list(records(text.encode(), b","))
    if all(record.closed for record in found):
        assert [record.fields for record in found] == oracle(text)


@given(texts, st.integers(1, 20))
@settings(max_examples=500)
def test_blocks_cut_between_records_only(text: str, size: int) -> None:
    data = text.encode()
    blocks = list(delimited_blocks(io.BytesIO(data), "x", b",", size))
    assert b"".join(block.data for block in blocks) == data
    apart = [r.fields for block in blocks for r in records(block.data, b",")]
    assert apart == [record.fields for record in records(data, b",")]
    for block in blocks:
        before = data[: data.index(block.data)] if len(blocks) == 1 else None
        assert before is None or block.first_line == 1


@given(texts)
@settings(max_examples=500)
def test_the_fast_search_for_the_last_record_agrees_with_the_exact_one(text: str) -> None:
    data = text.encode()
    whole = [
        record.end
        for record in records(data, b",")
        if record.closed and data[record.end - 1 : record.end] in (b"\n", b"\r")
    ]
    ends = [0, *whole]
    end = record_end(data, b",")
    # blank lines are no records, so the search may go beyond the last one
    assert not data[ends[-1] : end].strip(b"\r\n")
    assert end >= ends[-1] or data.endswith(b"\r")


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(cells, min_size=n, max_size=n))))
@settings(max_examples=300)
def test_tables_read_as_the_csv_module_and_float_do(rows: list[list[str]]) -> None:
    width = len(rows[0]) if rows else 1
    names = [f"n{j}" for j in range(width)]
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows([names, *rows])
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        Path(file.name).write_bytes(stream.getvalue().encode())
        # one row of one empty cell is written as "", and is no blank line
        table = DelimitedTable(Source(file.name), MISSING, delimiter=",", header=True)
        words = [
            list(row)
            for chunk in table.chunks()
            for row in zip(*chunk.read([], names).words.values(), strict=True)
        ]
        assert words == rows
        for name, column in zip(names, zip(*rows, strict=True), strict=False):
            expected = [parse_number(cell, MISSING) for cell in column]
            if None in expected:
                with pytest.raises(NotNumbersError):
                    [chunk.read([name], []) for chunk in table.chunks()]
            else:
                found = [chunk.read([name], []).numbers[:, 0] for chunk in table.chunks()]
                np.testing.assert_array_equal(np.concatenate(found), np.array(expected, float))


@given(st.binary(max_size=200))
@settings(max_examples=300)
def test_any_bytes_are_a_table_or_a_file_error(data: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        Path(file.name).write_bytes(data)
        try:
            table = DelimitedTable(Source(file.name), MISSING)
            for chunk in table.chunks():
                chunk.read([], table.names)
        except FileError:
            return
