"""What Figures 1 to 3 show, and that they can be drawn of any store."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from xml.etree import ElementTree

import pytest

from benchmarks.paper.figures import draw_figures, make_figures
from benchmarks.paper.improvements import best_ratios, improvements, summarise_ratios
from benchmarks.paper.reading import load_results

CONFIGS = ("n2 r0.01-0.1 linear", "n4 r0.04-0.12 80-20")
FIXED, ADAPTIVE = "Cone-DL", "DLC-adapt (1-norm)"

needs_matplotlib = pytest.mark.skipif(
    find_spec("matplotlib") is None, reason="matplotlib is not installed"
)


@pytest.fixture
def store(row, make_store):
    """Return a store with a dataset that improves, one that is perfect, one that is lost."""
    areas = {"1_better": (0.8, [0.85, 0.9]), "2_perfect": (1, [1, 1]), "3_lost": (1, [0.9, 0.8])}
    rows = []
    for dataset, (fixed, adaptive) in areas.items():
        for config, area in zip(CONFIGS, adaptive, strict=True):
            rows += [row(FIXED, fixed, config, dataset), row(ADAPTIVE, area, config, dataset)]
    return make_store(rows)


def test_improvements_are_gains_over_the_twin_by_configuration(store):
    gains = improvements(load_results(store), ADAPTIVE)
    assert gains["1_better"] == pytest.approx([0.05, 0.1], rel=1e-9)
    assert gains["2_perfect"] == [0, 0]


def test_the_ratio_is_that_of_the_best_configuration(store):
    ratios = best_ratios(load_results(store), ADAPTIVE)
    # 0.1 of the 0.2 that were left
    assert ratios["1_better"] == pytest.approx(0.5, rel=1e-9)
    assert ratios["2_perfect"] == 1
    assert ratios["3_lost"] == -float("inf")


def test_the_summary_counts_perfect_datasets_apart(row, make_store):
    rows = [row(FIXED, 0.8, CONFIGS[0], "1_a"), row(ADAPTIVE, 0.95, CONFIGS[0], "1_a")]
    rows += [row(FIXED, 0.8, CONFIGS[0], "2_b"), row(ADAPTIVE, 0.81, CONFIGS[0], "2_b")]
    rows += [row(FIXED, 1.0, CONFIGS[0], "3_c"), row(ADAPTIVE, 1.0, CONFIGS[0], "3_c")]
    summary = summarise_ratios(load_results(make_store(rows)))
    assert (summary.n_datasets, summary.n_perfect, summary.n_half) == (3, 1, 1)
    assert "On 1 of the other 2 an adaptive method" in str(summary)


@needs_matplotlib
def test_figures_are_written_as_png_and_svg_and_are_the_same_each_time(store, tmp_path):
    files = draw_figures(store, tmp_path / "new" / "folder")
    assert [file.name for file in files] == [
        f"figure{i}.{suffix}" for i in (1, 2, 3) for suffix in ("png", "svg")
    ]
    for file in files:
        if file.suffix == ".png":
            assert file.read_bytes().startswith(b"\x89PNG\r\n")
        else:
            assert ElementTree.parse(file).getroot().tag.endswith("svg")
    again = draw_figures(store, tmp_path / "again")
    assert [file.read_bytes() for file in files] == [file.read_bytes() for file in again]


@needs_matplotlib
def test_every_dataset_is_named_and_every_method_in_the_legend(store):
    figures = make_figures(load_results(store))
    for figure in figures.values():
        names = [label.get_text() for label in figure.axes[-1].get_xticklabels()]
        assert names == ["better", "perfect", "lost"]
    legends = {
        name: [text.get_text() for axis in figure.axes for text in axis.get_legend().get_texts()]
        for name, figure in figures.items()
    }
    assert len(legends["figure1"]) == 2
    assert legends["figure2"] == legends["figure3"]
    assert len(legends["figure3"]) == 4


@needs_matplotlib
def test_names_of_datasets_are_not_taken_for_formulas(row, make_store, tmp_path):
    rows = [row(method, 0.5, CONFIGS[0], "$x_{<b>&") for method in (FIXED, ADAPTIVE)]
    draw_figures(make_store(rows), tmp_path / "out")
    text = "".join(ElementTree.parse(tmp_path / "out" / "figure2.svg").getroot().itertext())
    assert "$x_{<b>&" in text


@needs_matplotlib
def test_a_store_without_our_methods_gives_empty_figures(row, make_store, tmp_path):
    assert len(draw_figures(make_store([row("LOF", 0.5)]), tmp_path / "out")) == 6


def test_without_matplotlib_the_error_says_how_to_install_it(store, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'pip install "setatoms\[bench\]"'):
        draw_figures(store, tmp_path / "out")
    assert not (tmp_path / "out").exists()
