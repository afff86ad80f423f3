"""From tables as people have them to what they want to keep."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pytest

from .conftest import COLUMNS, Answer, read_scores

Call = Callable[..., Answer]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a pump log as it comes from a spreadsheet: a title, units, an error, row numbers."""
    rng = np.random.default_rng(3)
    power = rng.uniform(1, 9, 200)
    lines = ["Pump log 7", "", "no;at;power;flow;temp;pump", ";;kW;m3/h;C;"]
    for i, p in enumerate(power):
        flow = "ERR" if i == 53 else f"{1000 * p + rng.normal(0, 9):.1f}".replace(".", ",")
        temp = f"{20 + 3 * p + rng.normal(0, 0.2):.2f}".replace(".", ",")
        lines.append(f"{i + 1};2024-05-{i % 28 + 1:02};{p:.2f} kW;{flow};{temp};{'AB'[i % 2]}")
    path = tmp_path / "log.csv"
    path.write_text("\n".join([*lines, "", "Source: control room"]), encoding="cp1252")
    return path


def test_what_was_done_to_a_messy_table_is_said(call: Call, log: Path) -> None:
    answer = call("detect", log, "--method", "vector", "--top", 1)
    assert answer.status == 0
    assert "log.csv: 200 rows, 3 features" in answer.out
    for note in (
        "left out 2 lines above the table",
        "left out 1 of 2 lines of names and units",
        "left out 1 line below the table",
        "'no': dropped, row numbers; --use takes it for a measurement",
        "'at': dropped, dates or times; --index names the rows by it",
        "1 of 200 cells of 'flow' is no number: 'ERR', line 58; treated as missing",
    ):
        assert note in answer.out
    assert call("detect", log, "--method", "vector", "--use", "no").out.count("4 features") == 1
    strict = call("detect", log, "--method", "vector", "--strict")
    assert strict.status == 1
    assert "log.csv, line 58, column 'flow': 'ERR' is not a number" in strict.err


def test_a_value_that_may_stand_for_none_is_questioned(call: Call, tmp_path: Path) -> None:
    data = tmp_path / "a.csv"
    rows = [f"{i % 7},{-9999 if i % 20 == 3 else i % 5}" for i in range(100)]
    data.write_text("\n".join(["a,b", *rows]), encoding="utf-8")
    asked = call("detect", data, "--method", "vector")
    assert "'b': -9999 occurs 5 times, far from all other values (0 to 4)" in asked.out
    told = call("detect", data, "--method", "vector", "--missing=-9999")
    assert "5 missing values in 'b'" in told.out


