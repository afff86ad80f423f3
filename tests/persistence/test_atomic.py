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


def test_a_device_stays_one(models):
    with tempfile.TemporaryDirectory() as name:
        device = Path(name, "null")
        try:
            os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        except PermissionError:
            pytest.skip("only root makes devices")
        models["ConeAtomDetector"].save(device)
        assert device.is_char_device()
        assert [path.name for path in Path(name).iterdir()] == ["null"]


def test_a_pipe_is_written_to_and_stays_one(tmp_path, models):
    pipe, copy = tmp_path / "pipe", tmp_path / "copy"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        try:
            models["ConeAtomDetector"].save(pipe)
            copy.write_bytes(reader.communicate(timeout=60)[0])
        finally:
            reader.kill()  # which would wait for ever if the pipe were gone
    assert pipe.is_fifo()
    assert setatoms.load(copy).n_features_in_ == 5


def test_a_draft_is_never_open_to_more_than_the_file_it_replaces(target):
    target.chmod(0o600)
    with replacing(target) as stream:
        (draft,) = set(target.parent.iterdir()) - {target}
        assert stat.S_IMODE(draft.stat().st_mode) == 0o600
        stream.write(b"after")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_draft_is_private_from_the_moment_it_is_made(target, monkeypatch):
    modes = []
    really_open = os.open

    def spying(path, flags, mode=0o777, **kwargs):
        if flags & os.O_CREAT:
            modes.append(mode)
        return really_open(path, flags, mode, **kwargs)

    target.chmod(0o640)
    monkeypatch.setattr(os, "open", spying)
    with replacing(target) as stream:
        stream.write(b"after")
    assert modes == [0o600]
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


_DIE = """
import os, signal, sys
from setatoms.persistence.atomic import replacing
with replacing(sys.argv[1]) as stream:
    stream.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_removed_at_the_next_write(target):
    subprocess.run([sys.executable, "-c", _DIE, str(target)], check=False)
    assert len(list(target.parent.iterdir())) == 2
    with replacing(target) as stream:
        stream.write(b"before")
    assert untouched(target)


def test_drafts_that_are_being_written_and_files_of_others_stay(target):
    other = target.parent / ".0123456789abcdef.part"
    other.write_bytes(b"not ours")
    with replacing(target) as one:
        with replacing(target.parent / "second") as two:
            two.write(b"2")
        one.write(b"1")
    assert {path.name: path.read_bytes() for path in target.parent.iterdir()} == {
        "model": b"1", "second": b"2", other.name: b"not ours",
    }  # fmt: skip
