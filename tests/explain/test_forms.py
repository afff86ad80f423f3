"""Explanations and counterfactuals in text and in HTML."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import setatoms
from setatoms.explain.html_form import draw_bar

HOSTILE = '<script>alert("x")</script>\x1b[31m&'


class Page(HTMLParser):
    """Collect the tags and the words of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words.append(data)

    def named(self, name):
        return [attrs for tag, attrs in self.tags if tag == name]


@pytest.fixture(scope="module")
def table():
    """Return 200 rows whose columns and labels have hostile names."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1)) * [1, -2, 1, 1] + 0.1 * rng.normal(size=(200, 4))
    frame = pd.DataFrame(X, columns=[HOSTILE, "b", "c", "d"])
    frame.index = [f"{HOSTILE} {i}" for i in range(len(frame))]
    frame.iloc[7, 1] = -9999.0
    return frame


@pytest.fixture(scope="module")
def model(table):
    """Return a detector of several views."""
    return setatoms.GaussianAtomDetector(n_atoms=8, n_iter=20, missing="fill", random_state=0).fit(
        table
    )


def lines(found):
    return repr(found).splitlines()


def test_the_text_has_the_highest_scores_first(model, table):
    explanation = model.explain(table)
    head, _, *rows = lines(explanation)
    flagged = int((model.predict(table) == -1).sum())
    assert head == f"Explanation of 200 rows, {flagged} flagged; the 5 highest scores"
    assert len(rows) == 5
    assert "extreme value" in rows[0]
    assert "b -9999" in rows[0]


def test_the_text_of_one_row_lists_its_columns(model, table):
    head, _, first, *_ = lines(model.explain(table, top=None)[7])
    assert re.search(r"score \d.*, flagged, extreme value$", head)
    assert first.split() == ["b", "-9999", *first.split()[2:]]
    assert first.endswith("100 %")


def test_the_text_of_a_counterfactual_has_both_values(model, table):
    head, _, row = lines(model.counterfactual(table[7:8]))
    assert head == "Counterfactual of 1 row, 1 flagged before and 0 after"
    assert re.search(r"b -9999 -> ", row)


@pytest.mark.parametrize("some", [slice(0), slice(1), slice(3), slice(None)])
@pytest.mark.parametrize("ask", ["explain", "counterfactual"])
def test_texts_cannot_command_a_terminal_and_lines_are_short(model, table, ask, some):
    text = repr(getattr(model, ask)(table)[some])
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) < 180


@pytest.mark.parametrize("some", [slice(0), slice(1), slice(3), slice(None)])
@pytest.mark.parametrize("ask", ["explain", "counterfactual"])
def test_tables_hold_data_as_words_and_as_many_cells_as_heads(model, table, ask, some):
    found = getattr(model, ask)(table)[some]
    page = Page(found._repr_html_())
    allowed = {"div", "table", "caption", "span", "thead", "tbody", "tr", "th", "td", "strong"}
    allowed |= {"br", "svg", "title", "line", "circle", "polygon"}
    assert {tag for tag, _ in page.tags} <= allowed
    assert "\x1b" not in found._repr_html_()
    cells = sum(int(attrs.get("rowspan", 1)) for attrs in page.named("td"))
    assert cells == len(page.named("th")) * (len(page.named("tr")) - 1)
    if len(found):
        assert any('<script>alert("x")</script>' in words for words in page.words)


def test_a_table_of_one_view_has_bars_and_no_kinds(detector, frame):
    page = Page(detector.explain(frame[:2])._repr_html_())
    assert len(page.named("svg")) == 6
    assert "kind" not in page.words


def test_missing_values_are_called_so(model, table):
    gap = table[:1].copy()
    gap.iloc[0, 2] = np.nan
    explanation = model.explain(gap, top=None)
    assert "missing" in repr(explanation)
    assert "missing" in Page(explanation._repr_html_()).words


def marks(text):
    """Return where the circles of a bar are."""
    return [float(attrs["cx"]) for attrs in Page(text).named("circle")]


def test_a_bar_places_values_on_the_range_learned_from():
    (low, middle), (high, _) = (
        marks(draw_bar(0.0, 5.0, (0.0, 10.0))),
        marks(draw_bar(10.0, 5.0, (0.0, 10.0))),
    )
    assert low < middle < high
    assert middle == pytest.approx((low + high) / 2)


@pytest.mark.parametrize("value", [-9999.0, 1e308, -1e308])
def test_a_value_far_outside_is_an_arrow(value):
    bar = Page(draw_bar(value, 5.0, (0.0, 10.0)))
    assert len(bar.named("polygon")) == len(bar.named("circle")) == 1


@pytest.mark.parametrize("seen", [(3.0, 3.0), (-1.7e308, 1.7e308), (0.0, 5e-324)])
def test_every_range_can_be_drawn(seen):
    for value in (seen[0], seen[1], -1e300, 1e300):
        numbers = re.findall(r'(?:c?x[12]?|points)="([^"]*)"', draw_bar(value, seen[0], seen))
        assert "nan" not in " ".join(numbers)
