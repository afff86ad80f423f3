"""Anomalies whose features are normal one by one."""

from __future__ import annotations

import numpy as np
import pytest

from setatoms.datasets import make_dependency_anomalies


@pytest.fixture
def normal():
    rng = np.random.default_rng(0)
    t = rng.normal(size=200)
    return np.column_stack([t, 2 * t, -t])


def sorted_rows(X):
    return X[np.lexsort(X.T)]


def test_normal_rows_are_kept_as_they_are(normal):
    X, y = make_dependency_anomalies(normal, random_state=0)
    np.testing.assert_array_equal(sorted_rows(X[y == 0]), sorted_rows(normal))


def test_every_value_of_an_anomaly_comes_from_its_own_column(normal):
    X, y = make_dependency_anomalies(normal, n_anomalies=50, random_state=0)
    for j in range(normal.shape[1]):
        assert np.isin(X[y == 1, j], normal[:, j]).all()


def test_anomalies_break_the_relation_between_features(normal):
    X, y = make_dependency_anomalies(normal, n_anomalies=50, random_state=0)
    # A row keeps the relation only when two features happen to come from one of 200 rows.
    assert np.mean(X[y == 1, 1] == 2 * X[y == 1, 0]) < 0.1


def test_rows_are_shuffled(normal):
    _, y = make_dependency_anomalies(normal, random_state=0)
    assert y[:200].any()


@pytest.mark.parametrize(
    ("asked", "expected"),
    [({}, 20), ({"fraction": 0.5}, 100), ({"fraction": 1e-6}, 1), ({"n_anomalies": 7}, 7)],
)
def test_number_of_anomalies(normal, asked, expected):
    X, y = make_dependency_anomalies(normal, **asked, random_state=0)
    assert y.sum() == expected
    assert X.shape == (200 + expected, 3)


def test_same_seed_same_rows(normal):
    first = make_dependency_anomalies(normal, random_state=3)
    second = make_dependency_anomalies(normal, random_state=3)
    other = make_dependency_anomalies(normal, random_state=4)
    np.testing.assert_array_equal(first[0], second[0])
    assert not np.array_equal(first[0], other[0])


@pytest.mark.parametrize("kind", [np.random.RandomState, np.random.default_rng])
def test_random_state_may_be_an_object(normal, kind):
    first = make_dependency_anomalies(normal, random_state=kind(3))
    second = make_dependency_anomalies(normal, random_state=kind(3))
    np.testing.assert_array_equal(first[0], second[0])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1.0, 2.0]], "at least two rows"),
        ([[1.0], [2.0]], "two features"),
        ([1.0, 2.0], "1 dimension"),
        ([["a", "b"], ["c", "d"]], "numbers only"),
        ([[1.0, np.nan], [2.0, 3.0]], r"column\(s\) \[1\], 1 row"),
        ([[1.0, 2.0], [np.inf, 3.0]], r"column\(s\) \[0\], 1 row"),
    ],
)
def test_bad_tables_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        make_dependency_anomalies(X)


@pytest.mark.parametrize("value", [0, -1, 2.5, True])
def test_bad_n_anomalies_is_refused(normal, value):
    with pytest.raises(ValueError, match=f"n_anomalies={value}"):
        make_dependency_anomalies(normal, n_anomalies=value)


@pytest.mark.parametrize("value", [0.0, -0.1, np.nan, np.inf])
def test_bad_fraction_is_refused(normal, value):
    with pytest.raises(ValueError, match="fraction="):
        make_dependency_anomalies(normal, fraction=value)
