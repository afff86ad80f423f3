"""Outputs are whole or as they were; memory does not grow with the table."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .conftest import as_parquet

BEFORE = "what was there before\n"


@pytest.fixture(scope="module")
def long_table(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a table that takes a while to score."""
    return repeat(table, tmp_path_factory.mktemp("long") / "long.csv", 2000)


def repeat(table: Path, path: Path, times: int) -> Path:
    """Write the rows of a table that many times."""
    header, rows = table.read_text(encoding="utf-8").split("\n", 1)
    with path.open("w", encoding="utf-8") as stream:
        stream.write(header + "\n")
        for _ in range(times):
            stream.write(rows)
    return path


def start_scoring(model: Path, table: Path, out: Path) -> subprocess.Popen[str]:
    """Start to score, and return once the new file is being written."""
    child = subprocess.Popen(
        [sys.executable, "-m", "setatoms", "score", str(model), str(table), "--out", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and child.poll() is None:
        drafts = [path for path in out.parent.iterdir() if path != out]
        if any(draft.stat().st_size > 0 for draft in drafts):
            return child
        time.sleep(0.01)
    child.kill()
    raise AssertionError(f"it ended too early: {child.communicate()}")


def test_sigint_ends_with_130_and_leaves_the_old_file(
    model: Path, long_table: Path, tmp_path: Path
) -> None:
    out = tmp_path / "scores.csv"
    out.write_text(BEFORE, encoding="utf-8")
    child = start_scoring(model, long_table, out)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=120)
    assert child.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err
    assert out.read_text(encoding="utf-8") == BEFORE
    assert list(tmp_path.iterdir()) == [out]


def test_sigkill_leaves_the_old_file(model: Path, long_table: Path, tmp_path: Path) -> None:
    out = tmp_path / "scores.csv"
    out.write_text(BEFORE, encoding="utf-8")
    child = start_scoring(model, long_table, out)
    child.kill()
    child.communicate(timeout=120)
    assert child.returncode == -signal.SIGKILL
    assert out.read_text(encoding="utf-8") == BEFORE


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_end_leaves_the_old_file_and_nothing_else(
    model: Path, long_table: Path, tmp_path: Path, number: signal.Signals
) -> None:
    out = tmp_path / "scores.csv"
    out.write_text(BEFORE, encoding="utf-8")
    child = start_scoring(model, long_table, out)
    child.send_signal(number)
    _, err = child.communicate(timeout=120)
    assert child.returncode == 128 + number
    assert err == "stopped\n"
    assert out.read_text(encoding="utf-8") == BEFORE
    assert list(tmp_path.iterdir()) == [out]


_GUARDED = """
import signal, sys, time
from setatoms.cli.running import guard

number = int(sys.argv[1])
{run}
sys.exit(guard("name", run, []))
"""
# Python drops exceptions of destructors.
_WHILE_DESTROYING = """
class Doomed:
    def __del__(self):
        signal.raise_signal(number)
        time.sleep(0)

def run(words):
    Doomed()
    time.sleep(5)
    return 0
"""
# Compiled code that imports a module prints what was raised, and raises something else.
_WHILE_IMPORTING = """
def run(words):
    try:
        signal.raise_signal(number)
        time.sleep(0)
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
    raise ImportError("a module failed to import")
"""
# Compiled code that looks something up takes any error for "not there", and says nothing.
_WHILE_LOOKING_UP = """
def run(words):
    try:
        signal.raise_signal(number)
        time.sleep(0)
    except BaseException:
        pass
    time.sleep(5)
    return 0
"""
# What tidies up is not disturbed by the signals that follow.
_WHILE_TIDYING_UP = """
def run(words):
    try:
        signal.raise_signal(number)
        time.sleep(0)
    finally:
        for _ in range(50):
            time.sleep(0.01)
        print("tidy")
    return 0
"""


def run_guarded(run: str, number: signal.Signals) -> subprocess.CompletedProcess[str]:
    """Run a program that sends itself a signal."""
    words = [sys.executable, "-c", _GUARDED.format(run=run), str(int(number))]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


def test_tidying_up_is_not_disturbed() -> None:
    done = run_guarded(_WHILE_TIDYING_UP, signal.SIGTERM)
    assert (done.returncode, done.stdout, done.stderr) == (143, "tidy\n", "stopped\n")


@pytest.mark.parametrize("run", [_WHILE_DESTROYING, _WHILE_IMPORTING, _WHILE_LOOKING_UP])
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)]
)
def test_a_signal_whose_exception_is_dropped_is_not_lost(
    run: str, number: signal.Signals, status: int
) -> None:
    done = run_guarded(run, number)
    assert done.returncode == status
    assert done.stderr.strip() == ("interrupted" if number == signal.SIGINT else "stopped")


def test_an_error_in_the_last_line_leaves_the_old_file(
    model: Path, table: Path, tmp_path: Path
) -> None:
    data, out = tmp_path / "data.csv", tmp_path / "scores.csv"
    data.write_text(table.read_text(encoding="utf-8") + "1,2,x,4,a,b\n", encoding="utf-8")
    out.write_text(BEFORE, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "setatoms", "score", str(model), str(data), "--strict",
         "--out", str(out)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "line 302, column 'height': 'x' is not a number" in done.stderr
    assert out.read_text(encoding="utf-8") == BEFORE


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks are read from /proc")
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_scoring_takes_constant_memory(
    model: Path, table: Path, tmp_path: Path, suffix: str
) -> None:
    # compiling the kernels takes some 70 MB, once: not in either of the runs compared
    warm = ["score", str(model), str(table), "--out", str(tmp_path / "warm.csv")]
    subprocess.run([sys.executable, "-m", "setatoms", *warm], capture_output=True, check=True)
    peaks = []
    for n_rows in (1_500_000, 2_400_000):
        data = repeat(table, tmp_path / f"{n_rows}.csv", n_rows // 300)
        if suffix == ".parquet":
            data = as_parquet(data, data.with_suffix(".parquet"))
        words = ["score", str(model), str(data), "--out", str(tmp_path / "scores.csv")]
        # not getrusage, whose peak begins with that of the process which started this one
        code = (
            "import sys; from setatoms.cli import main; "
            f"status = main({words!r}); "
            "print(open('/proc/self/status').read(), file=sys.stderr); "
            "sys.exit(status)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        peaks.append(int(re.search(r"VmHWM:\s+(\d+)", done.stderr)[1]) / 1024)
    # 900,000 rows more are 29 MB of features and 45 MB of text; an allocator wavers by less, and
    # buffers of text have filled before
    assert peaks[1] - peaks[0] < 20, f"peaks of {peaks} MB"
