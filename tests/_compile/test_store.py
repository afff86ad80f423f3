"""Compiled kernels on disk: damage is noticed, a folder that cannot be used is reported once."""

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import setatoms
from setatoms._compile import KernelStore
from setatoms._compile.store import _KERNEL_SOURCES

# Two kernels that Python calls, one of which calls the other.
PROGRAM = """
import numpy as np
from setatoms.vectors import dot, norm
print(norm(np.arange(3.0)) ** 2, dot(np.ones(9), np.ones(9)))
"""
ANSWER = ["5.000000000000001", "9.0"]


def run(environment, program=PROGRAM):
    return subprocess.run(
        [sys.executable, "-c", program],
        env={name: value for name, value in (os.environ | environment).items() if value},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def cut_short(path):
    path.write_bytes(path.read_bytes()[:-100])


def empty(path):
    path.write_bytes(b"")


def overwrite(path):
    path.write_bytes(b"garbage" * 1000)


def flip_a_bit_of_the_code(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [cut_short, empty, overwrite, flip_a_bit_of_the_code])
def test_damaged_kernels_are_removed_and_compiled_anew(tmp_path, damage):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert run(cache).stdout.split() == ANSWER
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*.kernel")}
    assert len(kept) >= 2
    for path in kept:
        damage(path)
    again = run(cache)
    assert again.stdout.split() == ANSWER, again.stderr
    assert again.stderr == ""
    entry = next(path for path in kept if path.name.startswith("norm"))
    assert KernelStore(entry.parent).load(entry.stem) is not None


def test_a_file_where_the_folder_should_be_costs_one_warning(tmp_path):
    (tmp_path / "setatoms").write_text("in the way")
    done = run({"NUMBA_CACHE_DIR": str(tmp_path)})
    assert done.stdout.split() == ANSWER, done.stderr
    assert done.stderr.count("cannot be kept") == 1
    assert "NUMBA_CACHE_DIR" in done.stderr


def test_a_full_disk_costs_one_warning_and_leaves_no_parts(tmp_path):
    # the limit on the size of files stands in for the end of the disk
    program = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n" + PROGRAM
    done = run({"NUMBA_CACHE_DIR": str(tmp_path)}, program)
    assert done.stdout.split() == ANSWER, done.stderr
    assert done.stderr.count("cannot be kept") == 1
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


READ_ONLY_INSTALLATION = "import os; os.access = lambda *_, **__: False\n"
NO_SUCH_USER = """
import pwd
def unknown(uid):
    raise KeyError(uid)
pwd.getpwuid = unknown
"""


def test_a_user_without_a_home_compiles_with_one_warning():
    program = READ_ONLY_INSTALLATION + NO_SUCH_USER + PROGRAM
    done = run({"HOME": "", "XDG_CACHE_HOME": "", "NUMBA_CACHE_DIR": ""}, program)
    assert done.stdout.split() == ANSWER, done.stderr
    assert done.stderr.count("cannot be kept") == 1
    assert "neither HOME nor XDG_CACHE_HOME" in done.stderr


def test_a_home_that_cannot_be_written_costs_one_warning():
    # no folder can be made in there, not even by root
    home = {"HOME": "/proc", "XDG_CACHE_HOME": "", "NUMBA_CACHE_DIR": ""}
    done = run(home, READ_ONLY_INSTALLATION + PROGRAM)
    assert done.stdout.split() == ANSWER, done.stderr
    assert done.stderr.count("cannot be kept in /proc/.cache/setatoms") == 1


def test_what_was_saved_is_loaded(tmp_path):
    store = KernelStore(tmp_path / "made")
    assert store.load("one") is None
    store.save("one", b"code")
    assert store.load("one") == b"code"
    assert store.count() == 1
    store.remove("one")
    assert store.load("one") is None


def test_a_part_is_complete_until_one_of_its_kernels_is_removed(tmp_path):
    store = KernelStore(tmp_path / "made")
    assert not store.is_complete("cones")
    store.mark_complete("cones")
    assert store.is_complete("cones")
    assert not store.is_complete("vectors")
    store.save("one", b"code")
    store.remove("one")
    assert not store.is_complete("cones")


def test_without_a_folder_nothing_is_kept_and_one_warning_says_so():
    store = KernelStore(None)
    with pytest.warns(UserWarning, match="cannot be kept"):
        store.save("one", b"code")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.save("two", b"code")
    assert store.load("one") is None
    assert store.count() == 0
    assert not store.can_keep()
    store.mark_complete("cones")
    assert not store.is_complete("cones")


def test_an_edit_of_any_module_with_kernels_makes_them_anew():
    package = Path(setatoms.__file__).parent
    watched = {path for pattern in _KERNEL_SOURCES for path in package.glob(pattern)}
    written = re.compile(r"^@(?:allocating_)?kernel$|^\w+ = lane_kernel\(", re.M)
    modules = {path for path in package.rglob("*.py") if written.search(path.read_text("utf-8"))}
    assert len(modules) > 10
    assert modules <= watched
