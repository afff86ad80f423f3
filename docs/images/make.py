"""Draw the pictures of the documentation.

Run as ``python docs/images/make.py``. Needs the extra ``cli``, Selenium, and Debian's packages
chromium and chromium-driver. The table is generated: a pump whose readings obey simple laws, with
one reading replaced in twelve of 1,500 rows.
"""

from __future__ import annotations

import base64
import csv
import os
import pty
import re
import shutil
import sys
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
WIDTH, HEIGHT, N_COLUMNS = 1280, 1440, 140
# Parts of a report above the rows that stand out, which the picture is there to show.
_LEAVE_OUT = "document.querySelectorAll('#timeline, #blamed').forEach(part => part.remove())"
COLUMNS = (
    "speed_rpm",
    "flow_m3h",
    "head_m",
    "power_kw",
    "current_a",
    "motor_temp_c",
    "bearing_temp_c",
    "vibration_mm_s",
    "ambient_temp_c",
)
# Columns whose readings are replaced, in turn.
FAULTY = ("flow_m3h", "power_kw", "bearing_temp_c", "motor_temp_c", "head_m", "vibration_mm_s")


def make_pump(n_rows: int = 1500, seed: int = 7) -> np.ndarray:
    """Return readings (n_rows, 9): flow, head and power follow from speed and valve, and so on."""
    rng = np.random.default_rng(seed)
    speed = rng.normal(1450, 120, n_rows)
    valve = rng.normal(0, 1, n_rows)
    ambient = rng.normal(18, 6, n_rows)

    def noise(deviation: float) -> np.ndarray:
        return rng.normal(0, deviation, n_rows)

    flow = 42 * speed / 1450 * (1 + 0.12 * valve) + noise(0.5)
    head = 31 * (speed / 1450) ** 2 * (1 - 0.10 * valve) + noise(0.4)
    power = 0.0136 * flow * head / 0.62 + noise(0.4)
    current = 1.62 * power + 2 + noise(0.5)
    motor = ambient + 22 + 1.1 * power + noise(0.9)
    bearing = ambient + 9 + 0.012 * speed + noise(0.8)
    vibration = 0.9 + 0.0011 * speed + noise(0.12)
    readings = (speed, flow, head, power, current, motor, bearing, vibration, ambient)
    return break_relations(np.column_stack(readings), rng)


def break_relations(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Replace one reading in each of twelve rows: by another row's, then by one far off."""
    for k, i in enumerate(rng.choice(len(X), 12, replace=False)):
        j = COLUMNS.index(FAULTY[k % len(FAULTY)])
        if k < len(FAULTY):
            X[i, j] = X[rng.integers(len(X)), j]
        else:
            X[i, j] += rng.choice([-1, 1]) * rng.uniform(2.5, 4) * X[:, j].std()
    return X


def write_csv(path: Path, X: np.ndarray) -> None:
    """Write the readings, one every half hour."""
    start = datetime(2026, 3, 1)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["time", *COLUMNS])
        for i, row in enumerate(X):
            moment = start + timedelta(minutes=30 * i)
            writer.writerow([moment.isoformat(" ", "minutes"), *(f"{value:.5g}" for value in row)])


def run_on_a_terminal(words: list[str], folder: Path) -> str:
    """Run a command where it sees a terminal; return what it prints, colours included."""
    shown = b""

    def read(descriptor: int) -> bytes:
        nonlocal shown
        data = os.read(descriptor, 4096)
        shown += data
        return data

    before = Path.cwd()
    os.environ |= {"COLUMNS": str(N_COLUMNS), "TERM": "xterm-256color"}
    os.chdir(folder)
    try:
        if pty.spawn([sys.executable, "-m", "setatoms", *words], read) != 0:
            raise SystemExit(f"setatoms {' '.join(words)} failed")
    finally:
        os.chdir(before)
    # a progress bar rewrites its line: keep what it wrote last
    lines = re.sub(r"\x1b\[\?25[lh]|\x1b\[2K|\x1b\[1A", "", shown.decode()).split("\r\n")
    return "\n".join(line.rsplit("\r", 1)[-1] for line in lines)


def draw_terminal(command: str, shown: str, page: Path) -> None:
    """Write a page that shows a command and what it printed."""
    from rich.console import Console
    from rich.text import Text

    with Path(os.devnull).open("w") as nowhere:
        console = Console(file=nowhere, record=True, width=N_COLUMNS, color_system="truecolor")
        console.print(Text(f"$ {command}", style="bold"))
        console.print(Text.from_ansi(shown.strip("\n")))
        text = console.export_html(code_format="{code}", inline_styles=True)
    look = "font: 14px/1.45 'DejaVu Sans Mono', monospace; margin: 0; padding: 18px"
    colours = "background: #16181d; color: #d9dde5"
    page.write_text(
        f"<meta charset=utf-8><body style='margin:0;{colours}'><pre style=\"{look}\">{text}</pre>",
        encoding="utf-8",
    )


def take_picture(page: Path, picture: Path, height: int = 0) -> None:
    """Photograph the top of a page, or all of it."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for word in ("--headless=new", "--no-sandbox", "--hide-scrollbars"):
        options.add_argument(word)
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        driver.get(page.as_uri())
        driver.execute_script(_LEAVE_OUT)
        size = {"width": WIDTH, "height": height or 100, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        if not height:
            size["height"] = driver.execute_script("return document.body.scrollHeight")
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    finally:
        driver.quit()
    picture.write_bytes(base64.b64decode(shot["data"]))


def main() -> None:
    """Write report.png and terminal.png beside this file."""
    words = ["detect", "pumps.csv", "--index", "time", "--top", "5", "--report", "report.html"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_csv(folder / "pumps.csv", make_pump())
        shown = run_on_a_terminal(words, folder)
        draw_terminal(f"setatoms {' '.join(words)}", shown, folder / "terminal.html")
        take_picture(folder / "terminal.html", FOLDER / "terminal.png")
        take_picture(folder / "report.html", FOLDER / "report.png", HEIGHT)
    for picture in ("terminal.png", "report.png"):
        print(f"{FOLDER / picture}: {(FOLDER / picture).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
