"""Benjamini and Hochberg's rule, at once and over a stream."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from setatoms.decisions import (
    PValueCounts,
    benjamini_hochberg,
    benjamini_hochberg_cut,
    conformal_p_values,
)

LEVELS = st.sampled_from([0.01, 0.05, 0.1, 0.3])
RANKS = st.lists(st.integers(1, 100), min_size=1, max_size=60)


@given(RANKS, LEVELS)
def test_flagged_rows_are_those_scipy_adjusts_to_the_level(ranks, level):
    p_values = np.array(ranks) / 100
    # in exact arithmetic both say the same; on the boundary SciPy's rounding decides otherwise
    expected = false_discovery_control(p_values) <= level * (1 + 1e-9)
    np.testing.assert_array_equal(benjamini_hochberg(p_values, level), expected)


@given(RANKS, LEVELS, st.integers(1, 20))
def test_the_cut_of_a_stream_is_that_of_all_rows(ranks, level, rows_at_a_time):
    p_values = np.array(ranks) / 100
    counts = PValueCounts(n_calibration=99)
    for start in range(0, len(p_values), rows_at_a_time):
        counts.add(p_values[start : start + rows_at_a_time])
    assert counts.cut(level) == benjamini_hochberg_cut(p_values, level)


@pytest.mark.parametrize("n_samples", [3, 7, 10, 49, 1000])
@pytest.mark.parametrize("level", [0.05, 0.1])
def test_p_values_exactly_on_the_bound_are_flagged(n_samples, level):
    bound = np.arange(1, n_samples + 1) / (n_samples / level)
    assert benjamini_hochberg(bound, level).all()


def test_no_row_is_flagged_without_evidence():
    assert benjamini_hochberg_cut([0.2, 0.9, 1.0], 0.1) == 0.0
    assert not benjamini_hochberg([0.2, 0.9, 1.0], 0.1).any()
    assert benjamini_hochberg([], 0.1).shape == (0,)
    assert PValueCounts(10).cut(0.1) == 0.0


def test_a_p_value_of_zero_is_always_flagged():
    np.testing.assert_array_equal(benjamini_hochberg([0.0, 0.9], 0.05), [True, False])


def test_conformal_p_values_keep_the_promised_share_of_false_alarms():
    """They depend on one another through their calibration rows, and the promise still holds."""
    shares, powers = zip(*(_discoveries(seed) for seed in range(400)), strict=True)
    # 90 % of the rows are normal, so the exact rate is 0.09; 400 repetitions know it to 0.005
    assert np.mean(shares) <= 0.1
    assert np.mean(powers) > 0.8


def _discoveries(seed):
    """Return the share of false alarms and of anomalies found, 10 % of the rows anomalous."""
    rng = np.random.default_rng(seed)
    scores = np.concatenate([rng.normal(size=180), rng.normal(-5.0, size=20)])
    flagged = benjamini_hochberg(conformal_p_values(scores, rng.normal(size=400)), 0.1)
    return flagged[:180].sum() / max(1, flagged.sum()), flagged[180:].mean()


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, float("nan"), "0.1", None, True])
def test_an_impossible_level_is_refused(level):
    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        benjamini_hochberg([0.5], level)


@pytest.mark.parametrize("p_values", [[-0.1], [1.1], [float("nan")], [[0.1]]])
def test_what_is_no_list_of_p_values_is_refused(p_values):
    with pytest.raises(ValueError, match="p_values"):
        benjamini_hochberg(p_values, 0.1)


@pytest.mark.parametrize("p_values", [[0.005], [0.0], [0.123]])
def test_p_values_of_another_calibration_are_not_counted(p_values):
    with pytest.raises(ValueError, match="multiples of 1/100"):
        PValueCounts(n_calibration=99).add(p_values)
