"""Rows that come on standard input are scored at once, whatever lies between them."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import setatoms
from setatoms.cli import main
from setatoms.estimators.saving import store
from setatoms.files.encoding import Column, Encoding
from setatoms.files.errors import FileError
from setatoms.files.records import LineParser
from setatoms.persistence import read_header

from .conftest import COLUMNS

SETATOMS = [sys.executable, "-m", "setatoms"]


def watch(model: Path, text: str | bytes, *words: object) -> tuple[int, list[dict], str]:
    """Return the status, the answers and what was said on standard error."""
    out, err, own_input = io.StringIO(), io.StringIO(), os.dup(0)
    with tempfile.TemporaryFile() as stream:
        stream.write(text.encode() if isinstance(text, str) else text)
        stream.seek(0)
        os.dup2(stream.fileno(), 0)
        try:
            with redirect_stdout(out), redirect_stderr(err):
                status = main(["watch", str(model), *map(str, words)])
        finally:
            os.dup2(own_input, 0)
            os.close(own_input)
    return status, [json.loads(line) for line in out.getvalue().splitlines()], err.getvalue()


def as_json(rows: list[dict[str, str]]) -> str:
    records = (
        {name: float(row[name]) if row[name] else None for name in COLUMNS} | {"name": row["name"]}
        for row in rows
    )
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return 6,000 rows like those of the table, as CSV."""
    rng = np.random.default_rng(5)
    weights = (rng.normal(size=(300, 2)), rng.normal(size=(2, 4)))[1]
    X = rng.normal(size=(6_000, 2)) @ weights + 0.05 * rng.normal(size=(6_000, 4))
    path = tmp_path_factory.mktemp("many") / "many.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        writer.writerows([f"{x:.4f}" for x in row] for row in X)
    return path


def test_scores_are_those_of_score_in_both_forms(model, table, rows, call, tmp_path):
    call("score", model, table, "--out", tmp_path / "scores.csv")
    with (tmp_path / "scores.csv").open(newline="", encoding="utf-8") as stream:
        expected = list(csv.DictReader(stream))
    for text in (table.read_text(encoding="utf-8"), as_json(rows)):
        status, answers, _ = watch(model, text)
        assert status == 0
        assert [answer["row"] for answer in answers] == list(range(1, 301))
        for answer, line in zip(answers, expected, strict=True):
            assert answer["score"] == pytest.approx(float(line["score"]), rel=1e-9)
            assert answer["flagged"] == (line["flagged"] == "1")
            assert answer["p_value"] == pytest.approx(float(line["p_value"]), rel=1e-9)
            assert answer.get("kind", "") == line["kind"]


def test_flagged_rows_name_columns(model, rows):
    broken = dict(rows[0], depth="50")
    _, (answer,), _ = watch(model, as_json([broken]), "--top", 2)
    assert answer["flagged"]
    assert answer["columns"][0] == "depth"
    assert len(answer["columns"]) <= 2
    _, (answer,), _ = watch(model, as_json([broken]), "--top", 0)
    assert "columns" not in answer


BAD = {
    '{"depth": 1, "width": 2': "no JSON object",
    "[1, 2, 3, 4]": "no JSON object",
    '{"depth": 1, "width": 2, "height": 3}': "lacks 'mass'",
    '{"depth": "deep", "width": 2, "height": 3, "mass": 4}': "column 'depth': 'deep' is no value",
    '{"depth": [1], "width": 2, "height": 3, "mass": 4}': "column 'depth'",
    '{"depth": 1e999, "width": 2, "height": 3, "mass": 4}': "column 'depth'",
    "{" * 100_000: "no JSON object",
    "\x00\x1b[31m": "no JSON object",
}


def test_a_line_that_is_no_row_is_named_and_the_next_is_scored(model, rows):
    good = as_json(rows[:1])
    text = "".join(good + line + "\n" for line in BAD) + good
    status, answers, _ = watch(model, text)
    assert status == 0
    errors = [answer for answer in answers if "error" in answer]
    assert [error["line"] for error in errors] == [2 * i + 2 for i in range(len(BAD))]
    for error, words in zip(errors, BAD.values(), strict=True):
        assert words in error["error"]
    assert [a["row"] for a in answers if "row" in a] == list(range(1, len(BAD) + 2))


def test_cells_that_do_not_fit_are_named(model):
    names = "name,depth,width,height,mass\n"
    text = (
        f"1,2,3,4,5\n{names}a,1,1,1,1\nb,1,1,1\nc,1,wide,1,1\n\nmass;height;width;depth\n1;1;1;1\n"
    )
    _, answers, _ = watch(model, text)
    assert "no line before it has named the columns" in answers[0]["error"]
    assert answers[1]["row"] == 1
    assert "has 4 cells where 5 columns were named" in answers[2]["error"]
    assert "column 'width': 'wide' is no value" in answers[3]["error"]
    # columns in another order, named by a line of their own
    assert answers[4]["row"] == 2
    assert answers[4]["score"] == answers[1]["score"]


