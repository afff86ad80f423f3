"""The commands, as people call them."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import setatoms

from .conftest import COLUMNS, Answer, as_parquet, read_scores, worst_row

Call = Callable[..., Answer]


@pytest.mark.parametrize("method", ["gaussian", "cone", "vector", "ensemble"])
def test_detect_lists_the_worst_rows_and_says_why(
    call: Call, table: Path, tmp_path: Path, method: str
) -> None:
    out = tmp_path / "scores.csv"
    answer = call("detect", table, "--method", method, "--index", "name", "--json", "--out", out)
    assert answer.status == 0
    found = answer.json
    assert found["rows"] == 300
    assert found["columns"] == COLUMNS
    first = found["top"][0]
    worst = worst_row(read_scores(out))
    assert (first["row"], first["index"], first["flagged"]) == (worst, f"part {worst}", True)
    scores = [record["score"] for record in found["top"]]
    assert scores == sorted(scores, reverse=True)
    assert "where the others imply" in first["sentence"]
    assert any("'kind': dropped, text" in note for note in found["notes"])
    assert any("1 missing value in 'mass': filled" in note for note in found["notes"])


def test_scores_have_a_line_for_every_row_in_order(call: Call, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "scores.csv"
    assert call("detect", table, "--method", "cone", "--index", "name", "--out", out).status == 0
    lines = read_scores(out)
    assert list(lines[0]) == ["name", "row", "score", "flagged", "p_value", "kind", "reason"]
    assert [line["row"] for line in lines] == [str(i) for i in range(1, 301)]
    assert [line["name"] for line in lines] == [f"part {i}" for i in range(1, 301)]
    for line in lines:
        assert bool(line["reason"]) == (line["flagged"] == "1")
        assert 0 < float(line["p_value"]) <= 1


def test_scores_are_minus_those_of_the_library(call: Call, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "scores.csv"
    call("detect", table, "--method", "cone", "--seed", 3, "--out", out, "--contamination", "0.1")
    with table.open(newline="", encoding="utf-8") as stream:
        words = [[row[name] or "nan" for name in COLUMNS] for row in csv.DictReader(stream)]
    X = np.array(words, dtype=float)
    detector = setatoms.ConeAtomDetector(contamination=0.1, random_state=3, missing="fill").fit(X)
    lines = read_scores(out)
    np.testing.assert_array_equal(
        [float(line["score"]) for line in lines], -detector.score_samples(X)
    )
    np.testing.assert_array_equal(
        [line["flagged"] == "1" for line in lines], detector.predict(X) == -1
    )
    # without rows outside the fit there are no p-values
    assert {line["p_value"] for line in lines} == {""}


def test_a_saved_model_scores_the_same_in_every_format(
    call: Call, table: Path, model: Path, tmp_path: Path, rows: list[dict[str, str]]
) -> None:
    numbers = [{n: float(row[n]) if row[n] else None for n in COLUMNS} for row in rows]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, numbers)), encoding="utf-8")
    as_parquet(tmp_path / "a.jsonl", tmp_path / "a.parquet")
    # the order of columns does not matter, nor do further ones
    back = [",".join(reversed([*COLUMNS, "more"]))]
    back += [",".join(reversed([*(row[n] for n in COLUMNS), "x"])) for row in rows]
    (tmp_path / "a.csv").write_text("\n".join(back), encoding="utf-8")
    semicolons = "\n".join(
        [";".join(COLUMNS), *(";".join(row[n].replace(".", ",") for n in COLUMNS) for row in rows)]
    )
    (tmp_path / "b.csv").write_text(semicolons, encoding="utf-8")
    scores = []
    for data in (table, *sorted(tmp_path.glob("[ab].*"))):
        out = tmp_path / "scores"
        assert call("score", model, data, "--out", out).status == 0
        scores.append(out.read_bytes())
    assert len(scores) == 5
    assert len(set(scores)) == 1


def test_standard_input_and_output_are_files_like_others(table: Path, model: Path) -> None:
    command = [sys.executable, "-m", "setatoms", "score", str(model)]
    piped = subprocess.run(
        [*command, "-", "--out", "-"], input=table.read_bytes(), capture_output=True, check=True
    )
    lines = list(csv.DictReader(io.StringIO(piped.stdout.decode())))
    assert len(lines) == 300
    assert b"standard input: 300 rows" in piped.stderr


def test_fdr_flags_what_predict_flags(call: Call, table: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "scores.csv"
    assert call("score", model, table, "--fdr", "0.4", "--out", out).status == 0
    lines = read_scores(out)
    p_values = [float(line["p_value"]) for line in lines]
    expected = setatoms.decisions.benjamini_hochberg(p_values, 0.4)
    np.testing.assert_array_equal([line["flagged"] == "1" for line in lines], expected)


@pytest.mark.parametrize("fdr", [0.001, 0.02])
def test_fdr_says_when_calibration_rows_are_too_few(
    call: Call, table: Path, model: Path, tmp_path: Path, fdr: float
) -> None:
    n_calibration = len(setatoms.load(model).calibration_scores_)
    said = "calibration rows give no p-value below"
    none = call("score", model, table, "--fdr", fdr, "--json").json
    assert none["flagged"] == 0
    (note,) = [note for note in none["notes"] if said in note]
    smallest = 1 / (n_calibration + 1)
    assert note.startswith(f"{n_calibration:,} {said} {smallest:.2g}, so --fdr {fdr} ")
    n_flagged = [
        setatoms.decisions.benjamini_hochberg(np.repeat([smallest, 1.0], [k, 300 - k]), fdr).sum()
        for k in range(301)
    ]
    fewest = min(filter(None, n_flagged), default=None)
    can = "can flag none of" if fewest is None else f"flags {fewest} or more of"
    assert f"{can} 300 rows" in note
    # of ten rows a single one could be flagged
    few = tmp_path / "few.csv"
    few.write_text("".join(table.read_text("utf-8").splitlines(keepends=True)[:11]), "utf-8")
    answer = call("score", model, few, "--fdr", "0.2", "--json").json
    assert answer["rows"] == 10
    assert not any(said in note for note in answer["notes"])


def test_answers_say_which_rows_a_threshold_is_for(
    call: Call, table: Path, model: Path, tmp_path: Path
) -> None:
    detector = setatoms.load(model)
    learned, new = -detector.training_offset_, -detector.offset_
    detected = call("detect", table, "--method", "cone").out
    assert f"score above {learned:.4g}: the threshold for rows learned from aims at 5 %" in detected
    scored = call("score", model, table).out
    assert f"score above {new:.4g}: the threshold for new rows aims at 5 %" in scored
    worst = worst_row(read_scores(_scores(call, model, table, tmp_path)))
    explained = call("explain", model, table, "--row", worst).out
    both = f"flagged (new rows above {new:.4g} are, rows learned from above {learned:.4g})"
    assert both in explained


def _scores(call: Call, model: Path, table: Path, tmp_path: Path) -> Path:
    out = tmp_path / "scores.csv"
    assert call("score", model, table, "--out", out).status == 0
    return out


def test_explain_shows_every_column_of_one_row(call: Call, table: Path, model: Path) -> None:
    record = call("explain", model, table, "--row", 41, "--json").json
    assert sorted(entry["column"] for entry in record["columns"]) == sorted(COLUMNS)
    assert sum(entry["contribution"] for entry in record["columns"]) == pytest.approx(1, abs=1e-9)
    in_words = call("explain", model, table, "--row", 41).out
    assert "row 41: score" in in_words
    assert all(column in in_words for column in COLUMNS)
    beyond = call("explain", model, table, "--row", 301)
    assert (beyond.status, "has 300 rows" in beyond.err) == (1, True)


def test_info_reads_the_header_alone(call: Call, model: Path) -> None:
    assert "ConeAtomDetector" in call("info", model).out
    header = call("info", model, "--json").json
    assert header["features"]["names"] == COLUMNS
    code = (
        "import sys; from setatoms.cli import main; "
        f"main(['info', {str(model)!r}]); "
        "print([m for m in ('numpy', 'numba', 'sklearn', 'duckdb') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


def test_one_hot_columns_belong_to_the_model(call: Call, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "hot.setatoms"
    fit = call("fit", table, "--method", "vector", "--atoms", 8, "--encode", "kind",
               "--drop", "name,mass", "--save", path, "--json")  # fmt: skip
    assert fit.json["columns"] == [*COLUMNS[:3], "kind=round", "kind=square"]
    scored = call("score", path, table, "--json", "--top", 1).json
    assert scored["columns"] == fit.json["columns"]
    other = tmp_path / "other.csv"
    other.write_text("depth,width,height,kind\n1,2,3,oval\n1,2,oops,round\n", encoding="utf-8")
    wrong = call("score", path, other)
    assert wrong.status == 1
    assert "other.csv, line 3, column 'height': 'oops' is not a number" in wrong.err
    other.write_text("depth,width,kind\n1,2,oval\n", encoding="utf-8")
    assert "lacks what the model needs: 'height'" in call("score", path, other).err


def test_a_model_made_in_python_is_scored_by_its_names(
    call: Call, table: Path, tmp_path: Path
) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(table)[COLUMNS].dropna()
    path = tmp_path / "python.setatoms"
    detector = setatoms.VectorAtomDetector(random_state=0).fit(frame)
    detector.save(path)
    answer = call("score", path, table, "--json", "--top", 300)
    by_row = {record["row"]: record["score"] for record in answer.json["top"]}
    expected = dict(zip(frame.index + 1, -detector.score_samples(frame), strict=True))
    assert {row: by_row[row] for row in expected} == expected
    assert any("1 missing value: filled" in note for note in answer.json["notes"])


def test_the_report_is_one_page_with_the_top_rows(
    call: Call, table: Path, model: Path, tmp_path: Path
) -> None:
    page, out = tmp_path / "page.html", tmp_path / "scores.csv"
    answer = call("score", model, table, "--index", "name", "--report", page, "--out", out)
    assert answer.status == 0
    text = page.read_text(encoding="utf-8")
    assert f"part {worst_row(read_scores(out))}" in text
    assert "sha256:" in text


def test_an_ensemble_is_fitted_scored_explained_and_reported(
    call: Call, table: Path, tmp_path: Path
) -> None:
    path, page = tmp_path / "parts.setatoms", tmp_path / "page.html"
    fit = call("fit", table, "--method", "ensemble", "--atoms", "3.0", "--save", path)
    assert "an ensemble of dictionaries" in fit.out
    assert "members:     20\n" in call("info", path).out
    scored = call("score", path, table, "--json", "--top", 1, "--report", page).json
    assert scored["estimator"] == "SetAtomEnsemble"
    row = scored["top"][0]["row"]
    record = call("explain", path, table, "--row", row, "--json").json
    assert {atom["member"] for atom in record["atoms"]} == set(range(20))
    in_words = call("explain", path, table, "--row", row).out
    assert "member  atom  coefficient" in in_words
    assert f"and {len(record['atoms']) - 12} more (--json has all)" in in_words
    n_atoms = sum(len(member.atoms) for member in setatoms.load(path).members_)
    said = f"{n_atoms} atoms over 4 columns were learned, in 20 dictionaries"
    assert said in page.read_text("utf-8")


def test_the_page_numbers_atoms_through_all_dictionaries(
    call: Call, table: Path, tmp_path: Path
) -> None:
    path, page = tmp_path / "parts.setatoms", tmp_path / "page.html"
    call("fit", table, "--method", "ensemble", "--atoms", "3.0", "--save", path)
    call("score", path, table, "--report", page)
    found = re.search(
        r'<script type="application/json"[^>]*>(.*?)</script>', page.read_text(), re.S
    )
    assert found is not None
    shown = json.loads(found[1])
    first = call("score", path, table, "--json", "--top", 1).json["top"][0]["atoms"][0]
    before = sum(len(m.atoms) for m in setatoms.load(path).members_[: first["member"]])
    assert shown["rows"][0]["atoms"][0][0] == before + first["atom"]
    assert len(shown["atoms"]["atoms"]) == 60
    assert max(shown["atoms"]["atoms"]) >= 12


def test_a_sample_is_the_same_for_a_seed_and_said(call: Call, table: Path, tmp_path: Path) -> None:
    results = []
    for seed in (1, 1, 2):
        answer = call("detect", table, "--method", "vector", "--sample", 200, "--seed", seed,
                      "--json")  # fmt: skip
        results.append(answer.json["threshold"])
        assert any("learned from 200 random rows" in note for note in answer.json["notes"])
    assert results[0] == results[1] != results[2]


@pytest.mark.parametrize("model", [False, True])
def test_so_many_rows_are_flagged_as_wished(call: Call, table: Path, tmp_path: Path, model: bool):
    words = ["detect", table, "--method", "vector"]
    if model:
        assert call("fit", table, "--method", "vector", "--save", tmp_path / "m").status == 0
        words = ["score", tmp_path / "m", table]
    # as many at most, and no fewer unless scores are equal
    assert call(*words, "--flag-top", 7, "--json").json["flagged"] == 7
    usual = call(*words, "--alarms", 250, "--json").json
    few = call(*words, "--alarms", 2, "--json").json
    assert usual["flagged"] > few["flagged"] == 2
    assert f"{usual['flagged']} rows beyond the threshold" in few["decision"]
    # those with the highest scores
    assert [record["flagged"] for record in few["top"]] == [True, True] + [False] * 8


@pytest.mark.parametrize(
    "words", [("--flag-top", 3, "--alarms", 2), ("--fdr", 0.1, "--flag-top", 3)]
)
def test_one_way_of_flagging_at_a_time(call: Call, table: Path, words: tuple[object, ...]):
    answer = call("detect", table, *words)
    assert answer.status == 2
    assert f"{words[0]} and {words[2]} exclude each other" in answer.err


def test_rows_of_one_kind_are_listed(call: Call, table: Path):
    kinds = {r["kind"] for r in call("detect", table, "--top", 50, "--json").json["top"]}
    assert len(kinds) > 1
    for kind in kinds:
        found = call("detect", table, "--top", 5, "--kind", kind, "--json").json["top"]
        assert 0 < len(found) <= 5
        assert {record["kind"] for record in found} == {kind}


def test_parameters_are_chosen_for_the_table_and_said(call: Call, table: Path, tmp_path: Path):
    model = tmp_path / "model"
    answer = call("fit", table, "--method", "cone", "--choose", "--save", model, "--json")
    assert answer.status == 0
    (said,) = [note for note in answer.json["notes"] if note.startswith("--choose: ")]
    chosen = setatoms.load(model).get_params()
    usual = setatoms.ConeAtomDetector().get_params()
    for name in ("n_atoms", "n_nonzero", "radii"):
        assert (f"{name}={chosen[name]}" in said) == (chosen[name] != usual[name])


def test_a_counterfactual_says_what_would_look_normal(call: Call, table: Path, model: Path):
    row = call("score", model, table, "--json").json["top"][0]["row"]
    record = call("explain", model, table, "--row", row, "--counterfactual", 1, "--json").json
    ((name, change),) = record["counterfactual"]["columns"].items()
    (entry,) = [entry for entry in record["columns"] if entry["column"] == name]
    assert change["from"] == entry["observed"] != change["to"]
    assert record["counterfactual"]["score"] < record["score"]
    shown = call("explain", model, table, "--row", row, "--counterfactual", 1).out
    assert "with this column replaced: score" in shown


def test_a_counterfactual_leaves_some_column_as_it_is(call: Call, table: Path, model: Path):
    answer = call("explain", model, table, "--row", 1, "--counterfactual", len(COLUMNS))
    assert answer.status == 1
    assert "--counterfactual 4 must be below the number of features, 4" in answer.err


def test_warnings_speak_of_options(call: Call, table: Path, tmp_path: Path):
    answer = call("fit", table, "--method", "cone", "--atoms", 3, "--save", tmp_path / "model")
    assert "--atoms 3 is below the number of features" in answer.out
    assert "n_atoms" not in answer.out
