"""No output destroys an input or another output; what is no file is never replaced."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Answer

Call = Callable[..., Answer]


@pytest.fixture
def copies(model: Path, table: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Return a model and a table that a faulty command may destroy."""
    own_model, own_table = tmp_path / "m.setatoms", tmp_path / "d.csv"
    own_model.write_bytes(model.read_bytes())
    own_table.write_bytes(table.read_bytes())
    return own_model, own_table


@pytest.mark.parametrize("option", ["--out", "--report"])
@pytest.mark.parametrize("way", ["plain", "detour", "link", "hard link"])
def test_the_model_is_never_an_output(
    call: Call, copies: tuple[Path, Path], option: str, way: str
) -> None:
    model, table = copies
    before = model.read_bytes()
    answer = call("score", model, table, option, another_name(model, way))
    assert answer.status == 1
    assert "is the same file as" in answer.err
    assert "write to another file" in answer.err
    assert model.read_bytes() == before


def another_name(path: Path, way: str) -> Path:
    folder = path.parent / "sub"
    folder.mkdir()
    if way == "detour":
        return folder / ".." / path.name
    other = folder / "other"
    if way == "link":
        other.symlink_to(path)
    elif way == "hard link":
        os.link(path, other)
    return path if way == "plain" else other


def test_a_table_on_standard_input_is_never_an_output(copies: tuple[Path, Path]) -> None:
    _, table = copies
    before = table.read_bytes()
    with table.open("rb") as stream:
        done = subprocess.run(
            [sys.executable, "-m", "setatoms", "detect", "-", "--out", str(table)],
            stdin=stream, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert "is the same file as standard input" in done.stderr
    assert table.read_bytes() == before


@pytest.mark.parametrize("second", ["q", "sub/../q", "link"])
def test_two_outputs_are_two_files(call: Call, table: Path, tmp_path: Path, second: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "q")
    answer = call("detect", table, "--out", tmp_path / "q", "--save", tmp_path / second)
    assert answer.status == 1
    assert "are the same file" in answer.err
    assert not (tmp_path / "q").exists()


@pytest.mark.parametrize("option", ["--out", "--report"])
def test_outputs_leave_a_device_a_device(
    call: Call, model: Path, table: Path, tmp_path: Path, option: str
) -> None:
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")
    assert call("score", model, table, option, device).status == 0
    assert device.is_char_device()


def test_a_folder_that_cannot_be_written_to_is_named_before_work_starts(
    call: Call, tmp_path: Path
) -> None:
    missing = tmp_path / "no" / "scores.csv"
    answer = call("detect", tmp_path / "table-that-is-not-there.csv", "--out", missing)
    assert answer.status == 1
    assert f"the folder {missing.parent} is not there; make it first" in answer.err
