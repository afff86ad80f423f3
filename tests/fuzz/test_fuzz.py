"""Every harness runs for some seconds and finds nothing; run it longer with tests/fuzz/run.py."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
SECONDS = 10


@pytest.mark.parametrize("harness", sorted(path.stem for path in FOLDER.glob("fuzz_*.py")))
def test_the_fuzzer_finds_nothing(harness, tmp_path):
    if find_spec("atheris") is None:
        reason = 'fuzzing needs atheris: pip install "setatoms[fuzz]" (Linux on x86-64)'
        if os.environ.get("SETATOMS_CI") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    if harness == "fuzz_store":
        pytest.importorskip("benchmarks")
    command = [sys.executable, str(FOLDER / "run.py"), harness, f"-max_total_time={SECONDS}"]
    done = subprocess.run(
        [*command, "-seed=1"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        # whatever is left there, goes with the folder
        env=os.environ | {"TMPDIR": str(tmp_path)},
        timeout=20 * SECONDS + 120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    assert "Done " in done.stderr, done.stderr[-5000:]
