"""What does not fit in memory or takes long is told, or refused, before work starts."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from setatoms import memory
from setatoms.cli import forecast
from setatoms.cli.options import Learning, Reading
from setatoms.cli.reading import open_data

from .conftest import Answer

Call = Callable[..., Answer]

MIB = 1 << 20
PLAIN = Reading()
LEARNING = Learning("ensemble", None, None, False, "auto", 0, None, None, (), (), (), False, 2)


def limited(addresses: int, *words: object) -> Answer:
    """Run a command that may address no more than this many bytes."""
    done = subprocess.run(
        [sys.executable, "-m", "setatoms", *map(str, words)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses)),
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    return Answer(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("addresses", [1000 * MIB, 2000 * MIB])
def test_a_gigabyte_of_addresses_is_enough(
    model: Path, table: Path, tmp_path: Path, addresses: int
) -> None:
    for words in (
        ["score", model, table, "--out", tmp_path / "scores.csv"],
        ["detect", table, "--report", tmp_path / "page.html"],
    ):
        answer = limited(addresses, *words)
        assert (answer.status, answer.err) == (0, "")
        assert "300 rows" in answer.out


@pytest.mark.parametrize("addresses", [300 * MIB, 600 * MIB, 890 * MIB])
def test_less_is_refused_with_what_is_needed(model: Path, table: Path, addresses: int) -> None:
    answer = limited(addresses, "score", model, table)
    assert answer.status == 1
    assert answer.err == (
        "setatoms: not enough memory: needs about 900 MiB of addresses, and this process may have "
        f"{addresses // MIB} MiB (ulimit -v); raise the limit\n"
    )


def test_info_takes_little_memory(model: Path) -> None:
    assert "ConeAtomDetector" in limited(100 * MIB, "info", model).out


def test_more_atoms_than_memory_holds_are_refused_by_their_number(call: Call, table: Path) -> None:
    for method in ("gaussian", "ensemble"):
        answer = call("detect", table, "--method", method, "--atoms", 1_000_000)
        assert answer.status == 1
        assert "1000000 atoms, which need about 7.3 TiB" in answer.err
        assert "lower --atoms" in answer.err


def test_a_column_whose_variance_overflows_is_named(call: Call, tmp_path: Path) -> None:
    data = tmp_path / "large.csv"
    rows = "\n".join(
        f"{i % 7},{i % 5},{i % 3},{i % 11},{'-' if i % 2 else ''}1e200" for i in range(99)
    )
    data.write_text(f"a,b,c,d,mass\n{rows}\n", encoding="utf-8")
    answer = call("detect", data, "--method", "vector")
    assert answer.status == 1
    assert "the variance of X overflows in column 'mass'; rescale" in answer.err


@pytest.mark.parametrize("shape", [(300, 1000), (30, 5000)])
def test_wide_tables_work_and_say_how(call: Call, tmp_path: Path, shape: tuple[int, int]) -> None:
    n_rows, n_columns = shape
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 8)) @ rng.normal(size=(8, n_columns))
    X += 0.3 * rng.normal(size=shape)
    data = tmp_path / "wide.csv"
    names = ",".join(f"c{j}" for j in range(n_columns))
    np.savetxt(data, X, fmt="%.4f", delimiter=",", header=names, comments="")
    answer = call("detect", data, "--method", "gaussian", "--json", "--top", 1)
    assert answer.status == 0
    most = {300: 150, 30: 15}[n_rows]
    limited = f"X has {n_columns} features, so a dictionary gets at most {most} atoms"
    assert any(limited in note for note in answer.json["notes"])


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch, table: Path) -> Callable[[int], object]:
    """Return a function that opens the table as if it had so many rows."""

    def opened(n_rows: int) -> object:
        data = open_data(str(table), PLAIN)
        data.table.about_rows = n_rows
        return data

    return opened


def test_long_work_is_announced_with_what_would_be_faster(
    pretended: Callable[[int], object], capsys: pytest.CaptureFixture[str]
) -> None:
    forecast.forewarn(pretended(3_000_000), replace(LEARNING, method="gaussian"))
    assert capsys.readouterr().err == "about 8 min; --sample 100000 takes about 40 s\n"
    forecast.forewarn(pretended(300), LEARNING)
    assert capsys.readouterr().err == ""


def test_rows_that_do_not_fit_are_announced(
    pretended: Callable[[int], object],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "usable_memory", lambda: 48 * MIB)
    forecast.forewarn(pretended(1_000_000), replace(LEARNING, method="vector", sample=None))
    first = capsys.readouterr().err.splitlines()[0]
    assert first == (
        "about 1,000,000 rows of 6 columns need 46 MiB; a random sample of 262,144 rows will be "
        "learned from (--sample N for more)"
    )
    forecast.forewarn(pretended(1_000_000), replace(LEARNING, method="vector", sample=900_000))
    first = capsys.readouterr().err.splitlines()[0]
    assert first.endswith("a random sample of 262,144 rows will be learned from")


def test_usually_no_more_is_learned_from_than_teaches(
    pretended: Callable[[int], object], capsys: pytest.CaptureFixture[str]
) -> None:
    forecast.forewarn(pretended(80_000_000), replace(LEARNING, method="vector"))
    first = capsys.readouterr().err.splitlines()[0]
    assert "a random sample of 5,592,405 rows will be learned from (--sample N" in first
    forecast.forewarn(pretended(7_000_000), replace(LEARNING, method="vector", sample=6_000_000))
    assert "will be learned from" not in capsys.readouterr().err


def test_rows_are_counted_by_the_size_of_the_file(table: Path) -> None:
    assert open_data(str(table), PLAIN).table.about_rows == pytest.approx(300, rel=0.02)


@pytest.mark.parametrize("method", ["ensemble", "gaussian", "cone", "vector"])
def test_more_rows_columns_and_atoms_take_longer(method: str) -> None:
    learning = replace(LEARNING, method=method)
    base = forecast.estimate_seconds(learning, 5000, 5000, 20, 10**6)
    assert forecast.estimate_seconds(learning, 50_000, 50_000, 20, 10**7) > base
    assert forecast.estimate_seconds(learning, 5000, 5000, 60, 10**6) > base
    more = replace(learning, atoms=5000)
    assert forecast.estimate_seconds(more, 5000, 5000, 20, 10**6) > base
    assert forecast.estimate_seconds(learning, 5000, 1000, 20, 10**6) < base
