"""What is found among the kept rows is what scikit-learn finds."""

import numpy as np
import pytest
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors

from setatoms.views import Neighbours
from setatoms.views.nearest import distances_in_place, select, selection_space


@pytest.fixture(scope="module")
def kept():
    """Return rows to compare with."""
    return np.random.default_rng(0).normal(size=(300, 5))


@pytest.fixture(scope="module")
def fresh():
    """Return other rows."""
    return 1.5 * np.random.default_rng(1).normal(size=(50, 5))


def learn(rows):
    return Neighbours.learn(rows, np.random.default_rng(0), n_jobs=1)


def test_distance_and_density_of_new_rows(kept, fresh):
    distance, density = learn(kept).measure(fresh, n_jobs=1)
    expected = NearestNeighbors(n_neighbors=10).fit(kept).kneighbors(fresh)[0][:, -1]
    factor = LocalOutlierFactor(n_neighbors=20, novelty=True).fit(kept).score_samples(fresh)
    # two orders of summation
    np.testing.assert_allclose(distance, expected, rtol=1e-12)
    np.testing.assert_allclose(density, -factor, rtol=1e-6)


def test_a_kept_row_is_no_neighbour_of_itself(kept):
    distance, density = learn(kept).measure(kept, n_jobs=1)
    expected = NearestNeighbors(n_neighbors=11).fit(kept).kneighbors(kept)[0][:, -1]
    factor = LocalOutlierFactor(n_neighbors=20).fit(kept).negative_outlier_factor_
    np.testing.assert_allclose(distance, expected, rtol=1e-12)
    np.testing.assert_allclose(density, -factor, rtol=1e-6)


def test_what_others_imply_does_not_depend_on_the_value(kept, fresh):
    neighbours = learn(kept)
    implied = neighbours.imply(fresh, n_jobs=1)
    for j in range(5):
        changed, gap = fresh.copy(), fresh.copy()
        changed[:, j] += 3.0
        gap[:, j] = np.nan
        # a distance less a part of it is not the distance without it, to the last bit
        np.testing.assert_allclose(neighbours.imply(changed, n_jobs=1)[:, j], implied[:, j])
        np.testing.assert_allclose(neighbours.imply(gap, n_jobs=1)[:, j], implied[:, j])


def test_implied_values_are_means_over_near_rows(kept, fresh):
    implied = learn(kept).imply(fresh, n_jobs=1)
    others = np.delete(kept, 2, axis=1)
    nearest = NearestNeighbors(n_neighbors=10).fit(others)
    rows = nearest.kneighbors(np.delete(fresh, 2, axis=1))[1]
    np.testing.assert_allclose(implied[:, 2], kept[rows, 2].mean(axis=1))


def test_gaps_count_nothing(kept, fresh):
    holed = fresh.copy()
    holed[:, 1] = np.nan
    distance, _ = learn(kept).measure(holed, n_jobs=1)
    without = NearestNeighbors(n_neighbors=10).fit(np.delete(kept, 1, axis=1))
    expected = without.kneighbors(np.delete(fresh, 1, axis=1))[0][:, -1] * np.sqrt(5 / 4)
    np.testing.assert_allclose(distance, expected, rtol=1e-12)


def test_a_row_has_the_same_measures_in_any_company(kept, fresh):
    neighbours = learn(kept)
    fresh = np.where(np.random.default_rng(2).random(fresh.shape) < 0.05, np.nan, fresh)
    together = neighbours.measure(fresh, n_jobs=1)
    for n_rows in (1, 2, 3, 5):
        alone = [neighbours.measure(fresh[i : i + n_rows], n_jobs=1) for i in range(0, 50, n_rows)]
        np.testing.assert_array_equal(np.hstack(alone), together)


@pytest.mark.parametrize("n_numbers", [5, 1023, 1024, 2000])
@pytest.mark.parametrize("n_wanted", [1, 5, 21])
def test_the_smallest_are_those_of_a_stable_sort(n_numbers, n_wanted):
    rng = np.random.default_rng(n_numbers + n_wanted)
    far = rng.random(n_numbers)
    for numbers in (
        far,
        np.sort(far),
        np.sort(far)[::-1].copy(),
        np.round(far, 2),  # ties
        np.round(far),
        np.zeros(n_numbers),
        np.where(far < 0.995, np.inf, far),
        np.where(np.arange(n_numbers) % 128 < 3, far, far + 1.0),  # all in few groups
    ):
        squares, nearest = np.empty(n_wanted), np.empty(n_wanted, np.int64)
        select(numbers, *selection_space(n_numbers), squares, nearest)
        order = np.argsort(numbers, kind="stable")[:n_wanted]
        finite = np.isfinite(numbers[order])
        found = len(order)
        np.testing.assert_array_equal(squares[:found], numbers[order])
        np.testing.assert_array_equal(nearest[:found][finite], order[finite])
        assert np.isinf(squares[found:]).all()


def test_the_distance_in_a_place_is_that_of_a_sort(kept, fresh):
    found = distances_in_place(fresh, np.ascontiguousarray(kept.T), 75)
    expected = np.sort(np.linalg.norm(fresh[:, None] - kept, axis=2), axis=1)[:, 75]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_equal_distances_hide_the_one_in_a_place():
    assert np.isnan(distances_in_place(np.zeros((3, 2)), np.ones((2, 20)), 5)).all()


def test_large_tables_are_sampled_and_threads_change_nothing():
    rows = np.random.default_rng(0).normal(size=(5000, 4))
    one, two = (Neighbours.learn(rows, np.random.default_rng(3), n_jobs=jobs) for jobs in (1, 2))
    assert one.columns.shape == (4, 2000)
    for name in ("columns", "reach", "density"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_array_equal(one.measure(rows, 1), two.measure(rows, 2))
