"""Rows that look abnormal at first sight have no say in learning; others do."""

import numpy as np
import pytest

from setatoms.views.screening import Screen, find_valley


def screen_rows(X):
    screen = Screen.learn(X)
    return np.ones(len(X), bool) if screen is None else screen.keeps(X)


def make_rows(n_rows=400, n_features=6, seed=0):
    """Return normal rows with three hidden causes."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(n_rows, 3)) @ rng.normal(size=(3, n_features))
    return causes + 0.1 * rng.normal(size=(n_rows, n_features))


@pytest.mark.parametrize("seed", range(5))
def test_clean_tables_are_learned_from_as_they_are(seed):
    assert screen_rows(make_rows(seed=seed)).mean() > 0.99


@pytest.mark.parametrize("n_faulty", [1, 4, 20])
@pytest.mark.parametrize("value", [-9999.0, 60.0, 1e200])
def test_the_same_absurd_value_in_a_few_rows_is_seen(n_faulty, value):
    X = make_rows()
    X[5 : 5 + n_faulty, 2] = value
    expected = np.ones(len(X), bool)
    expected[5 : 5 + n_faulty] = False
    keep = screen_rows(X)
    assert not keep[~expected].any()
    assert keep[expected].mean() > 0.99


def test_a_group_apart_is_seen_and_a_second_pattern_is_not():
    rng = np.random.default_rng(1)
    for n_group, kept in ((60, False), (200, True)):
        X = make_rows()
        X[:n_group] = 12 + 0.1 * rng.normal(size=(n_group, 6))
        keep = screen_rows(X)
        # those that lie furthest out on the side of the group go with it
        assert keep[n_group:].mean() > 0.9
        assert keep[:n_group].mean() == pytest.approx(float(kept), abs=0.02)


@pytest.mark.parametrize("seed", [3, 5, 8])
@pytest.mark.parametrize("noise", [0.1, 0.2, 0.3])
def test_the_ends_of_an_even_cloud_are_no_group(seed, noise):
    # neighbours of rows at the ends are twice as far; two of these tables have a valley before them
    rng = np.random.default_rng(seed)
    power = rng.uniform(1, 9, size=3000)
    weights = rng.uniform(0.5, 2, size=40)
    X = np.outer(power, weights) + rng.normal(0, noise, size=(3000, 40))
    assert screen_rows(X).mean() > 0.99


def test_gaps_are_no_reason_to_leave_a_row_out():
    X = make_rows()
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    X[7] = np.nan
    X[7, 0] = 0.1
    assert screen_rows(X).mean() > 0.98
    X[3, 1] = 1e6
    assert not screen_rows(X)[3]


@pytest.mark.parametrize(
    "X", [np.ones((5, 3)), np.array([[0.0, 1.0], [5.0, 2.0]]), np.eye(4) * 1e300]
)
def test_tables_without_a_bulk_are_kept_whole(X):
    assert screen_rows(X).sum() >= len(X) / 2


def test_one_hump_has_no_valley():
    rng = np.random.default_rng(0)
    for sizes in (rng.normal(size=500), rng.exponential(size=500), rng.standard_t(2, size=500)):
        assert find_valley(sizes) == np.inf


def test_sizes_that_differ_by_rounding_alone_have_no_valley():
    # a bandwidth of 1e-9 over bins of 1e-17 would take all memory
    sizes = 1.0 + np.finfo(float).eps * np.arange(8.0)
    assert find_valley(sizes) == np.inf
    assert screen_rows(1e30 * np.eye(4)).all()
