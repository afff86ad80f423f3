"""The built site in a real browser, opened from the disk, without a network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

SITE = Path(__file__).resolve().parents[2] / "build" / "site"
SIZES = list(product((1280, 390), ("light", "dark")))
# A picture that did not load, a formula that was not set, a page wider than the screen, a cell of a
# table that is not laid out as one.
FAULTS = """
const faults = [];
// the theme lets the article scroll sideways in a box of its own
const article = document.querySelectorAll(".bd-article-container");
for (const box of [document.scrollingElement, ...article])
  if (box.scrollWidth > box.clientWidth) faults.push(`needs ${box.scrollWidth} pixels`);
for (const image of document.images)
  if (!image.complete || !image.naturalWidth) faults.push(`lacks ${image.src}`);
const formulas = document.querySelectorAll(".math").length;
const typeset = document.querySelectorAll(".math mjx-container").length;
if (typeset < formulas) faults.push("lacks formulas");
if (document.querySelector("mjx-merror")) faults.push("has a wrong formula");
const cells = [...document.querySelectorAll(".bd-article table:has(th.sortable) td")];
if (cells.some((cell) => getComputedStyle(cell).display !== "table-cell"))
  faults.push("has cells outside their columns");
return faults;
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Return a headless Chromium that reaches no host."""
    if not (SITE / "index.html").is_file():
        pytest.skip("no site in build/site: make docs")
    program, service = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or service is None or find_spec("selenium") is None:
        if os.environ.get("SETATOMS_CI") == "1":
            pytest.fail("the site is tested in Chromium: install chromium and chromium-driver")
        pytest.skip("needs chromium, chromedriver and selenium")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "hide-scrollbars"):
        options.add_argument(f"--{argument}")
    options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND")
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(service))
    yield driver
    driver.quit()


def open_page(browser: Any, page: Path, query: str = "", ready: str = "true") -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get(page.as_uri() + query)
    WebDriverWait(browser, 20).until(lambda driver: driver.execute_script(f"return {ready}"))


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_every_page_fits_the_screen_and_is_complete(browser: Any, width: int, scheme: str) -> None:
    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    pages = [page for page in sorted(SITE.rglob("*.html")) if "_static" not in page.parts]
    assert len(pages) > 100
    faults = {}
    for page in pages:
        typeset = "!document.querySelector('.math') || !!document.querySelector('mjx-container')"
        open_page(browser, page, ready=f"document.readyState === 'complete' && ({typeset})")
        faults[page.name] = browser.execute_script(FAULTS)
        assert browser.execute_script("return document.documentElement.dataset.theme") == scheme
    assert not {name: found for name, found in faults.items() if found}


def test_search_finds_pages_from_the_disk(browser: Any) -> None:
    found = "document.querySelectorAll('ul.search li a').length"
    open_page(browser, SITE / "search.html", "?q=counterfactual", f"{found} > 3")


def test_tables_of_figures_are_sorted_by_a_click(browser: Any) -> None:
    open_page(browser, SITE / "reproduction.html", ready="!!document.querySelector('th.sortable')")
    column = browser.execute_script("""
        const heading = [...document.querySelectorAll("th.sortable")]
          .find((each) => each.textContent.includes("seconds"));
        heading.querySelector("button").click();
        const rows = heading.closest("table").tBodies[0].rows;
        return [...rows].map((row) => Number(row.cells[heading.cellIndex].textContent));
    """)
    assert len(column) > 10
    assert column == sorted(column)
