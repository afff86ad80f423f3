"""The page in a real Chromium: what one sees, presses and prints."""

from __future__ import annotations

import base64

import pytest

from setatoms.report import AtomTable, write_report

ROWS = "#rows tbody tr[data-item]"
# keys, as the WebDriver standard encodes them
TAB, ENTER, SPACE, UP, DOWN = "\ue004", "\ue007", "\ue00d", "\ue013", "\ue015"
OVERFLOW = "return document.scrollingElement.scrollWidth - document.documentElement.clientWidth"


def shown(browser, css_class):
    return browser.texts(f"{ROWS} td.{css_class}")


def press(browser, *keys):
    browser.driver.switch_to.active_element.send_keys(*keys)


def test_the_page_asks_for_nothing_and_has_no_complaints(browser, page):
    browser.open(page)
    browser.find(f"{ROWS}:nth-child(3)").click()
    assert browser.requests() in ([page.as_uri()], [page.as_uri(), "data:,"])
    assert browser.messages() == []


def test_a_request_or_a_script_of_others_is_refused(browser, page):
    browser.open(page)
    browser.run(
        """
        const image = new Image();
        image.src = "https://example.org/x.png";
        const script = document.createElement("script");
        script.textContent = "window.__pwned = 1";
        document.body.append(image, script);
        """
    )
    assert browser.run("return window.__pwned") is None
    refused = " ".join(browser.messages())
    assert "img-src" in refused
    assert "script-src" in refused


def test_a_head_sorts_both_ways_and_says_so(browser, page):
    browser.open(page)
    head, button = browser.find("#rows th.score"), browser.find("#rows th.score button")
    button.click()
    rising = [float(text) for text in shown(browser, "score")]
    assert rising == sorted(rising)
    assert head.get_attribute("aria-sort") == "ascending"
    button.send_keys(ENTER)
    falling = [float(text) for text in shown(browser, "score")]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] == 7.5
    assert head.get_attribute("aria-sort") == "descending"
    assert len(browser.texts("#rows th[aria-sort]")) == 1


def test_every_column_sorts_all_rows_and_details_stay_with_their_row(browser, page):
    browser.open(page)
    browser.find(".table-foot button").click()
    for head in ("rank", "index", "row", "score", "chance", "flag", "reason"):
        browser.find(f"#rows th.{head} button").click()
        order = browser.run(
            "return Array.from(document.querySelectorAll(arguments[0]), (row) => row.dataset.item)",
            ROWS,
        )
        assert sorted(map(int, order)) == list(range(30))
        before = "return document.querySelector('tr.detail').previousElementSibling.dataset.item"
        assert browser.run(before) == "0"


def test_search_narrows_the_rows_and_no_match_is_said(browser, page):
    browser.open(page)
    search = browser.find("#search")
    search.send_keys("VIBRATION expected")
    found = shown(browser, "reason")
    assert found
    assert all("vibration" in text for text in found)
    assert browser.find("#found").text == f"{len(found)} of 30 rows"
    search.clear()
    search.send_keys("nowhere to be found")
    assert shown(browser, "rank") == []
    assert "No row matches" in browser.find(".table-foot").text
    assert browser.texts("tr.detail") == []


def test_only_flagged_rows_on_request(browser, page):
    browser.open(page)
    browser.find("#flagged-only").click()
    assert shown(browser, "flag") == ["flagged"] * 5


def test_rows_of_one_kind_on_request(browser, make_data, tmp_path):
    kinds = ["broken relation", "<b>far out</b>"]
    rows = [row | {"kind": kinds[i % 3 == 0]} for i, row in enumerate(make_data().top_rows)]
    browser.open(write_report(tmp_path / "page.html", make_data(top_rows=rows)))
    browser.find("#kind option:nth-child(2)").click()
    assert shown(browser, "kind") == [kinds[1]] * 10
    browser.find("#kind option:nth-child(1)").click()
    assert len(shown(browser, "kind")) == 20


def test_a_page_without_kinds_offers_none(browser, page):
    browser.open(page)
    assert not browser.find("#kind").is_displayed()


