"""A file is replaced whole or not at all."""

from __future__ import annotations

import errno
import os
import resource
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import setatoms
from setatoms.persistence.atomic import replacing


@pytest.fixture
def target(tmp_path):
    """Return a file with something in it."""
    path = tmp_path / "model"
    path.write_bytes(b"before")
    return path


def untouched(target):
    """Return whether the file is as before and alone in its folder."""
    return target.read_bytes() == b"before" and list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, MemoryError])
def test_an_interrupted_block_leaves_the_file_as_it_was(target, stop):
    def write_half():
        with replacing(target) as stream:
            stream.write(b"half")
            raise stop

    with pytest.raises(stop):
        write_half()
    assert untouched(target)


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError(errno.ENOSPC, "No space left")])
def test_a_save_that_fails_at_any_step_leaves_the_file_as_it_was(
    target, step, stop, models, monkeypatch
):
    def fail(*args, **kwargs):
        raise stop

    monkeypatch.setattr(os, step, fail)
    expected = KeyboardInterrupt if stop is KeyboardInterrupt else OSError
    with pytest.raises(expected) as caught:
        models["ConeAtomDetector"].save(target)
    monkeypatch.undo()
    assert untouched(target)
    if expected is OSError:
        assert caught.value.errno == errno.ENOSPC
        assert "No space left; free some space" in str(caught.value)
        assert str(target) in str(caught.value)


_FILL = """
import resource, sys
from setatoms.persistence.atomic import replacing
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    with replacing(sys.argv[1]) as stream:
        for _ in range(100):
            stream.write(b"x" * 1000)
except OSError as error:
    print(error)
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="files cannot be limited here")
def test_a_file_that_the_system_cuts_off_leaves_the_old_one(target):
    command = [sys.executable, "-c", _FILL, str(target)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "what was there before is as it was" in output
    assert untouched(target)


def test_a_folder_that_does_not_exist_is_named(models, tmp_path):
    missing = tmp_path / "nowhere"
    with pytest.raises(FileNotFoundError, match=f"the folder {missing} does not exist"):
        models["ConeAtomDetector"].save(missing / "model")


def test_a_folder_is_not_replaced(models, tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; give the path of a file"):
        models["ConeAtomDetector"].save(tmp_path)


def test_a_folder_that_may_not_be_written_to_is_named(models):
    with tempfile.TemporaryDirectory(dir=tempfile.gettempdir()) as name:
        folder = Path(name)
        folder.chmod(0o555)
        user = os.geteuid()
        try:
            if user == 0:
                os.seteuid(65534)  # root may write anywhere
            with pytest.raises(PermissionError, match=f"the folder {folder} does not let you"):
                models["ConeAtomDetector"].save(folder / "model")
        finally:
            os.seteuid(user)
            folder.chmod(0o755)
        assert not list(folder.iterdir())


def test_permissions_and_links_stay(tmp_path, models):
    target, link = tmp_path / "a", tmp_path / "b"
    target.write_bytes(b"before")
    target.chmod(0o640)
    link.symlink_to(target)
    models["ConeAtomDetector"].save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert setatoms.load(link).n_features_in_ == 5


def test_a_new_file_gets_the_usual_permissions(tmp_path, models):
    (tmp_path / "usual").touch()
    models["ConeAtomDetector"].save(tmp_path / "model")
    modes = {path.stat().st_mode for path in tmp_path.iterdir()}
    assert len(modes) == 1


def test_the_longest_name_can_be_saved_to(tmp_path, models):
    models["ConeAtomDetector"].save(tmp_path / ("m" * 255))
    assert [path.name for path in tmp_path.iterdir()] == ["m" * 255]
