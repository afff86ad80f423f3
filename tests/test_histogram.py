"""The bins of the scores: every row once, and the threshold between two bins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from setatoms.histogram import bin_scores
from setatoms.report.drawing import Drawing
from setatoms.report.numbers import FILTERS
from setatoms.webpage import templates

SCORES = st.lists(st.floats(0, 1e12) | st.sampled_from([0.0, 1.0, 1e-300]), min_size=1, max_size=80)


def draw(histogram, threshold):
    """Return the drawing of a histogram."""
    environment = templates("setatoms.report")
    environment.filters.update(FILTERS)
    drawing = Drawing("wide", 960, 270, histogram, threshold)
    return environment.get_template("distribution.svg").render(drawing=drawing, label="label")


@given(SCORES, st.floats(0, 1e12))
@example([0.0, 5e-324], 0.0)
@example([0.0] * 7 + [1.0] * 5 + [13.0, 5e-324], 0.0)
@example([5e-324] * 3 + [1.0], 0.5)
def test_every_row_lies_in_one_bin_and_the_threshold_parts_them(values, threshold):
    scores = np.array(values)
    flagged = scores > threshold
    histogram = bin_scores(scores, flagged, threshold)
    assert histogram.flagged.sum() == flagged.sum()
    assert histogram.quiet.sum() == (~flagged).sum()
    assert np.all(np.diff(histogram.edges) >= 0)
    assert histogram.edges[0] <= scores.min()
    assert histogram.edges[-1] >= scores.max()
    svg = draw(histogram, threshold)
    assert "nan" not in svg
    assert "inf" not in svg


def test_no_bin_holds_rows_from_both_sides_of_the_threshold():
    scores = np.random.default_rng(0).gamma(9.0, 0.02, size=5000)
    histogram = bin_scores(scores, scores > 0.3, 0.3)
    assert not np.any((histogram.quiet > 0) & (histogram.flagged > 0))


def test_a_long_tail_is_drawn_in_and_a_short_one_is_not():
    body = np.random.default_rng(0).gamma(9.0, 0.02, size=1000)
    assert bin_scores(body, body > 1, 1.0).axis.unit is None
    tailed = np.append(body, [3.0, 900.0])
    histogram = bin_scores(tailed, tailed > 1, 1.0)
    assert histogram.axis.unit == pytest.approx(np.median(tailed))
    # the body is not crushed into a corner
    assert np.count_nonzero(histogram.quiet) >= 5


@pytest.mark.parametrize("threshold", [0.0, 0.05, 0.4, 0.5])
def test_a_threshold_near_the_scores_is_drawn(threshold):
    scores = np.linspace(0.1, 0.35, 200)
    histogram = bin_scores(scores, scores > threshold, threshold)
    assert np.min(np.abs(histogram.edges - threshold)) < 1e-12
    assert 'class="threshold"' in draw(histogram, threshold)


def test_a_threshold_far_from_the_scores_does_not_crowd_them():
    scores = np.linspace(0.1, 0.35, 200)
    assert bin_scores(scores, scores > 50, 50.0).edges[-1] < 1
