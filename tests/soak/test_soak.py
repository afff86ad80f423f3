"""The soak with small counts finds nothing; run it longer with tests/soak/run.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("duckdb")
pytest.importorskip("benchmarks")

RUN = Path(__file__).with_name("run.py")
SMALL = ["--inputs", "2000", "--kills", "5", "--disks", "3", "--environments", "2"]


@pytest.mark.slow
def test_a_short_soak_finds_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(RUN), *SMALL],
        capture_output=True, text=True, cwd=tmp_path, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    rows = [line.split("|") for line in done.stdout.splitlines() if line.startswith("| ")][1:]
    tried = {row[1].strip(): int(row[2].replace(",", "")) for row in rows}
    assert sum(n for what, n in tried.items() if what.startswith("mutated")) == 2000
    assert sum(n for what, n in tried.items() if what.startswith("kills")) == 5
    assert all(row[3].strip() == "0" for row in rows)
