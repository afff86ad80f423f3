"""The study of precisions compares two of them, and tells where they differ."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.quality import precision
from benchmarks.quality.splits import Split
from setatoms.coding.gauss import coder


def made_split() -> Split:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(300, 5))
    X[280:] += rng.normal(size=(20, 5))
    return Split(X[:150], X[150:], np.repeat([0, 1], [130, 20]))


def test_precisions_differ_by_rounding(monkeypatch):
    used = []

    def note(tol, threshold, known=coder.precision_for):
        dtype, farthest = known(tol, threshold)
        used.append(np.dtype(dtype).name)
        return dtype, farthest

    monkeypatch.setattr(coder, "precision_for", note)
    found = precision.compare(made_split())
    assert set(used) == {"float32", "float64"}
    assert 0.0 < found.median_error < 1e-5
    assert found.area < 0.01


def test_means_are_held_to_their_limit():
    even, off = precision.Difference(0.0, 0.0, 0.0, 0.0), precision.Difference(1e-3, 1e-5, 0.0, 0.5)
    lines = precision.page([even, off]).splitlines()[2:]
    assert [line.split(" | ")[-1] for line in lines[:3]] == ["**FAIL** |", "pass |", "pass |"]
    assert "5.0e-01" in lines[3]


@pytest.mark.parametrize("name", precision.PRECISIONS)
def test_precisions_are_chosen_by_the_tolerance(name, monkeypatch):
    monkeypatch.setattr(coder, "_COARSE", precision.PRECISIONS[name])
    dtype, _ = coder.precision_for(precision.TOL, 0.5)
    assert np.dtype(dtype).name == {"single": "float32", "double": "float64"}[name]