def test_a_click_unfolds_observed_against_expected(browser, page, make_data):
    browser.open(page)
    browser.find(f"{ROWS}[data-item='1']").click()
    entries = make_data().top_rows[1]["columns"]
    unfolded = "#detail-1 .column:not(.head)"
    assert browser.texts(f"{unfolded} .name") == [entry["column"] for entry in entries]
    observed = [float(text) for text in browser.texts(f"{unfolded} .observed")]
    # values are shown to a hundredth of the column's standard deviation, which is 2
    assert observed == pytest.approx([entry["observed"] for entry in entries], abs=0.006)
    assert set(browser.texts(f"{unfolded} .expected")) == {"1"}
    shares = [float(text.strip("<% ")) for text in browser.texts(f"{unfolded} .share")]
    assert sum(shares) == pytest.approx(100, abs=3)
    assert "atom 3 \u00d7 -1.2" in browser.find("#detail-1 .used").text
    browser.find(f"{ROWS}[data-item='1']").click()
    assert browser.texts("#detail-1") == []


def test_marks_stand_where_the_values_are(browser, page, make_data):
    browser.open(page)
    data = make_data()
    expected = [(entry["observed"] > 1.0) for entry in data.top_rows[0]["columns"]]
    seen = browser.run(
        """
        const left = (parent, mark) => parent.querySelector(mark).getBoundingClientRect().left;
        return Array.from(document.querySelectorAll("#detail-0 .column:not(.head)"), (column) =>
          left(column, ".dot.is-observed") > left(column, ".dot.is-expected"));
        """
    )
    assert seen == expected


def test_rows_are_reached_and_unfolded_by_keys_alone(browser, page):
    browser.open(page)
    browser.find("#search").send_keys(TAB, TAB)
    for _ in range(12):
        if browser.run("return document.activeElement.className") == "opener":
            break
        press(browser, TAB)
    press(browser, DOWN)
    press(browser, DOWN)
    press(browser, ENTER)
    assert browser.texts("#detail-2 .column .name")
    assert browser.run("return document.activeElement.getAttribute('aria-expanded')") == "true"
    press(browser, UP)
    press(browser, SPACE)
    assert browser.texts("#detail-1 .column .name")


def test_an_atom_of_a_row_is_found_among_all_atoms(browser, page):
    browser.open(page)
    assert len(browser.driver.find_elements("css selector", "#atoms .cell")) == 8 * 6
    browser.find("#detail-0 button.chip").click()
    label, frame = browser.run(
        """
        const labels = Array.from(document.querySelectorAll("#atoms .label"));
        const label = labels.find((text) => text.textContent === "3");
        const boxes = [label, document.querySelector("#atoms .picked")];
        return boxes.map((e) => e.getBoundingClientRect()).map((box) => (box.top + box.bottom) / 2);
        """
    )
    assert label == pytest.approx(frame, abs=4)


def test_a_bar_tells_its_counts(browser, page):
    browser.open(page)
    bar = browser.find(".distribution svg.wide .bar")
    browser.run("arguments[0].dispatchEvent(new PointerEvent('pointermove', {bubbles: true}))", bar)
    assert "row" in browser.find("#tip").text


@pytest.mark.parametrize("width", [360, 600, 900])
def test_narrow_pages_do_not_scroll_sideways(browser, make_data, tmp_path, width):
    long_words = {"file_name": "x" * 200 + ".csv", "fingerprint": "f" * 500, "notes": ["n" * 400]}
    wide = write_report(
        tmp_path / "wide.html", make_data(columns=["c" * 150] + ["d"] * 40, **long_words)
    )
    browser.open(wide, width=width)
    browser.find(f"{ROWS}[data-item='2']").click()
    assert browser.texts("#detail-2 .column .name")
    assert browser.run(OVERFLOW) <= 0
    browser.find("#search").send_keys("no such row")
    assert shown(browser, "rank") == []


def test_dark_mode_has_its_own_colours_and_contrast(browser, page):
    colours = {}
    for scheme in ("light", "dark"):
        browser.open(page, scheme=scheme)
        style = "return getComputedStyle(document.body)[arguments[0]]"
        two = (browser.run(style, name) for name in ("color", "backgroundColor"))
        colours[scheme] = [_luminance(colour) for colour in two]
    (ink, paper), (dark_ink, dark_paper) = colours["light"], colours["dark"]
    assert (paper + 0.05) / (ink + 0.05) > 7
    assert (dark_ink + 0.05) / (dark_paper + 0.05) > 7


