"""Kernels compiled ahead of their first use, side by side."""

import io
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import setatoms
from setatoms import warm_up
from setatoms._compile import KernelStore
from setatoms.warm_up import PARTS, Part, compile_ahead, parts_of

# Uses of all detectors; prints the kernels that were still to be compiled.
USES = """
import warnings
import numpy as np
import setatoms
from setatoms._compile import STORE
warnings.simplefilter("ignore")
before = set(STORE.folder.glob("*.kernel"))
rows = np.random.default_rng(0).normal(size=(60, 4))
rows[5, 1] = np.nan
for name in ("VectorAtomDetector", "ConeAtomDetector", "GaussianAtomDetector", "SetAtomEnsemble"):
    fewer = {"n_members": 4} if name == "SetAtomEnsemble" else {"n_iter": 20}
    detector = getattr(setatoms, name)(random_state=0, missing="fill", **fewer).fit(rows)
    detector.predict(rows)
    detector.explain(rows[:5])
    detector.counterfactual(rows[:2])
print(len(before), sorted(path.name for path in set(STORE.folder.glob("*.kernel")) - before))
"""


def run(cache, *words):
    return subprocess.run(
        [sys.executable, *words],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.mark.slow
def test_all_kernels_are_compiled_ahead_of_their_use(tmp_path):
    first = run(tmp_path, "-m", "setatoms.warm_up")
    assert first.stderr == "setatoms: compiling kernels, once, about a minute\n"
    count, left = run(tmp_path, "-c", USES).stdout.split(maxsplit=1)
    assert left.strip() == "[]"
    # the bar is to end where the work does
    assert int(count) == pytest.approx(warm_up._count_kernels(PARTS), rel=0.15)
    again = run(tmp_path, "-m", "setatoms.warm_up")
    assert again.stderr == ""


def test_parts_with_kernels_in_common_are_compiled_one_after_another():
    groups = warm_up._families(PARTS)
    assert groups == [
        ["gaussians", "gaussian-scores"],
        ["cones", "cone-scores", "vectors", "views"],
    ]


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def store(tmp_path, monkeypatch):
    made = KernelStore(tmp_path / "kernels")
    monkeypatch.setattr(warm_up, "STORE", made)
    monkeypatch.setattr(warm_up, "_tried", set())
    return made


def test_what_is_complete_is_not_mentioned(store):
    for name in PARTS:
        store.mark_complete(name)
    stream = io.StringIO()
    assert compile_ahead(stream=stream) == ""
    assert stream.getvalue() == ""


@pytest.fixture
def asked(store, monkeypatch):
    """Return the parts that processes were asked to compile, which they do not."""
    lists = []
    monkeypatch.setattr(warm_up, "_compile_apart", lambda names, _: lists.append(names) or "")
    return lists


def test_only_what_is_used_is_compiled(store, asked):
    store.mark_complete("vectors")
    store.mark_complete("views")
    compile_ahead(parts_of(["cone"], views=True), stream=io.StringIO())
    compile_ahead(parts_of(["gaussian"], views=True, scoring=True), stream=io.StringIO())
    compile_ahead(parts_of(["vector", "kind of someone else"], views=True), stream=io.StringIO())
    assert asked == [["cones", "cone-scores"], ["gaussian-scores"]]


@pytest.mark.filterwarnings("ignore:.*rows per")
def test_the_first_fit_compiles_ahead_once_its_table_is_read(asked):
    X = np.random.default_rng(0).normal(size=(40, 3))
    few = {"n_atoms": 6, "random_state": 0}
    with pytest.raises(ValueError, match="text"):
        setatoms.VectorAtomDetector(**few).fit([["text", "text"]] * 20)
    assert asked == []
    # what failed, as it does here, is not tried again
    for _ in range(2):
        setatoms.VectorAtomDetector(n_iter=1, **few).fit(X)
    assert asked == [["vectors", "views"]]
    cones = setatoms.SetAtomEnsemble(kinds=("cone",), n_members=2, views=("relation",), **few)
    cones.fit(X)
    assert asked[1:] == [["cones", "cone-scores"]]


def test_threads_compile_once(asked):
    parts = parts_of(["cone"], views=False)
    threads = [threading.Thread(target=compile_ahead, args=(parts,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert asked == [parts]


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


class Broken(io.StringIO):
    def write(self, _):
        raise BrokenPipeError


@pytest.mark.parametrize("stream", [None, closed(), Broken()])
def test_where_nothing_can_be_written_kernels_are_compiled_all_the_same(asked, monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    assert compile_ahead(["views"]) == ""
    assert asked == [["views"]]


@pytest.mark.parametrize("program", ["", "/opt/app/app", "/usr/sbin/uwsgi"])
def test_an_application_that_is_not_python_is_not_started_again(store, monkeypatch, program):
    monkeypatch.setattr(warm_up, "_compile_apart", lambda *_: pytest.fail("who knows what it does"))
    monkeypatch.setattr(sys, "executable", program)
    assert compile_ahead(stream=io.StringIO()) == ""


def test_nothing_is_compiled_apart_that_cannot_be_kept(monkeypatch):
    monkeypatch.setattr(warm_up, "STORE", KernelStore(None))
    monkeypatch.setattr(warm_up, "_compile_apart", lambda *_: pytest.fail("of no use"))
    stream = io.StringIO()
    with pytest.warns(UserWarning, match="cannot be kept"):
        assert compile_ahead(stream=stream) == ""
    assert stream.getvalue() == ""


def test_a_process_that_fails_is_reported_and_a_terminal_gets_a_bar(store, monkeypatch):
    # a part that the process, which imports the library anew, does not know
    monkeypatch.setitem(PARTS, "unknown", Part(lambda: None, "greedy", 3))
    stream = Terminal()
    assert "KeyError: 'unknown'" in warm_up._compile_apart(["unknown"], stream)
    assert "compiling kernels, once, about a minute [####" in stream.getvalue()


def test_where_no_process_can_be_started_work_goes_on(store, monkeypatch):
    def refuse(*_, **__):
        raise OSError("Cannot allocate memory")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert compile_ahead(stream=io.StringIO()) == "Cannot allocate memory"


def test_parts_are_marked_when_they_are_compiled(store):
    warm_up.warm_up(["vectors"])
    assert store.is_complete("vectors")
    assert not store.is_complete("cones")
