"""Files as people have them, each with its own trouble: all rows and all numbers come out right."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from setatoms.files import Choice, ReadOptions, Source, choose_columns, open_table
from setatoms.files.survey import no_measurement

from .messy.make import CASES


@pytest.mark.parametrize(("name", "content", "expected"), CASES, ids=[case[0] for case in CASES])
def test_rows_and_numbers_of_a_messy_file(
    name: str, content: bytes, expected: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    table = open_table(Source(str(path)), ReadOptions())
    use = [name for name in table.names if table.columns[name].numeric]
    chosen = choose_columns(table, Choice(use=use), most_numbers=10**7, least_columns=0)
    assert chosen.survey.n_rows == expected["rows"]
    values = chosen.columns()
    wanted = {_name(column, table.names): each for column, each in expected["numbers"].items()}
    idle = {_name(column, table.names) for column in expected["not_measurements"]}
    for column, numbers in wanted.items():
        if column not in values and (column in idle or len(set(numbers) - {None}) < 2):
            continue  # text is as good for an identifier; a constant is left out
        truth = [math.nan if number is None else float(number) for number in numbers]
        np.testing.assert_allclose(values[column], truth, rtol=1e-9, err_msg=column)
    assert not values.keys() - wanted.keys()
    unclear = {_name(column, table.names) for column in expected["unclear"]}
    for column, number in chosen.survey.numbers.items():
        if column in wanted.keys() - unclear and not number.constant:
            what = no_measurement(number, table.columns[column])
            assert (what is not None) == (column in idle), (column, what)


def _name(column: str, names: list[str]) -> str:
    """Return the name of a column, which may be given by its place."""
    by_place = column.startswith("#") and column[1:].isdecimal() and column not in names
    return names[int(column[1:]) - 1] if by_place else column.strip()