@pytest.mark.parametrize(
    "names",
    [
        "depth,width,height",
        "deepness,width,height,mass",
        "a,b,c,d",
        "depth,width,height,mass2,name",
    ],
)
def test_cells_of_other_columns_are_not_taken_for_those_before(model, names):
    n_cells = names.count(",") + 1
    known, row = "depth,width,height,mass\n1,1,1,1\n", ",".join("1" * n_cells)
    _, answers, _ = watch(model, f"{known}{names}\n{row}\n{known}")
    assert ["score" in answer for answer in answers] == [True, False, False, True]
    assert "cells are not read until a line names all of them" in answers[1]["error"]
    assert "no line before it has named the columns" in answers[2]["error"]


@pytest.mark.parametrize("line", ["lost", "wide,wide,wide,wide", "deep,1,1,1", "no,row", ",,,x"])
def test_a_line_of_noise_names_no_columns(model, line):
    _, answers, _ = watch(model, f"depth,width,height,mass\n1,1,1,1\n{line}\n1,1,1,1\n")
    assert ["score" in answer for answer in answers] == [True, False, True]


def test_bytes_that_are_no_text_and_endless_lines_are_lines_like_others(model, rows):
    text = b"\xff\xfe\n" + b"x" * 3_000_000 + b"\n" + as_json(rows[:1]).encode().strip()
    status, answers, _ = watch(model, text)
    assert status == 0
    assert ["error" in answer for answer in answers] == [True, True, False]
    assert "longer than a megabyte" in answers[1]["error"]


def test_strict_stops_and_says_where(model, rows, tmp_path):
    text = as_json(rows[:2]) + "broken\n" + as_json(rows[2:3])
    status, answers, said = watch(model, text, "--strict", "--state", tmp_path / "state")
    assert status == 1
    assert said.startswith("setatoms: line 3: ")
    assert [answer.get("row") for answer in answers] == [1, 2, None]
    assert read_header(tmp_path / "state")["notes"]["watch"]["rows"] == 2


def test_nothing_on_standard_input_is_no_error(model):
    assert watch(model, "")[:2] == (0, [])


