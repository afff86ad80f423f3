"""Ranks, ratios, tests and intervals, against cases worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.paper.statistics import (
    bootstrap_mean,
    holm,
    improvement_ratio,
    rank_among,
    signed_rank,
)

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=10)


def test_ties_share_their_ranks():
    assert rank_among(0.8, [0.9, 0.8, 0.5]) == 2.5


def test_a_failed_method_is_worst_and_tied_with_those_that_failed_too():
    assert rank_among(0.1, [None, 0.9]) == 2
    assert rank_among(None, [0.9, 0.1]) == 3
    assert rank_among(None, [0.9, None]) == 2.5


@pytest.mark.parametrize(
    ("adaptive", "fixed", "ratio"),
    [(0.95, 0.9, 0.5), (1, 0.9, 1), (0.8, 0.9, -1), (1, 1, 1), (0.99, 1, -math.inf)],
)
def test_improvement_ratio_is_the_share_of_what_was_possible(adaptive, fixed, ratio):
    # 1 - 0.9 is not exact in binary
    assert improvement_ratio(adaptive, fixed) == pytest.approx(ratio, rel=1e-12)


def test_holm_multiplies_the_smallest_by_all_and_never_decreases():
    # sorted: 0.01 * 4, 0.02 * 3, 0.03 * 2 (= 0.06 as well), 0.9 * 1
    np.testing.assert_allclose(holm([0.03, 0.01, 0.9, 0.02]), [0.06, 0.04, 0.9, 0.06], rtol=1e-12)
    assert holm([0.6, 0.7]).tolist() == [1, 1]


@given(P_VALUES)
def test_holm_lies_between_the_p_values_and_bonferroni(p_values):
    p = np.array(p_values)
    corrected = holm(p)
    assert np.all(corrected >= p)
    assert np.all(corrected <= np.minimum(p * len(p), 1))


def test_holm_of_no_tests_is_empty():
    assert holm([]).size == 0


def test_signed_rank_is_exact_for_a_few_datasets():
    # all five of one sign: 2 of the 2**5 equally likely signs are so extreme
    assert signed_rank([0.1, 0.2, 0.3, 0.4, 0.5]) == pytest.approx(2 / 32, rel=1e-12)
    assert signed_rank([-0.1, -0.2, -0.3, -0.4, -0.5]) == pytest.approx(2 / 32, rel=1e-12)


def test_signed_rank_without_any_difference_is_one():
    assert signed_rank([0.0, 0.0, 0.0]) == 1


def test_datasets_without_a_difference_make_signed_rank_less_sure():
    gains = [i / 100 for i in range(1, 15)]
    assert signed_rank(gains + [0.0] * 6) > signed_rank(gains)


def test_bootstrap_interval_is_near_that_of_the_normal_law():
    values = np.random.default_rng(3).normal(size=400)
    interval = bootstrap_mean(values)
    half = 1.96 * values.std() / math.sqrt(len(values))
    assert interval.mean == pytest.approx(values.mean(), rel=1e-12)
    # quantiles of 10,000 resampled means: 2.5 % is known to about 3 % of the standard error
    assert interval.low == pytest.approx(values.mean() - half, abs=0.1 * half)
    assert interval.high == pytest.approx(values.mean() + half, abs=0.1 * half)


def test_bootstrap_is_the_same_every_time_and_widens_with_the_level():
    values = [0.1, 0.4, 0.2, 0.9]
    assert bootstrap_mean(values) == bootstrap_mean(values)
    assert bootstrap_mean(values, level=0.99).low < bootstrap_mean(values, level=0.5).low


def test_bootstrap_of_equal_values_has_no_width():
    interval = bootstrap_mean([0.25, 0.25, 0.25])
    assert (interval.low, interval.mean, interval.high, interval.n_datasets) == (0.25,) * 3 + (3,)


def test_bootstrap_of_one_value_has_no_width():
    interval = bootstrap_mean([0.25])
    assert (interval.low, interval.mean, interval.high, interval.n_datasets) == (0.25,) * 3 + (1,)


def test_bootstrap_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="at least one dataset"):
        bootstrap_mean([])