def test_words_have_contrast_in_both_modes(browser, page):
    # the ratio that the accessibility guidelines ask of small words
    for scheme in ("light", "dark"):
        browser.open(page, scheme=scheme)
        pairs = browser.run(
            """
            const ground = (e) => {
              const colour = getComputedStyle(e).backgroundColor;
              return colour === "rgba(0, 0, 0, 0)" ? ground(e.parentElement) : colour;
            };
            return Array.from(document.querySelectorAll(arguments[0]),
              (e) => [getComputedStyle(e).color, ground(e)]);
            """,
            ".lead, .remarks li, .figures dd, .badge, .reason, .column .name, .pairs dt, th button",
        )
        for pair in {tuple(pair) for pair in pairs}:
            low, high = sorted(map(_luminance, pair))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (scheme, pair)


def _luminance(colour):
    """Return the relative luminance of ``rgb(r, g, b)``, as accessibility guidelines define it."""
    parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_page_prints_on_white_with_the_first_rows_unfolded(browser, page):
    browser.open(page, scheme="dark")
    printed = base64.b64decode(browser.command("Page.printToPDF", printBackground=True)["data"])
    assert printed.startswith(b"%PDF")
    assert len(printed) > 20_000
    # before printing the first five rows unfold, and after it fold again
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert len(browser.driver.find_elements("css selector", "tr.detail")) == 5
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert len(browser.driver.find_elements("css selector", "tr.detail")) == 1
    browser.command("Emulation.setEmulatedMedia", media="print")
    paper = browser.run("return getComputedStyle(document.body).backgroundColor")
    browser.command("Emulation.setEmulatedMedia", media="")
    assert paper == "rgb(255, 255, 255)"


def test_without_scripts_summary_distribution_and_rows_are_there(browser, page):
    browser.open(page, script=False)
    document = browser.command("DOM.getDocument", depth=0)["root"]["nodeId"]
    html = browser.command("DOM.getOuterHTML", nodeId=document)["outerHTML"]
    boxes = {}
    for selector in (".figures", ".distribution svg.wide", f"{ROWS}:nth-child(30)"):
        node = browser.command("DOM.querySelector", nodeId=document, selector=selector)["nodeId"]
        boxes[selector] = browser.command("DOM.getBoxModel", nodeId=node)["model"]
    browser.command("Emulation.setScriptExecutionDisabled", value=False)
    assert all(box["height"] > 10 for box in boxes.values())
    assert html.count("data-item=") == 30
    assert 'class="opener"' not in html


def test_no_rows_no_atoms_no_threshold_is_a_page_too(browser, make_data, tmp_path):
    empty = make_data(top_rows=[], atoms=None, threshold=None, scores=[], flagged=[], notes=[])
    browser.open(write_report(tmp_path / "empty.html", empty))
    assert browser.messages() == []
    assert "0 of 0 rows" in browser.find(".lead").text


def test_far_values_missing_values_and_vectors_are_shown(browser, make_data, tmp_path):
    data = make_data()
    record = dict(data.top_rows[0])
    far = {"observed": 1e12, "expected": -3.0, "contribution": 1.0}
    gone = {"observed": None, "expected": 5.0, "contribution": 0.0}
    record["columns"] = [{"column": "flow", **far}, {"column": "head", **gone}]
    record["atoms"] = [{"atom": 0, "coefficient": 2.0, "distance": 0.0, "on_boundary": None}]
    atoms = AtomTable(data.atoms.components, data.atoms.radii * 0)
    strange = make_data(top_rows=[record], atoms=atoms)
    browser.open(write_report(tmp_path / "strange.html", strange))
    assert browser.messages() == []
    assert browser.texts("#detail-0 .column:not(.head) .observed") == ["1000000000000", "missing"]
    assert browser.find("#detail-0 .chip").text == "atom 0 \u00d7 2"
    assert browser.texts("#atoms .radius") == []
    assert browser.run(OVERFLOW) <= 0