def test_one_row_is_answered_while_more_are_awaited(model, rows):
    with subprocess.Popen(
        [*SETATOMS, "watch", str(model)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        for row in rows[:3]:
            process.stdin.write(as_json([row]).encode())
            process.stdin.flush()
            assert "score" in json.loads(process.stdout.readline())
        process.stdin.close()
        assert process.wait() == 0


@pytest.mark.parametrize("learn", [(), ("--learn", "--half-life", 1_000)])
def test_a_stream_in_two_parts_answers_as_one(model, many, tmp_path, learn):
    lines = many.read_text(encoding="utf-8").splitlines(keepends=True)
    whole = watch(model, "".join(lines), *learn)[1]
    state = tmp_path / "state"
    first = watch(model, "".join(lines[:2_345]), "--state", state, *learn)[1]
    second = watch(model, "".join(lines[2_345:]), "--state", state, *learn)[1]
    assert first + second == whole
    # the same input from its beginning
    state.unlink()
    watch(model, "".join(lines[:2_345]), "--state", state, *learn)
    assert watch(model, "".join(lines), "--state", state, "--replay", *learn)[1] == second


def test_a_change_is_told_once(model, many):
    lines = many.read_text(encoding="utf-8").splitlines(keepends=True)
    rng = np.random.default_rng(0)
    cells = np.array([line.strip().split(",") for line in lines[1:3_001]])
    shuffled = rng.permuted(cells, axis=0)
    text = "".join(lines) + "".join(",".join(row) + "\n" for row in shuffled)
    _, answers, _ = watch(model, text)
    (alarm,) = [answer for answer in answers if "alarm" in answer]
    assert 6_000 < alarm["row"] < 6_500


def test_a_state_of_something_else_is_refused(model, many, tmp_path, rows):
    state = tmp_path / "state"
    state.write_bytes(model.read_bytes())
    status, _, said = watch(model, as_json(rows), "--state", state)
    assert status == 1
    assert "is no state of setatoms watch" in said
    other = tmp_path / "other.setatoms"
    X = np.random.default_rng(0).normal(size=(300, 4))
    frame = pd.DataFrame(X, columns=COLUMNS)
    setatoms.ConeAtomDetector(n_iter=10, random_state=0).fit(frame).save(other)
    state.unlink()
    assert watch(other, as_json(rows), "--state", state)[0] == 0
    status, _, said = watch(model, as_json(rows), "--state", state)
    assert status == 1
    assert "was begun with another model" in said
    assert watch(model, "", "--state", model)[0] == 1


@pytest.mark.parametrize(
    "words", [("--half-life", 100), ("--replay",), ("--learn", "--half-life", 0)]
)
def test_options_that_do_not_belong_together(model, words):
    assert watch(model, "", *words)[0] == 2


def run_and_kill(model: Path, source: Path, state: Path, out: Path, delay: float | None) -> bool:
    """Kill a stream so many seconds after it saved its state; return whether it ended before."""
    before = state.stat().st_mtime_ns if state.exists() else 0
    words = ["watch", str(model), "--state", str(state), "--learn", "--replay"]
    with (
        source.open("rb") as stdin,
        out.open("ab") as stdout,
        subprocess.Popen([*SETATOMS, *words], stdin=stdin, stdout=stdout) as process,
    ):
        while process.poll() is None:
            time.sleep(0.005)
            if delay is None:
                process.wait()
            elif state.exists() and state.stat().st_mtime_ns > before:
                time.sleep(delay)
                process.kill()
                break
    return process.returncode == 0


@pytest.mark.slow
def test_killed_ten_times_it_ends_where_it_would_have(model, many, tmp_path):
    """What a state holds is whole, and going on from it gives the same model and answers."""
    lines = many.read_text(encoding="utf-8").splitlines(keepends=True)
    source, quiet = tmp_path / "rows.csv", tmp_path / "quiet"
    source.write_text("".join([lines[0], *(lines[1:] * 15)]), encoding="utf-8")
    expected = watch(model, source.read_bytes(), "--state", quiet, "--learn")[1]
    state, out, rng = tmp_path / "state", tmp_path / "out", random.Random(0)
    for _ in range(10):
        assert not run_and_kill(model, source, state, out, 0.2 * rng.random())
        setatoms.load(state)
    assert run_and_kill(model, source, state, out, None)
    answers: dict[int, dict] = {}
    for line in out.read_bytes().split(b"\n"):
        try:
            answer = json.loads(line)
        except ValueError:
            continue  # cut short by the kill; the row comes again
        if "score" in answer:
            assert answers.setdefault(answer["row"], answer) == answer
    assert [answers[row] for row in sorted(answers)] == [a for a in expected if "score" in a]
    assert_same(setatoms.load(quiet), setatoms.load(state))


def assert_same(one, other):
    first, second = store(one), store(other)
    assert first.header["attributes"] == second.header["attributes"]
    for name, array in first.arrays.items():
        assert np.array_equal(array, second.arrays[name], equal_nan=True), name


@pytest.mark.slow
def test_memory_does_not_grow_with_the_stream(model, many):
    lines = many.read_text(encoding="utf-8").splitlines(keepends=True)
    program = (
        "import resource, sys; from setatoms.cli import main; main(sys.argv[1:]); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )

    def peak(n_times: int) -> int:
        done = subprocess.run(
            [sys.executable, "-c", program, "watch", str(model), "--learn"],
            input="".join([lines[0], *(lines[1:] * n_times)]), capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        return int(done.stderr.split()[-1])

    # what is read but not yet scored is bounded; allocators vary by some megabytes
    assert peak(20) < peak(2) + 20_000


def parser() -> LineParser:
    columns = (
        Column("size"),
        Column("on", "boolean"),
        Column("kind", "one-hot", ("a", "7")),
        Column("price", marks=(",", ".")),
    )
    return LineParser(Encoding(columns, missing=("n.d.",)))


@pytest.mark.parametrize(
    ("line", "numbers"),
    [
        ('{"size": 1.5, "on": true, "kind": "a", "price": "1.200,5"}', [1.5, 1.0, 1.0, 1200.5]),
        ('{"size": "2e3", "on": "no", "kind": 7, "price": 3}', [2000.0, 0.0, 2.0, 3.0]),
        ('{"size": "12 kg", "on": 0, "kind": "new", "price": "-"}', [12.0, 0.0, 0.0, np.nan]),
        ('{"size": "n.d.", "on": null, "kind": "", "price": NaN}', [np.nan] * 4),
    ],
)
def test_values_are_read_as_models_know_them(line, numbers):
    assert np.array_equal(parser().parse(line), numbers, equal_nan=True)


@pytest.mark.parametrize(
    "line",
    [
        '{"size": "1_000", "on": true, "kind": "a", "price": 1}',
        '{"size": Infinity, "on": true, "kind": "a", "price": 1}',
        '{"size": 1, "on": "maybe", "kind": "a", "price": 1}',
        '{"size": 1, "on": 2, "kind": "a", "price": 1}',
        '{"size": 1, "on": true, "kind": {"a": 1}, "price": 1}',
        '{"size": 1, "on": true, "kind": "a", "price": {}}',
    ],
)
def test_other_values_are_refused(line):
    with pytest.raises(FileError, match="is no value"):
        parser().parse(line)