@pytest.mark.parametrize("name", ["scores.csv", "scores.parquet"])
def test_columns_of_the_table_are_kept(
    call: Call, table: Path, model: Path, tmp_path: Path, name: str
) -> None:
    out = tmp_path / name
    for keep in ("all", "kind,mass"):
        assert (
            call("score", model, table, "--index", "name", "--keep", keep, "--out", out).status == 0
        )
        if name.endswith("csv"):
            lines = read_scores(out)
        else:
            answer = duckdb.connect().execute(f"select * from '{out}'")
            names = [column[0] for column in answer.description]
            lines = [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
        assert len(lines) == 300
        assert lines[6]["name"] == "part 7"
        assert not lines[6]["mass"]
        assert lines[7]["kind"] == "round"  # ours is kind_2
        assert ("depth" in lines[0]) == (keep == "all")
        assert float(lines[0]["score"]) > 0
    refused = call("score", model, table, "--keep", "all")
    assert refused.status == 2
    unknown = call("score", model, table, "--keep", "weight", "--out", out)
    assert "has no column 'weight'" in unknown.err


def test_a_row_is_found_by_its_index(call: Call, table: Path, model: Path) -> None:
    named = call("explain", model, table, "--index", "name", "--at", "part 41", "--json")
    by_number = call("explain", model, table, "--row", 41, "--json")
    assert named.json == by_number.json
    both = call("explain", model, table, "--index", "name", "--row", 41, "--json")
    assert both.json == by_number.json
    absent = call("explain", model, table, "--index", "name", "--at", "part x")
    assert absent.status == 1
    assert "no row whose 'name' is 'part x'; give --at a value as it stands there" in absent.err
    assert "such as 'part 1'" in absent.err
    assert call("explain", model, table, "--index", "name").status == 2
    refilled = call("explain", model, table, "--row", 41, "--rank", "refill", "--json").json
    assert {entry["column"] for entry in refilled["columns"]} == set(COLUMNS)


def test_of_several_rows_of_a_name_the_first_is_explained_and_the_others_are_listed(
    call: Call, table: Path, model: Path
) -> None:
    words = ("explain", model, table, "--index", "kind", "--at", "square")
    record = call(*words, "--json").json
    assert (record["row"], record["same_index"]) == (1, list(range(4, 301, 3)))
    assert (
        "the first of 100 rows of this name; the others: --row 4, 7, 10, 13, 16, ...\n"
        in call(*words).out
    )


def test_a_query_and_a_pattern_give_the_rows_of_the_files(
    call: Call, table: Path, model: Path, tmp_path: Path
) -> None:
    lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
    for i in range(3):
        part = [lines[0], *lines[1 + 100 * i : 101 + 100 * i]]
        (tmp_path / f"p{i}.csv").write_text("".join(part), encoding="utf-8")
    scores = []
    for words in ([table], [tmp_path / "p*.csv"], ["--query", f"select * from '{table}'"]):
        out = tmp_path / "out.txt"
        assert call("score", model, *words, "--out", out).status == 0
        scores.append(out.read_bytes())
    assert len(set(scores)) == 1
    into_itself = call("score", model, tmp_path / "p*.csv", "--out", tmp_path / "p1.csv")
    assert (into_itself.status, "is the same file as" in into_itself.err) == (1, True)
    assert call("score", model).status == 2
    written = call("score", model, "--query", f"copy (select 1) to '{tmp_path}/x'")
    assert (written.status, "must be one select" in written.err) == (1, True)


def test_the_budget_of_an_ensemble(call: Call, table: Path, tmp_path: Path) -> None:
    saved = tmp_path / "m.setatoms"
    assert call("fit", table, "--budget", "fast", "--save", saved).status == 0
    assert call("fit", table, "--budget", "fast", "--method", "cone", "--save", saved).status == 2


def test_a_batch_in_other_units_is_said_in_the_first_line(
    call: Call, table: Path, model: Path, tmp_path: Path, rows: list[dict[str, str]]
) -> None:
    same = call("score", model, table, "--json").json
    assert same["batch"] == ""
    other = tmp_path / "other.csv"
    lines = [",".join(COLUMNS)]
    for row in rows:
        depth = f"{float(row['depth']) * 1.8 + 32:.4f}"
        lines.append(",".join([depth, *(row[name] for name in COLUMNS[1:])]))
    other.write_text("\n".join(lines), encoding="utf-8")
    answer = call("score", model, other)
    assert answer.status == 0
    first = answer.out.splitlines()[0]
    assert first.startswith(
        "other.csv is not like the rows learned from: 100% of the rows flagged where 5% are"
    )
    assert "'depth' moved (median 3" in first


def test_values_that_the_model_never_saw_are_named(
    call: Call, table: Path, tmp_path: Path, rows: list[dict[str, str]]
) -> None:
    model, other = tmp_path / "m.setatoms", tmp_path / "other.csv"
    call("fit", table, "--method", "cone", "--encode", "kind", "--save", model)
    text = table.read_text(encoding="utf-8").splitlines()
    text[3], text[5] = (line.rsplit(",", 1)[0] + ",oval" for line in (text[3], text[5]))
    other.write_text("\n".join(text), encoding="utf-8")
    notes = call("score", model, other, "--json", "--strict").json["notes"]
    assert (
        "2 of 300 cells of 'kind' have values that the model never saw: the first 'oval', line 4"
        in notes
    )
