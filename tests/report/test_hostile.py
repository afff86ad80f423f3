"""A report of a file that wants to run: nothing of it does, and all of it is shown as words."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setatoms.report import make_page, write_report
from setatoms.webpage import content_policy, embed_json, templates, visible

ATTACKS = (
    "</script><script>window.__pwned=1</script>",
    "<img src=x onerror=window.__pwned=1>",
    "<svg onload=window.__pwned=1></svg>",
    "\\" + "'\"><iframe srcdoc='<script>parent.__pwned=1</script>'></iframe>",
    "<!--<script>",
    "]]></title></style><script>window.__pwned=1</script>",
    "javascript:window.__pwned=1",
    "${window.__pwned=1}$script$policy{{7*7}}",
    "<style>body{display:none}</style>",
    "<base href=https://example.org/><link rel=stylesheet href=//example.org/x.css>",
    "&lt;script&gt;window.__pwned=1&lt;/script&gt;",
    "\u2028\u2029\u0000\ud800\u202e<b onclick=window.__pwned=1>",
)


def poison(data, attack):
    """Return the data with the attack in every text that a file or its reader decides."""
    columns = [f"{name} {attack}" for name in data.columns]
    new_name = dict(zip(data.columns, columns, strict=True))
    rows = [
        {
            **record,
            "index": f"{record['index']} {attack}",
            "sentence": f"{record['sentence']} {attack}",
            "columns": [
                {**entry, "column": new_name[entry["column"]]} for entry in record["columns"]
            ],
        }
        for record in data.top_rows
    ]
    words = dict.fromkeys(
        ("file_name", "title", "method", "decision", "fingerprint", "command", "created"), attack
    )
    tables = {"parameters": {attack: attack}, "versions": {attack: attack}, "notes": [attack]}
    return replace(data, columns=columns, top_rows=rows, **words, **tables)


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
def test_nothing_runs_and_everything_is_shown(browser, make_data, tmp_path, attack):
    browser.open(write_report(tmp_path / "page.html", poison(make_data(), attack)))
    browser.find("#rows tr[data-item='1']").click()
    for element in browser.driver.find_elements("css selector", "#detail-0 button.chip"):
        element.click()
    browser.run(
        "document.querySelectorAll('*').forEach((e) => e.dispatchEvent(new Event('mouseover')))"
    )
    seen = browser.run(
        """
        const count = (selector) => document.querySelectorAll(selector).length;
        return {pwned: window.__pwned ?? null, scripts: count("script"), styles: count("style"),
                strangers: count("img, iframe, base, b[onclick], object, embed, svg[onload]"),
                links: count("link"), heading: document.querySelector("h1").textContent,
                name: document.querySelector("#detail-0 .column:not(.head) .name").textContent,
                index: document.querySelector("td.index").textContent,
                atoms: document.querySelector("#atoms .cell").dataset.tip};
        """
    )
    assert seen["pwned"] is None
    assert (seen["scripts"], seen["styles"], seen["strangers"], seen["links"]) == (2, 1, 0, 1)
    words = visible(attack)
    assert seen["heading"] == words
    for place in ("name", "index", "atoms"):
        assert words in seen[place]
    assert browser.messages() == []
    assert all(address.startswith(("file:", "data:,")) for address in browser.requests())


def test_endless_texts_are_cut(make_data):
    page = make_page(poison(make_data(), "x" * 1_000_000))
    assert len(page) < 300_000


@given(
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_embedded_json_comes_back_and_holds_no_markup(value):
    text = embed_json(value)
    assert json.loads(text) == value
    assert not re.search("[<>&\u2028\u2029]", text)
    assert text.isascii()


@given(st.text(st.characters() | st.characters(categories=["Cs", "Cc"])))
def test_a_template_makes_words_of_any_text(text):
    class Claiming(str):
        def __html__(self):
            return self

    for filled in (text, Claiming(text)):
        html = templates("setatoms.report").from_string("{{ text }}").render(text=filled)
        assert not re.search("[<>\"'\x00\ud800-\udfff]", html)
        html.encode()


def test_data_inside_a_script_cannot_end_it():
    template = templates("setatoms.report").from_string("<script>{{ data|json }}</script>")
    assert template.render(data=ATTACKS).count("<") == 2


@given(st.text(st.characters() | st.characters(categories=["Cs", "Cc"]), max_size=400))
def test_a_page_of_any_words_can_be_written(text):
    assert len(visible(text)) <= 300
    visible(text).encode()


def test_the_policy_knows_this_style_and_this_script_only():
    policy = content_policy("a{}", "b()")
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert policy != content_policy("a{}", "c()")


def test_scores_that_are_not_numbers_are_left_out_and_said(make_data):
    data = make_data()
    scores = data.scores.copy()
    scores[:3] = [np.nan, np.inf, -np.inf]
    page = make_page(replace(data, scores=scores))
    assert "3 rows have no finite score" in page
    assert "nan" not in re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
