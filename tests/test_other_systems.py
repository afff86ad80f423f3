"""What other systems lack is not asked for.

The tests take it away from this one, in a process of its own. That is no proof for Windows or
macOS, whose files, threads and compilers differ too.
"""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("duckdb")

# Windows has none of these. Python's own asyncio, which joblib imports, is that of this system.
WITHOUT_POSIX = """
import asyncio, os, signal, sys
sys.modules["fcntl"] = sys.modules["resource"] = None
for module, names in {
    os: "O_CLOEXEC O_NOCTTY O_NOFOLLOW O_NONBLOCK fchmod fchown geteuid getuid sysconf",
    signal: "SIGHUP pthread_kill",
}.items():
    for name in names.split():
        delattr(module, name)
"""
# macOS has no folder of open files, nor has Windows.
WITHOUT_OPEN_FILES = """
from pathlib import Path
import setatoms.files.sources as sources
import setatoms.files.engine as engine
sources.OPEN_FILES = engine.OPEN_FILES = Path("/no such folder")
"""
DETECT = """
import sys
from setatoms.cli import main
sys.exit(main(["detect", *sys.argv[1:]]))
"""
SAVE_TWICE = """
import sys
import numpy as np
from setatoms import GaussianAtomDetector, load
X = np.random.default_rng(0).normal(size=(60, 3)) @ np.ones((3, 4))
detector = GaussianAtomDetector(n_atoms=6, n_iter=10, random_state=0).fit(X)
for _ in range(2):
    detector.save(sys.argv[1])
assert np.array_equal(load(sys.argv[1]).score_samples(X), detector.score_samples(X))
"""
INTERRUPTED = """
import signal, threading, time
from setatoms.cli.running import guard
def run(words):
    threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
    time.sleep(10)
raise SystemExit(guard("setatoms", run, []))
"""


def run(program: str, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Return a table in Windows-1252, which is read by way of a copy."""
    path = tmp_path / "größen.csv"
    lines = [f"{i % 17},{(i % 17) * 2 + i % 3},{i % 5}" for i in range(200)]
    path.write_text("\n".join(["Länge,Höhe,Maß", *lines]) + "\n", encoding="cp1252")
    return path


def test_a_model_is_saved_and_replaced_without_posix(tmp_path):
    done = run(WITHOUT_POSIX + SAVE_TWICE, tmp_path / "model.setatoms")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["model.setatoms"]


def test_an_interruption_ends_a_command_without_posix():
    done = run(WITHOUT_POSIX + INTERRUPTED)
    assert done.returncode == 130
    assert done.stderr.split() == ["interrupted"]


@pytest.mark.parametrize("lacking", [WITHOUT_OPEN_FILES, WITHOUT_POSIX + WITHOUT_OPEN_FILES])
def test_scores_are_the_same_without_a_folder_of_open_files(lacking, table, tmp_path):
    words = [table, "--method", "gaussian", "--atoms", 6, "--seed", 0, "--out"]
    for suffix in (".csv", ".parquet"):
        mine, theirs = tmp_path / f"mine{suffix}", tmp_path / f"theirs{suffix}"
        for program, out in ((DETECT, mine), (lacking + DETECT, theirs)):
            done = run(program, *words, out)
            assert done.returncode == 0, done.stderr
        assert mine.read_bytes() == theirs.read_bytes()
