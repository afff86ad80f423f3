"""Recipes: the parameters of an estimator, resolved; and their quick versions for the threshold."""

import numpy as np
import pytest

from setatoms import ConeAtomDetector, GaussianAtomDetector, VectorAtomDetector
from setatoms.rows import MemoryRows

DETECTORS = [ConeAtomDetector, GaussianAtomDetector, VectorAtomDetector]


def count_steps(recipe, rows):
    """Return how often learning reports progress, and what was learned."""
    steps = []
    learned = recipe.learn(
        MemoryRows(rows),
        np.asarray,
        np.random.default_rng(0),
        lambda amount, _: steps.append(amount),
    )
    return sum(steps), learned


@pytest.mark.parametrize("detector", DETECTORS)
def test_a_recipe_takes_as_many_steps_as_it_says(detector, rows):
    recipe = detector(n_iter=20)._recipe(*rows.shape)
    steps, learned = count_steps(recipe, rows)
    assert steps == recipe.n_steps
    assert len(learned.dictionary.history.error) == 20


@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize("n_iter", [10, 11, 100])
def test_the_quick_version_takes_a_third_of_the_steps(detector, n_iter, rows):
    recipe = detector(n_iter=n_iter)._recipe(*rows.shape)
    steps, _ = count_steps(recipe.shortened(), rows)
    assert steps == recipe.shortened().n_steps
    assert 1 <= steps <= recipe.n_steps / 3


@pytest.mark.parametrize("detector", DETECTORS[:2])
@pytest.mark.parametrize(("n_iter", "adapt_every"), [(100, 10), (7, 7), (2, 1), (1, 1)])
def test_the_quick_version_reaches_the_same_radii(detector, n_iter, adapt_every, rows):
    recipe = detector(n_iter=n_iter, adapt_every=adapt_every)._recipe(*rows.shape)
    _, learned = count_steps(recipe.shortened(), rows)
    np.testing.assert_array_equal(np.sort(learned.dictionary.radii)[::-1], recipe.rho_bar)
