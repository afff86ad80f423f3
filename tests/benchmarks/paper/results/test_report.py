"""The page: complete, self-contained, and safe whatever the store says."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from benchmarks.paper.layout import Column, Entry, Table
from benchmarks.paper.report import make_report, table_to_html, write_report

CONFIG = "n2 r0.01-0.1 linear"
EVIL = "<script>alert(1)</script>\"'&"


class Page(HTMLParser):
    """Collect tags, attributes and the text of a page; fail on tags that do not match."""

    VOID = frozenset({"meta", "path", "use", "rect", "br"})

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.words = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    def values(self, name):
        return [value for attribute, value in self.attributes if attribute == name]


@pytest.fixture
def evil_store(row, make_store):
    rows = [row("LOF", None, dataset=EVIL, reason=EVIL), row("KNN", 0.4, dataset=EVIL)]
    rows += [row(EVIL, 0.5, EVIL, EVIL), row("KNN", 0.6, anomalies=EVIL)]
    rows += [row(m, 0.5, CONFIG, EVIL) for m in ("Cone-DL", "DLC-adapt (1-norm)")]
    return make_store(rows)


def test_everything_from_the_store_is_escaped(evil_store):
    text = make_report(evil_store)
    page = Page(text)
    # our own script, once
    assert page.tags.count("script") == 1
    assert "alert(1)" in "".join(page.words)
    assert "<script>alert" not in text
    assert "<fast>" not in text


def test_the_page_fetches_nothing(evil_store):
    text = make_report(evil_store)
    page = Page(text)
    links = [*page.values("href"), *page.values("xlink:href"), *page.values("src")]
    assert links
    assert all(link.startswith("#") for link in links)
    assert "@import" not in text
    assert not {"link", "img", "iframe", "object"} & set(page.tags)
    assert any("default-src 'none'" in (value or "") for value in page.values("content"))


def test_the_page_has_all_tables_figures_and_where_they_come_from(evil_store):
    page = Page(make_report(evil_store))
    words = "".join(page.words)
    for title in [f"Table {i}." for i in range(1, 7)] + [f"Figure {i}" for i in (1, 2, 3)]:
        assert title in words
    for heading in ("Baselines", "Failures", "ROC AUC per dataset", "The paper's orderings"):
        assert heading in words
    assert "cpu <fast>" in words
    assert page.tags.count("svg") == 3


def test_links_lead_to_sections_and_no_name_is_used_twice(evil_store):
    page = Page(make_report(evil_store))
    names = page.values("id")
    assert len(names) == len(set(names))
    assert {link[1:] for link in page.values("href")} <= set(names)


def test_figures_take_the_colour_of_the_page(evil_store):
    text = make_report(evil_store)
    assert "currentColor" in text
    assert "#010203" not in text


def test_columns_are_sorted_by_value_and_missing_ones_are_known():
    rows = [[Entry("a"), Entry("+0.5000", 0.5, "best")], [Entry("b"), Entry("-")]]
    text = table_to_html(Table("T", [Column("name"), Column("x")], rows, ["<note>"]))
    page = Page(text)
    assert page.tags.count("button") == 2
    assert page.values("data-value") == ["0.5"]
    assert page.values("data-missing") == [None]
    assert "<strong>+0.5000</strong>" in text
    assert "&lt;note&gt;" in text


def test_the_papers_number_stands_below_ours():
    rows = [[Entry("0.9", 0.9, partial=True, beside=Entry("0.8", 0.8, "near"))]]
    text = table_to_html(Table("T", [Column("x", "group")], rows))
    assert "0.9!<small><em>0.8</em></small>" in text
    assert 'colspan="1">group</th>' in text


def test_the_page_goes_to_a_file_or_into_a_folder(row, make_store, tmp_path):
    store = make_store([row("LOF", 0.5)])
    assert write_report(store, tmp_path / "new").name == "report.html"
    page = write_report(store, tmp_path / "pages" / "mine.html")
    assert page == tmp_path / "pages" / "mine.html"
    assert page.read_text(encoding="utf-8") == make_report(store)


def test_an_empty_store_is_an_error(make_store, tmp_path):
    with pytest.raises(ValueError, match="it has none at all"):
        write_report(make_store([]), tmp_path / "out")
    assert not (tmp_path / "out").exists()
