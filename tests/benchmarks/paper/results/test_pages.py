"""Pages that quote from stores: their tables are those of the stores that are committed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from benchmarks.paper.tables import write_tables

ROOT = Path(__file__).parents[4]
MARK = re.compile(r"<!-- (.+?): (.+): begin -->")


def stores_of(page):
    """Return which stores the tables of a page come from, each choice once."""
    names = {mark.group(1) for mark in MARK.finditer(page.read_text())}
    choices = [
        [ROOT / "results" / f"{store}.sqlite" for store in name.split(" and ")] for name in names
    ]
    return [choice for choice in choices if all(store.exists() for store in choice)]


@pytest.mark.parametrize(("name", "n_choices"), [("ensemble", 3), ("reproduction", 2)])
def test_tables_on_a_page_are_those_of_the_stores(name, n_choices, tmp_path):
    page = ROOT / "docs" / f"{name}.md"
    copied = Path(shutil.copy(page, tmp_path))
    choices = stores_of(page)
    assert len(choices) == n_choices
    for stores in choices:
        write_tables(stores, copied)
    assert copied.read_text() == page.read_text()


def test_a_page_without_a_place_for_tables_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- paper: Another title: begin -->\n<!-- paper: Another title: end -->\n")
    with pytest.raises(ValueError, match="no place for a table of starts; put <!-- starts: TITLE"):
        write_tables(ROOT / "results" / "starts.sqlite", page)


def test_a_table_stands_between_its_marks(tmp_path):
    page = tmp_path / "page.md"
    mark = "starts: Seed 1 beside the pilot"
    page.write_text(f"before\n<!-- {mark}: begin -->\nold\n<!-- {mark}: end -->\nafter\n")
    write_tables(ROOT / "results" / "starts.sqlite", page)
    lines = page.read_text().splitlines()
    assert lines[:2] == ["before", f"<!-- {mark}: begin -->"]
    assert lines[2].startswith("| method | configuration |")
    assert lines[-2:] == [f"<!-- {mark}: end -->", "after"]
    assert "old" not in lines
