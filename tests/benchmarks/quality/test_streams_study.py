"""Streams that change, as the study makes them."""

import numpy as np
import pytest

pytest.importorskip("click")

from benchmarks.quality import streams


@pytest.mark.parametrize("make", streams.STREAMS.values(), ids=list(streams.STREAMS))
def test_anomalies_are_as_many_in_every_part(make):
    X, y = make(np.random.default_rng(0))
    assert len(X) == len(y) == 2 * streams.N_ROWS
    assert np.isfinite(X).all()
    for part in np.split(y, 2):
        assert part.mean() == pytest.approx(streams.SHARE)


def test_rows_are_scored_before_they_are_learned_from():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000, 3))
    other = X.copy()
    other[1_500:] += 100.0
    for run in (streams.run_lof, streams.run_gaussian):
        same = np.nan_to_num(run(X, 0)[:1_500]) == np.nan_to_num(run(other, 0)[:1_500])
        assert same.all()


def test_the_page_has_a_line_for_each_course():
    course = np.linspace(0.5, 1.0, (2 * streams.N_ROWS - 3_000) // streams.WINDOW)
    courses = {(stream, "any"): course for stream in streams.STREAMS}
    assert streams.page(courses).count("\n") == 1 + len(streams.STREAMS)
