"""Pages that quote from stores: their tables are those of the stores that are committed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from benchmarks.command import main
from benchmarks.paper.tables import write_tables

MARK = re.compile(r"<!-- (.+?): (.+): begin -->")
TITLE = "Seed 1 beside the pilot"


def stores_of(page, results):
    """Return which stores the tables of a page come from, each choice once."""
    names = {mark.group(1) for mark in MARK.finditer(page.read_text())}
    choices = [[results / f"{store}.sqlite" for store in name.split(" and ")] for name in names]
    return [choice for choice in choices if all(store.exists() for store in choice)]


def page_with(folder, *marks):
    page = folder / "page.md"
    places = [f"<!-- {mark}: begin -->\nold\n<!-- {mark}: end -->" for mark in marks]
    page.write_text("\n".join(["before", *places, "after\n"]))
    return page


@pytest.mark.parametrize(("name", "n_choices"), [("ensemble", 3), ("reproduction", 2)])
def test_tables_on_a_page_are_those_of_the_stores(name, n_choices, root, results, tmp_path):
    page = root / "docs" / f"{name}.md"
    copied = Path(shutil.copy(page, tmp_path))
    choices = stores_of(page, results)
    assert len(choices) == n_choices
    for stores in choices:
        write_tables(stores, copied)
    assert copied.read_text() == page.read_text()


def test_a_table_stands_between_its_marks(results, tmp_path):
    page = page_with(tmp_path, f"starts: {TITLE}")
    store = results / "starts.sqlite"
    assert main(["paper", "tables", str(store), "--write", str(page)]) == 0
    lines = page.read_text().splitlines()
    assert lines[:2] == ["before", f"<!-- starts: {TITLE}: begin -->"]
    assert lines[2].startswith("| method | configuration |")
    assert lines[-2:] == [f"<!-- starts: {TITLE}: end -->", "after"]
    assert "old" not in lines


def test_a_store_in_a_folder_has_the_name_of_the_folder(results, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    shutil.copy(results / "starts.sqlite", folder / "results.sqlite")
    page = page_with(tmp_path, f"mine: {TITLE}")
    write_tables(folder, page)
    assert "old" not in page.read_text()


@pytest.mark.parametrize(
    ("marks", "words"),
    [
        (["paper: Baselines"], "no place for a table of starts; put <!-- starts: TITLE: begin"),
        ([f"starts: {TITLE}", "starts: Renamed"], "a place for a table 'Renamed' of starts, which"),
    ],
)
def test_a_page_without_a_place_or_with_one_too_many_is_refused(marks, words, results, tmp_path):
    page = page_with(tmp_path, *marks)
    before = page.read_text()
    with pytest.raises(ValueError, match=words):
        write_tables(results / "starts.sqlite", page)
    assert page.read_text() == before


def test_a_page_has_no_format(results, tmp_path, capsys):
    words = ["--write", str(page_with(tmp_path, f"starts: {TITLE}")), "--format", "text"]
    assert main(["paper", "tables", str(results / "starts.sqlite"), *words]) != 0
    assert "--format is for printing" in capsys.readouterr().err
