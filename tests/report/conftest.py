"""A report without a model, and a real browser to look at it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from setatoms.report import AtomTable, ReportData, write_report

NAMES = ["flow", "head", "power", "current", "motor temperature", "vibration"]


@pytest.fixture(scope="session")
def make_data() -> Callable[..., ReportData]:
    """Return a function that makes a report of 300 rows, 30 on top; arguments replace fields."""

    def make(**fields: Any) -> ReportData:
        rng = np.random.default_rng(0)
        scores = np.append(rng.gamma(9.0, 0.02, size=295), [0.6, 0.8, 1.1, 1.9, 7.5])
        columns = fields.pop("columns", NAMES)
        order = np.argsort(-scores)[:30]
        everything = {
            "file_name": "pumps.csv",
            "columns": columns,
            "scores": scores,
            "flagged": scores > 0.5,
            "threshold": 0.5,
            "top_rows": [_record(rng, int(i), float(scores[i]), columns) for i in order],
            "center": np.arange(len(columns), dtype=float),
            "scale": np.full(len(columns), 2.0),
            "method": "Gaussian atoms",
            "decision": "The threshold was given.",
            "atoms": _atoms(rng, 8, len(columns)),
            "parameters": {"n_atoms": 8, "radii": (0.04, 0.12)},
            "versions": {"setatoms": "0.1.0"},
            "fingerprint": "sha256:0123",
            "command": "setatoms detect pumps.csv --report page.html",
            "notes": ["6 numeric columns were used."],
        }
        return ReportData(**(everything | fields))

    return make


def _atoms(rng: np.random.Generator, n_atoms: int, n_columns: int) -> AtomTable:
    components = rng.normal(size=(n_atoms, n_columns))
    components /= np.linalg.norm(components, axis=1, keepdims=True)
    return AtomTable(components, np.linspace(0.04, 0.12, n_atoms), np.linspace(0.4, 0.0, n_atoms))


def _record(rng: np.random.Generator, row: int, score: float, columns: list[str]) -> dict[str, Any]:
    shares = np.sort(rng.dirichlet(np.ones(len(columns))))[::-1]
    order = rng.permutation(len(columns))
    entries = [
        {"column": columns[j], "observed": 2.0 * z, "expected": 1.0, "contribution": float(share)}
        for j, z, share in zip(order, rng.normal(size=len(columns)), shares, strict=True)
    ]
    return {
        "row": row,
        "score": score,
        "flagged": score > 0.5,
        "sentence": f"{columns[order[0]]} {entries[0]['observed']:.3g} where 1 was expected",
        "columns": entries,
        "atoms": [{"atom": 3, "coefficient": -1.2, "distance": 0.5, "on_boundary": False}],
        "index": f"pump-{row}",
        "p_value": 1.0 / (1.0 + 100.0 * score),
    }


class Browser:
    """Chromium without a window, and what it has to say."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, page: Path, *, width: int = 1280, scheme: str = "light", script: bool = True):
        """Show a page; forget what was requested and said before."""
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=900, deviceScaleFactor=1, mobile=width < 500,
        )  # fmt: skip
        self.command(
            "Emulation.setEmulatedMedia",
            features=[
                {"name": "prefers-color-scheme", "value": scheme},
                {"name": "prefers-reduced-motion", "value": "reduce"},
            ],
        )
        self.command("Emulation.setScriptExecutionDisabled", value=not script)
        self.driver.get("about:blank")
        for kind in ("browser", "performance"):
            self.driver.get_log(kind)
        self.driver.get(page.as_uri())

    def command(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Send a command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, arguments)

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page and return its value."""
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        """Return the first element that a CSS selector finds."""
        return self.driver.find_element("css selector", selector)

    def texts(self, selector: str) -> list[str]:
        """Return the texts of all elements that are shown."""
        found = self.driver.find_elements("css selector", selector)
        return [element.text for element in found if element.is_displayed()]

    def messages(self) -> list[str]:
        """Return what stands in the console."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Return all addresses that were asked for."""
        events = [json.loads(entry["message"]) for entry in self.driver.get_log("performance")]
        return [
            event["message"]["params"]["request"]["url"]
            for event in events
            if event["message"]["method"] == "Network.requestWillBeSent"
        ]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Return a headless Chromium; skip where there is none."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    service = shutil.which("chromedriver")
    if program is None or service is None or find_spec("selenium") is None:
        reason = "no browser: install Debian's chromium and chromium-driver, and selenium with pip"
        if os.environ.get("SETATOMS_CI") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = program
    # no sandbox: root has none, and containers often forbid it
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(service))
    try:
        yield Browser(driver)
    finally:
        driver.quit()


@pytest.fixture(scope="session")
def page(make_data, tmp_path_factory) -> Path:
    """Return a page of the ordinary kind."""
    return write_report(tmp_path_factory.mktemp("report") / "page.html", make_data())
