"""The progress bar: one line on a terminal, nothing elsewhere."""

import io
import sys
from itertools import count

import pytest

from setatoms import VectorAtomDetector
from setatoms.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_sees_one_line_that_ends_full():
    terminal = Terminal()
    with Progress(4, "working", stream=terminal) as progress:
        for _ in range(4):
            progress.advance(note="error 0.5")
    text = terminal.getvalue()
    assert text.count("\n") == 1
    assert text.rpartition("\r")[2].startswith("working [" + "#" * 30 + "] 100% error 0.5")


@pytest.mark.parametrize(("stream", "enabled"), [(io.StringIO, True), (Terminal, False)])
def test_files_and_disabled_bars_stay_empty(stream, enabled):
    target = stream()
    with Progress(2, "working", enabled=enabled, stream=target) as progress:
        progress.advance(2)
    assert target.getvalue() == ""


def test_an_error_ends_the_line():
    terminal = Terminal()
    progress = Progress(2, "working", stream=terminal)
    progress.advance()
    with pytest.raises(RuntimeError), progress:
        raise RuntimeError
    assert terminal.getvalue().endswith("\n")


def test_nothing_to_do_is_all_done():
    assert Progress(0, "working", stream=io.StringIO()).share == 1.0


def test_verbose_shows_a_full_bar(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    X = [[float(i % 3), float(i % 5), float(i % 7)] for i in range(90)]
    VectorAtomDetector(n_atoms=3, verbose=True, random_state=0).fit(X)
    last = terminal.getvalue().rpartition("\r")[2]
    assert last.startswith("VectorAtomDetector [" + "#" * 30 + "] 100%")


class OutStream(io.StringIO):
    """Stands for the stream of a notebook's kernel."""

    __module__ = "ipykernel.iostream"


class Output:
    """Stands for IPython's display: keeps what is shown, and what replaces it."""

    def __init__(self):
        self.shown = []

    def display(self, forms, *, raw, display_id):
        assert raw
        assert display_id
        self.shown.append([forms])
        return self

    def update(self, forms, *, raw):
        assert raw
        self.shown[-1].append(forms)


def test_a_notebook_shows_one_bar_that_ends_full(monkeypatch):
    output, notebook = Output(), OutStream()
    monkeypatch.setitem(sys.modules, "IPython", output)
    monkeypatch.setitem(sys.modules, "IPython.display", output)
    monkeypatch.setattr("time.monotonic", count().__next__)
    with Progress(4, "<working>", stream=notebook) as progress:
        for _ in range(4):
            progress.advance(note="error <0.5>")
    ((first, *_, last),) = output.shown
    assert 'value="0.2500"' in first["text/html"]
    assert 'value="1.0000"' in last["text/html"]
    assert "&lt;working&gt;" in last["text/html"]
    assert "error &lt;0.5&gt;" in last["text/html"]
    assert last["text/plain"].startswith("<working> [" + "#" * 30 + "] 100%")
    assert notebook.getvalue() == ""


def test_a_disabled_bar_is_not_in_the_notebook(monkeypatch):
    output = Output()
    monkeypatch.setitem(sys.modules, "IPython.display", output)
    with Progress(1, "working", enabled=False, stream=OutStream()) as progress:
        progress.advance()
    assert output.shown == []


def test_a_kernel_without_ipython_writes_a_line_with_the_time_left(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    clock = iter(range(0, 1000, 2))
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    notebook = OutStream()
    with Progress(10, "working", stream=notebook) as progress:
        for _ in range(5):
            progress.advance()
    last = notebook.getvalue().rpartition("\r")[2]
    assert last.startswith("working [" + "#" * 15 + "." * 15 + "]  50%")
    assert last.rstrip().endswith("s left")
