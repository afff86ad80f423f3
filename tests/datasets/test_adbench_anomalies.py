"""ADBench's generator: its own output, and what each kind of anomaly must be."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_info, threadpool_limits

from setatoms.datasets import adbench_anomalies

KINDS = ["dependency", "local", "cluster", "global"]


@pytest.fixture(scope="module")
def table():
    """Return 1,100 rows of three related features, one in eleven labelled an anomaly."""
    rng = np.random.default_rng(0)
    t = rng.normal(size=(1100, 1))
    X = np.array([5.0, -3.0, 1.0]) + t * [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=(1100, 3))
    return X, np.repeat([0, 1], [1000, 100])


def tolerance():
    """Return how far rows may be from the reference, in standard deviations.

    The reference was computed with OpenBLAS for SkylakeX. Elsewhere the last bit of a bandwidth
    may differ, which breaks ties the other way, and the library's own rows differ as much.
    """
    architectures = {info.get("architecture") for info in threadpool_info()}
    return 1e-4 if architectures & {"SkylakeX", "Cooperlake", "SapphireRapids"} else 0.02


@pytest.mark.parametrize("name", ["14_glass", "39_vertebral", "45_wine"])
def test_dependency_rows_are_those_of_adbench(shared, load_adbench, name):
    X, y = adbench_anomalies(*load_adbench(name), kind="dependency", seed=1)
    with np.load(shared / "reference" / "dependency" / f"{name}_seed1.npz") as expected:
        scale = expected["X"].std(axis=0)
        np.testing.assert_array_equal(y, expected["y"])
        np.testing.assert_allclose(X / scale, expected["X"] / scale, rtol=0, atol=tolerance())


def test_dependency_anomalies_lose_the_relations_of_normal_rows(table):
    # With two features the generator draws from its vine; with more it only resembles one.
    pair, labels = table[0][:, :2], table[1]
    X, y = adbench_anomalies(pair, labels)
    # Standard errors of tau: about 0.01 over 1,000 strongly related rows, 0.07 over 100 others.
    expected = kendalltau(*pair.T).statistic
    assert kendalltau(*X[y == 0].T).statistic == pytest.approx(expected, abs=0.1)
    assert abs(kendalltau(*X[y == 1].T).statistic) < 0.25


def test_dependency_anomalies_keep_each_feature(table):
    X, y = adbench_anomalies(*table)
    normal = table[0][table[1] == 0]
    # Kernels widen a feature by 3 %; the mean of 100 values has a standard error of a tenth.
    np.testing.assert_allclose(X[y == 1].std(axis=0), normal.std(axis=0), rtol=0.3)
    shift = (X[y == 1].mean(axis=0) - normal.mean(axis=0)) / normal.std(axis=0)
    assert np.abs(shift).max() < 0.4


@pytest.fixture
def mixture(table):
    """Return the mixture of smallest BIC of the normal rows, seeded with 3."""
    normal = table[0][table[1] == 0]
    with threadpool_limits(limits=1):
        mixtures = [GaussianMixture(k, random_state=3).fit(normal) for k in range(1, 10)]
    return mixtures[np.argmin([mixture.bic(normal) for mixture in mixtures])]


@pytest.mark.parametrize("kind", ["local", "cluster", "global"])
def test_normal_rows_come_from_the_mixture_of_best_bic(table, mixture, kind):
    X, y = adbench_anomalies(*table, kind=kind, seed=3)
    np.testing.assert_array_equal(X[y == 0], mixture.sample(1000)[0])


def test_local_anomalies_have_covariances_five_times_as_large(table, mixture):
    X, y = adbench_anomalies(*table, kind="local", seed=3)
    mixture.covariances_ = 5 * mixture.covariances_
    np.testing.assert_array_equal(X[y == 1], mixture.sample(100)[0])


def test_cluster_anomalies_have_means_five_times_as_far(table, mixture):
    X, y = adbench_anomalies(*table, kind="cluster", seed=3)
    mixture.means_ = 5 * mixture.means_
    np.testing.assert_array_equal(X[y == 1], mixture.sample(100)[0])


def test_global_anomalies_fill_a_box_a_tenth_wider(table):
    X, y = adbench_anomalies(*table, kind="global", seed=3)
    rng = np.random.RandomState(3)
    for feature, anomalies in zip(X[y == 0].T, X[y == 1].T, strict=True):
        low, high = 1.1 * feature.min(), 1.1 * feature.max()
        np.testing.assert_allclose(anomalies, rng.uniform(low, high, 100), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_normal_rows_come_first_and_counts_stay(table, kind):
    X, y = adbench_anomalies(*table, kind=kind)
    np.testing.assert_array_equal(y, np.repeat([0, 1], [1000, 100]))
    assert X.shape == (1100, 3)
    assert np.isfinite(X).all()


def test_small_tables_are_bootstrapped_with_their_labels(table):
    X, y = table[0][900:], table[1][900:]
    _, y_new = adbench_anomalies(X, y, seed=2)
    expected = y[np.random.RandomState(2).choice(200, 1000)].sum()
    assert (y_new.size, y_new.sum()) == (1000, expected)


def test_large_tables_are_subsampled_with_their_labels():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10_500, 2)), (rng.uniform(size=10_500) < 0.1).astype(int)
    _, y_new = adbench_anomalies(X, y, kind="global", seed=2)
    expected = y[np.random.RandomState(2).choice(10_500, 10_000, replace=False)].sum()
    assert (y_new.size, y_new.sum()) == (10_000, expected)


def test_wide_tables_keep_fifty_features(table):
    wide = np.random.default_rng(0).normal(size=(1000, 52))
    X, _ = adbench_anomalies(wide, np.repeat([0, 1], [900, 100]))
    assert X.shape == (1000, 50)


def test_a_constant_feature_stays_constant_and_changes_no_other(table):
    X, y = table
    with_constant = np.column_stack([X[:, 0], np.full(len(X), 7.0), X[:, 1:]])
    X_new, _ = adbench_anomalies(with_constant, y)
    np.testing.assert_array_equal(X_new[:, 1], 7.0)
    np.testing.assert_array_equal(np.delete(X_new, 1, axis=1), adbench_anomalies(X, y)[0])


@pytest.mark.parametrize("kind", KINDS)
def test_same_seed_same_rows_whatever_numpys_global_state(table, kind):
    np.random.seed(0)  # noqa: NPY002  the state that must not matter
    first, _ = adbench_anomalies(*table, kind=kind, seed=4)
    after_first = np.random.get_state()[1]  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    second, _ = adbench_anomalies(*table, kind=kind, seed=4)
    other, _ = adbench_anomalies(*table, kind=kind, seed=5)
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)
    np.testing.assert_array_equal(after_first, np.random.RandomState(0).get_state()[1])


def test_rows_do_not_depend_on_the_number_of_blas_threads(load_adbench):
    X, y = load_adbench("14_glass")
    with threadpool_limits(limits=1, user_api="blas"):
        one, _ = adbench_anomalies(X, y)
    with threadpool_limits(limits=2, user_api="blas"):
        two, _ = adbench_anomalies(X, y)
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "locale"}, "kind='locale' is unknown; choose one of 'dependency', 'local'"),
        ({"y": np.zeros(1100, dtype=int)}, "0 anomalies among the 1100 rows"),
        ({"y": np.ones(1100, dtype=int)}, "1100 anomalies among the 1100 rows"),
        ({"y": np.full(1100, 2)}, r"y holds \[2\]; labels are 0"),
        ({"y": np.zeros(7)}, r"y has shape \(7,\), X 1100 rows"),
        ({"X": np.ones((1100, 3))}, "0 of 3 features vary"),
        ({"X": np.ones((1100, 1))}, "at least two rows and two features"),
        ({"X": np.full((1100, 3), np.nan)}, r"column\(s\) \[0, 1, 2\], 1100 row"),
    ],
)
def test_bad_input_is_refused(table, change, message):
    given = {"X": table[0], "y": table[1], **change}
    with pytest.raises(ValueError, match=message):
        adbench_anomalies(**given)
