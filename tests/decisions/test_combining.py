"""Errors of several models become one number, and its shares sum to one."""

import numpy as np
import pytest

from setatoms.decisions import RULES, Combination, PerFeature


@pytest.fixture
def errors():
    """Return errors (5, 40) of models on scales from 0.1 to 10."""
    scales = np.array([[0.1], [0.3], [1.0], [3.0], [10.0]])
    return np.random.default_rng(0).gamma(2.0, size=(5, 40)) * scales


KINDS = ["cone", "gaussian", "cone", "gaussian", "cone"]


@pytest.mark.parametrize("rule", RULES)
def test_shares_are_those_of_a_sum(rule, errors):
    combination = Combination.learn(rule, errors, KINDS)
    shares = combination.shares(errors)
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=0), 1.0, rtol=1e-12)


@pytest.mark.parametrize(
    "rule", ["mean", "median", "upper-half", "lower-half", "lower-quarter", "least"]
)
def test_units_of_models_do_not_matter(rule, errors):
    scaled = errors * np.array([[3.0], [0.2], [0.7], [1.0], [2.0]])
    one, two = (Combination.learn(rule, e, KINDS).combine(e) for e in (errors, scaled))
    np.testing.assert_allclose(one, two, rtol=1e-12)


def test_the_mean_is_the_mean_of_ratios_to_medians(errors):
    ratios = errors / np.median(errors, axis=1, keepdims=True)
    found = Combination.learn("mean", errors, KINDS).combine(errors)
    np.testing.assert_allclose(found, ratios.mean(axis=0), rtol=1e-12)


def test_a_model_that_is_almost_exact_does_not_drown_the_others(errors):
    exact = errors * np.array([[1e-12], [1.0], [1.0], [1.0], [1.0]])
    shares = Combination.learn("mean", exact, KINDS).shares(errors)
    assert (shares[1:].sum(axis=0) > 0).all()
    assert Combination.learn("mean", exact, KINDS).units.min() > 1e-3


def test_the_median_rule_is_the_median(errors):
    for n_models in (4, 5):
        combination = Combination("median", np.ones(n_models))
        np.testing.assert_allclose(
            combination.combine(errors[:n_models]), np.median(errors[:n_models], axis=0)
        )


def test_halves_lie_on_both_sides_of_the_mean(errors):
    low, mean, high = (
        Combination(rule, np.ones(5)).combine(errors)
        for rule in ("lower-half", "mean", "upper-half")
    )
    assert (low <= mean).all()
    assert (mean <= high).all()


@pytest.mark.parametrize(
    ("rule", "n_taken"), [("lower-half", 3), ("lower-quarter", 2), ("least", 1)]
)
def test_lower_parts_are_means_of_the_smallest(rule, n_taken, errors):
    expected = np.sort(errors, axis=0)[:n_taken].mean(axis=0)
    found = Combination(rule, np.ones(5)).combine(errors)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_exact_and_huge_errors_give_finite_numbers(rule):
    errors = np.array([[0.0, 1e-300, 1e305], [0.0, 0.0, 1e-9], [0.0, 0.0, 0.0]])
    for training in (errors, np.zeros((3, 4)), 1e-12 * np.ones((3, 4))):
        combination = Combination.learn(rule, training, KINDS[:3])
        assert (combination.units > 0).all()
        assert np.isfinite(combination.combine(errors)).all()
        np.testing.assert_allclose(combination.shares(errors).sum(axis=0), 1.0)


def test_one_model_alone_is_measured_per_feature():
    np.testing.assert_array_equal(PerFeature(4).combine(np.array([[2.0, 0.0]])), [1.0, 0.0])
    np.testing.assert_array_equal(PerFeature(4).shares(np.array([[2.0, 0.0]])), [[1.0, 1.0]])
