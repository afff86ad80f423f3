"""What adaptive radii promise, seen from outside."""

import numpy as np
import pytest

from setatoms import (
    ConeAtomDetector,
    ConeDictionaryLearning,
    GaussianAtomDetector,
    GaussianDictionaryLearning,
)
from setatoms.geometry import count_overlaps
from setatoms.learning import distribute

SET_ATOMS = [
    ConeAtomDetector,
    ConeDictionaryLearning,
    GaussianAtomDetector,
    GaussianDictionaryLearning,
]
CONES = SET_ATOMS[:2]
DISTRIBUTIONS = ["linear", "50-50", "80-20", np.linspace(0.03, 0.2, 12)]


@pytest.mark.parametrize("estimator", SET_ATOMS)
@pytest.mark.parametrize("adapt", ["l1", "l0", None])
@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=str)
def test_radii_end_as_the_given_distribution(estimator, adapt, distribution, rows):
    model = estimator(
        n_atoms=12, n_iter=25, adapt=adapt, radii_distribution=distribution, random_state=0
    ).fit(rows)
    np.testing.assert_array_equal(
        np.sort(model.radii_)[::-1], distribute(distribution, 12, (0.04, 0.12))
    )


@pytest.mark.parametrize("estimator", SET_ATOMS)
@pytest.mark.parametrize("adapt", ["l1", "l0"])
def test_after_each_adaptation_more_used_atoms_have_larger_radii(estimator, adapt, rows):
    history = estimator(n_atoms=12, adapt=adapt, random_state=0).fit(rows).history_
    np.testing.assert_array_equal(history.adapted_at, np.arange(10, 101, 10))
    for radii, usage in zip(history.radii, history.usage, strict=True):
        assert (np.diff(radii[np.argsort(-usage, kind="stable")]) <= 0).all()


@pytest.mark.parametrize("estimator", CONES)
@pytest.mark.parametrize("rotation", ["symmetric", "by-radius"])
@pytest.mark.parametrize("init", ["aksvd", "random"])
@pytest.mark.parametrize("n_iter", [10, 17, 100])
def test_cones_are_disjoint(estimator, rotation, init, n_iter, rows):
    model = estimator(rotation=rotation, init=init, n_iter=n_iter, random_state=0).fit(rows)
    assert count_overlaps(model.components_, model.radii_, min_separation=0.01) == 0


def test_coincident_cones_are_separated_not_replaced(rows):
    start = np.vstack([np.eye(6), np.eye(6)])
    model = ConeDictionaryLearning(n_atoms=12, init=start, learn=False, random_state=0).fit(rows)
    assert count_overlaps(model.components_, model.radii_, min_separation=0.01) == 0
    # two cones of at most 0.12 part by no more than their widths and the gap, half each
    assert (np.linalg.norm(model.components_ - start, axis=1) < 0.15).all()


@pytest.mark.parametrize("estimator", SET_ATOMS)
def test_without_learning_atoms_stay_as_given(estimator, rows):
    start = np.eye(6)
    model = estimator(n_atoms=6, init=start, learn=False, random_state=0).fit(rows)
    np.testing.assert_array_equal(model.components_, start)
    assert len(model.history_.error) == 0


@pytest.mark.parametrize("estimator", SET_ATOMS)
def test_learning_lowers_the_error(estimator, rows):
    history = estimator(init="random", random_state=0).fit(rows).history_
    assert history.error.shape == (100,)
    assert history.error[-10:].mean() < history.error[:10].mean()
