"""Weights of rows: a weight is how often a row counts."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from setatoms import (
    ConeAtomDetector,
    ConeDictionaryLearning,
    GaussianAtomDetector,
    GaussianDictionaryLearning,
    SetAtomEnsemble,
    VectorAtomDetector,
)
from setatoms.estimators.weights import count_copies

DETECTORS = [ConeAtomDetector, GaussianAtomDetector, VectorAtomDetector, SetAtomEnsemble]
ESTIMATORS = [*DETECTORS, ConeDictionaryLearning, GaussianDictionaryLearning]


def make(estimator, **parameters):
    """Return an estimator that learns for a few iterations."""
    few = {"n_members": 3} if estimator is SetAtomEnsemble else {}
    return estimator(n_iter=10, n_atoms=9, random_state=0, **few, **parameters)


def output(model, X):
    """Return all that a model says of rows."""
    if hasattr(model, "score_samples"):
        return np.column_stack([model.score_samples(X), model.decision_function(X)])
    return model.transform(X)


@pytest.fixture(scope="module")
def weights():
    return np.random.default_rng(0).integers(0, 4, 300)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("missing", ["error", "fill"])
def test_whole_weights_are_repeated_rows_to_the_last_bit(estimator, missing, rows, weights):
    weighted = make(estimator, missing=missing).fit(rows, sample_weight=weights)
    repeated = make(estimator, missing=missing).fit(np.repeat(rows, weights, axis=0))
    np.testing.assert_array_equal(output(weighted, rows), output(repeated, rows))
    assert weighted.n_samples_fit_ == weights.sum()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_weights_of_one_change_nothing(estimator, rows):
    for weights in (np.ones(300), [1] * 300, pd.Series(1.0, range(5, 305))):
        weighted = make(estimator).fit(rows, sample_weight=weights)
        np.testing.assert_array_equal(
            output(weighted, rows), output(make(estimator).fit(rows), rows)
        )


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_rows_without_weight_have_no_say(estimator, rows):
    spoiled = np.vstack([rows, 1e6 * rows[:20]])
    weights = np.r_[np.ones(300), np.zeros(20)]
    weighted = make(estimator).fit(spoiled, sample_weight=weights)
    np.testing.assert_array_equal(output(weighted, rows), output(make(estimator).fit(rows), rows))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_fractions_follow_the_seed(estimator, rows):
    weights = np.random.default_rng(1).uniform(0, 2, 300)
    one, two = (make(estimator).fit(rows, sample_weight=weights) for _ in range(2))
    np.testing.assert_array_equal(output(one, rows), output(two, rows))
    assert abs(one.n_samples_fit_ - weights.sum()) < 1


def test_copies_are_weights_rounded_up_or_down_and_right_in_the_mean():
    weights = np.array([0.0, 0.25, 1.0, 1.5, 2.75, 3.0])
    drawn = np.array([count_copies(weights, np.random.default_rng(seed)) for seed in range(4000)])
    assert ((drawn >= np.floor(weights)) & (drawn <= np.ceil(weights))).all()
    assert (np.abs(drawn.sum(axis=1) - weights.sum()) < 1).all()
    # five standard errors of a share of 4,000
    np.testing.assert_allclose(drawn.mean(axis=0), weights, atol=5 * 0.5 / np.sqrt(4000))


def test_more_weight_on_a_kind_of_rows_makes_them_more_normal(rows):
    """5 % of the rows have another relation: with the weight of half the table it is learned."""
    table = np.vstack([rows[:285], rows[285:] * [1, -1, 1, -1, 1, 1]])
    weights = np.r_[np.ones(285), np.full(15, 19.0)]
    odd = slice(285, 300)
    for detector in (VectorAtomDetector, SetAtomEnsemble):
        plain = make(detector, views=("relation",)).fit(table)
        weighted = make(detector, views=("relation",)).fit(table, sample_weight=weights)
        gain = weighted.score_samples(table) - plain.score_samples(table)
        assert np.median(gain[odd]) > 0


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(299), r"sample_weight has shape \(299,\), and X has 300 rows"),
        (np.ones((300, 1)), r"sample_weight has shape \(300, 1\)"),
        (2.0, r"sample_weight has shape \(\)"),
        (np.r_[np.ones(299), -1], r"sample_weight\[299\]=-1 is no number from 0 on"),
        (np.r_[np.nan, np.ones(299)], r"sample_weight\[0\]=nan is no number from 0 on"),
        (np.zeros(300), "sample_weight is zero for all rows"),
        (np.full(300, 1 / 300), "leaves 1 of 300 rows.*multiply weights that sum to 1"),
        (np.full(300, 1e9), r"has the mean 1e\+09.*divide weights by their mean"),
    ],
)
def test_weights_that_cannot_be_are_refused(weights, message, rows):
    with pytest.raises(ValueError, match=message):
        make(VectorAtomDetector).fit(rows, sample_weight=weights)


def test_weights_go_through_pipelines_and_fit_predict(rows, weights):
    pipeline = make_pipeline(StandardScaler(), make(VectorAtomDetector))
    pipeline.fit(rows, vectoratomdetector__sample_weight=weights)
    repeated = clone(pipeline[-1]).fit(np.repeat(pipeline[0].transform(rows), weights, axis=0))
    Z = pipeline[0].transform(rows)
    np.testing.assert_array_equal(pipeline.predict(rows), repeated.predict(Z))
    detector = make(VectorAtomDetector)
    labels = detector.fit_predict(rows, sample_weight=weights)
    np.testing.assert_array_equal(labels, detector.fit(rows, sample_weight=weights).predict(rows))
