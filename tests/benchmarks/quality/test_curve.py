"""The study of what accuracy costs ranks rows as it says, and draws every method."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.quality import curve
from benchmarks.quality.splits import Split

pytest.importorskip("pyod", reason="the study compares with PyOD")
METHODS = curve.make_methods(1)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_ranks_the_abnormal_first(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(240, 5))
    X[:20] += 3 * rng.normal(size=(20, 5))
    split = Split(X[40:], X[:40], (np.arange(40) < 20).astype(int))
    seconds, area = curve._run(METHODS[name], split)
    assert seconds > 0
    assert area > 0.8


def test_page_and_picture_have_a_line_for_each_method(tmp_path):
    costs = {
        "SetAtomEnsemble, fast": curve.Cost([1.0, 3.0], [0.9, 0.8]),
        "LOF": curve.Cost([1.0, 1.0], [0.6, 0.8]),
    }
    assert curve.page(costs).splitlines()[2:] == [
        "| SetAtomEnsemble, fast | 0.8500 | 2.000 |",
        "| LOF | 0.7000 | 1.000 |",
    ]
    curve.draw(costs, tmp_path / "curve.svg")
    drawn = (tmp_path / "curve.svg").read_text(encoding="utf-8")
    assert all(name in drawn for name in ("fast", "LOF"))
