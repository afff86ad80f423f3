"""The examples of the gallery run, draw, and warn of nothing."""

from __future__ import annotations

import importlib
import runpy
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

mpl.use("Agg")

GALLERY = Path(__file__).resolve().parents[2] / "docs" / "gallery"
SCRIPTS = sorted(GALLERY.glob("plot_*.py"))
# Those of a few seconds; the others are many fits.
QUICK = {
    "plot_atoms_in_space",
    "plot_digits_patches",
    "plot_drift",
    "plot_explanation_and_truth",
    "plot_model_in_production",
    "plot_time_series_windows",
}


@pytest.fixture(autouse=True)
def own_figures() -> Iterator[None]:
    """Give each script the settings of a fresh start, and close what it drew."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.use("Agg")
        yield
        plt.close("all")


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(path, id=path.stem, marks=[] if path.stem in QUICK else pytest.mark.slow)
        for path in SCRIPTS
    ],
)
def test_example_draws_without_warnings(
    script: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")  # plt.show()
        runpy.run_path(str(script), run_name="__main__")
        for number in plt.get_fignums():
            plt.figure(number).canvas.draw()
    assert plt.get_fignums()
    assert not list(tmp_path.iterdir())  # nothing is left behind


def test_gallery_has_a_header_and_twelve_examples() -> None:
    assert (GALLERY / "GALLERY_HEADER.rst").is_file()
    assert len(SCRIPTS) >= 12


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_example_begins_with_a_title_that_is_underlined(script: Path) -> None:
    title, line = script.read_text(encoding="utf-8").splitlines()[1:3]
    assert line == "=" * len(title)


def test_no_example_is_forgotten_among_the_quick_ones() -> None:
    assert QUICK <= {path.stem for path in SCRIPTS}


def test_the_gallery_begins_with_four_detectors_and_places_every_example(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(GALLERY.parent / "_extensions"))
    pages = importlib.import_module("pages")
    names = [script.name for script in sorted(SCRIPTS, key=lambda each: order(pages, each))]
    assert names[0] == "plot_four_detectors.py"
    assert {script.stem for script in SCRIPTS} == {f"plot_{name}" for name in pages.STORIES}


def order(pages: Any, script: Path) -> tuple[int, str]:
    key: tuple[int, str] = pages.StoryOrder("")(script.name)
    return key
