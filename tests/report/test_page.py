"""The page as a file: whole or not at all, small, and with nothing to fetch."""

from __future__ import annotations

import re
import stat
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from setatoms.report import AtomTable, ReportData, make_page, write_report
from setatoms.report.rows import blamed_columns
from setatoms.webpage import templates, write_page


def test_the_same_data_give_the_same_page(make_data):
    assert make_page(make_data()) == make_page(make_data())


def test_the_page_refers_to_nothing_outside(make_data):
    page = make_page(make_data())
    assert "http" not in page.replace("http-equiv", "")
    assert "//" not in re.sub(r"^\s*//.*$", "", page, flags=re.MULTILINE)
    assert re.findall(r'(?:href|src)="([^"]*)"', page) == ["data:,"]
    assert not re.search(r"@import|url\(", page)


def test_without_jinja_it_is_said_what_to_install(make_data, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    templates.cache_clear()
    with pytest.raises(ImportError, match=r'need Jinja2: pip install "setatoms\[cli\]"'):
        make_page(make_data())


def test_an_interrupted_write_leaves_the_previous_page(make_data, tmp_path, monkeypatch):
    path = write_report(tmp_path / "page.html", make_data())
    before = path.read_bytes()

    def interrupt(self, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_report(path, make_data(title="another"))
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


def test_a_text_that_cannot_be_written_leaves_nothing(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        write_page(tmp_path / "page.html", "\ud800")
    assert list(tmp_path.iterdir()) == []


def test_a_page_has_the_rights_of_any_new_file_and_its_folder_is_made(tmp_path):
    (tmp_path / "plain").touch()
    page = write_page(tmp_path / "new" / "page.html", "x")
    assert stat.S_IMODE(page.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


def test_a_large_table_makes_a_small_page(make_data):
    rng = np.random.default_rng(0)
    names = [f"column {j}" for j in range(1000)]
    entries = [
        {"column": name, "observed": x, "expected": -x, "contribution": 1e-3}
        for name, x in zip(names, rng.normal(size=1000).tolist(), strict=True)
    ]
    record = {**make_data().top_rows[0], "columns": entries}
    data = ReportData(
        file_name="large.parquet",
        columns=names,
        scores=rng.gamma(2.0, size=1_000_000),
        flagged=np.zeros(1_000_000, dtype=bool),
        threshold=None,
        top_rows=[record] * 500,
        center=np.zeros(1000),
        scale=np.ones(1000),
        atoms=AtomTable(rng.normal(size=(3000, 1000)), np.ones(3000), rng.random(3000)),
    )
    page = make_page(data)
    assert len(page) < 1_000_000
    assert page.count("data-item=") == 200
    assert "Shown are the 60 atoms used most and the 60 columns that weigh most." in page
    assert '"rest":[960,"96\\u00a0%"]' in page


def test_columns_of_one_name_keep_their_own_units(make_data):
    record = dict(make_data().top_rows[0])
    entry = {"column": "x", "observed": 6.0, "expected": 2.0, "contribution": 0.5}
    record["columns"] = [entry, entry]
    two = {"columns": ["x", "x"], "center": np.zeros(2), "scale": np.array([1.0, 4.0])}
    page = make_page(replace(make_data(), top_rows=[record], atoms=None, **two))
    assert '[0,"6","2",6.0,2.0,' in page
    assert '[1,"6","2",1.5,0.5,' in page


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"flagged": np.zeros(3, dtype=bool)}, "flagged has 3 values for 300 scores"),
        ({"scale": np.ones(2)}, "scale has 2 values for 6 columns"),
    ],
)
def test_parts_that_do_not_match_are_an_error(make_data, fields, words):
    with pytest.raises(ValueError, match=words):
        make_data(**fields)


def test_radii_that_do_not_match_the_atoms_are_an_error():
    with pytest.raises(ValueError, match="radii has 2 values for 3 atoms"):
        AtomTable(np.ones((3, 2)), np.ones(2))
    with pytest.raises(ValueError, match=r"sizes=\(2, 2\) sum to 4 for 3 atoms"):
        AtomTable(np.ones((3, 2)), np.ones(3), sizes=(2, 2))


def test_columns_are_ranked_over_all_flagged_rows(make_data):
    def record(row, flagged, **parts):
        entries = [
            {"column": name, "observed": 1.0, "expected": 0.0, "contribution": part}
            for name, part in sorted(parts.items(), key=lambda item: -item[1])
        ]
        return {"row": row, "score": 9.0 - row, "flagged": flagged, "columns": entries, "atoms": []}

    names = ["flow", "temp", "<b>"]
    rows = [
        record(1, True, flow=0.2, temp=0.7, **{"<b>": 0.1}),
        record(2, True, flow=0.4, temp=0.5, **{"<b>": 0.1}),
        record(3, False, flow=1.0),
    ]
    data = make_data(columns=names, center=np.zeros(3), scale=np.ones(3), top_rows=rows)
    blamed = blamed_columns(data)
    assert [column["name"] for column in blamed] == ["temp", "flow", "<b>"]
    assert [column["first"] for column in blamed] == [2, 0, 0]
    assert blamed[0]["share"] == pytest.approx(0.6)
    page = make_page(data)
    assert "Columns to blame" in page
    assert "&lt;b&gt;</dt>" in page


def test_scores_are_drawn_over_time(make_data):
    times = np.linspace(1.7e9, 1.71e9, 300)
    times[3] = np.nan
    page = make_page(make_data(times=times, time_name="at <i>"))
    assert "Scores over time" in page
    assert "2023-11-14" in page
    assert "by at &lt;i&gt;" in page
    assert "Scores over time" not in make_page(make_data(times=np.zeros(300)))
    assert "Scores over time" not in make_page(make_data())
    with pytest.raises(ValueError, match="times has 3 values for 300 scores"):
        make_data(times=np.zeros(3))
