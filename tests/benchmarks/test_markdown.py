"""Figures go between the marks of a page, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.markdown import fill_page


def test_figures_replace_what_stands_between_their_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- fdr: begin -->\nold\n<!-- fdr: end -->\nz\n", encoding="utf-8")
    fill_page(page, "fdr", "new")
    text = page.read_text(encoding="utf-8")
    assert text == "a\n<!-- fdr: begin -->\nnew\n<!-- fdr: end -->\nz\n"
    with pytest.raises(ValueError, match=r"<!-- other: begin -->.*mark where figures go"):
        fill_page(page, "other", "new")


@pytest.mark.parametrize(
    ("page", "name"),
    [
        *(("performance", name) for name in ("curve", "precision", "results")),
        ("ensemble", "results"),
        *(("ensemble", name) for name in ("choice", "ensemble", "same_rows")),
        *(("decisions", name) for name in ("fdr", "mixed", "thresholds")),
        ("explanations", "explanations"),
        ("missing-values", "missing"),
        ("views", "faults"),
    ],
)
def test_the_pages_of_this_project_can_be_filled(
    root: Path, tmp_path: Path, page: str, name: str
) -> None:
    copy = tmp_path / "page.md"
    copy.write_bytes((root / "docs" / f"{page}.md").read_bytes())
    fill_page(copy, name, "new")
    assert "\nnew\n" in copy.read_text(encoding="utf-8")
