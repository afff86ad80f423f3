"""The adapter keeps PyOD's conventions: higher is more abnormal, 1 is an outlier."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pyod.models.knn import KNN
from pyod.utils.utility import standardizer
from scipy.special import erf
from scipy.stats import binom
from sklearn.base import clone

from setatoms import ConeAtomDetector, GaussianAtomDetector, SetAtomEnsemble, VectorAtomDetector
from setatoms.pyod import PyODDetector

DETECTORS = [ConeAtomDetector, GaussianAtomDetector, VectorAtomDetector]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(400, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(400, 5))


@pytest.fixture(params=DETECTORS)
def model(request, rows):
    return PyODDetector(request.param(random_state=0), contamination=0.05).fit(rows)


def test_training_scores_are_those_of_the_decision_function(model, rows):
    np.testing.assert_array_equal(model.decision_scores_, model.decision_function(rows))
    np.testing.assert_array_equal(model.decision_scores_, -model.detector_.score_samples(rows))


def test_the_share_of_outliers_is_the_contamination(model, rows):
    assert model.labels_.sum() == 20
    np.testing.assert_array_equal(model.labels_, model.decision_scores_ > model.threshold_)
    np.testing.assert_array_equal(model.predict(rows), model.labels_)


def test_broken_rows_are_more_probable_outliers(model, rows):
    broken = np.column_stack([np.roll(column, k) for k, column in enumerate(rows.T)])
    for method in ("linear", "unify"):
        normal, abnormal = (model.predict_proba(X, method=method) for X in (rows, broken))
        np.testing.assert_allclose(normal.sum(axis=1), 1.0)  # a sum of two rounded numbers
        assert abnormal[:, 1].mean() > normal[:, 1].mean()


def test_probabilities_are_functions_of_the_score_alone(model, rows):
    scores, training = model.decision_function(rows[:50]), model.decision_scores_
    span = np.ptp(training)
    linear = np.clip((scores - training.min()) / span, 0, 1)
    unify = np.clip(erf((scores - training.mean()) / (training.std() * np.sqrt(2))), 0, 1)
    for method, expected in (("linear", linear), ("unify", unify)):
        probabilities = model.predict_proba(rows[:50], method=method)
        # the same formula, in another order of operations
        np.testing.assert_allclose(probabilities[:, 1], expected, rtol=1e-12, atol=1e-12)


def test_confidence_is_that_of_the_paper(model, rows):
    """Perini et al. (2020): how probably the label stays with another training sample."""
    confidence, labels = model.predict_confidence(rows), model.predict(rows)
    n = len(rows)
    below = (model.decision_scores_ <= model.decision_function(rows)[:, None]).sum(axis=1)
    outlying = 1 - binom.cdf(n - int(n * 0.05), n, (1 + below) / (2 + n))
    np.testing.assert_allclose(confidence, np.where(labels == 1, outlying, 1 - outlying))
    assert ((confidence >= 0) & (confidence <= 1)).all()


def test_confidence_comes_along_on_request(model, rows):
    confidence = model.predict_confidence(rows)
    labels, with_labels = model.predict(rows, return_confidence=True)
    np.testing.assert_array_equal(labels, model.labels_)
    np.testing.assert_array_equal(with_labels, confidence)
    for method in ("linear", "unify"):
        given, with_them = model.predict_proba(rows, method=method, return_confidence=True)
        np.testing.assert_array_equal(given, model.predict_proba(rows, method=method))
        np.testing.assert_array_equal(with_them, confidence)


def test_uncertain_rows_are_rejected(model, rows):
    labels = model.predict_with_rejection(rows, T=8, c_r=0.1)
    kept = labels != -2
    np.testing.assert_array_equal(labels[kept], model.predict(rows)[kept])
    assert 0 < kept.sum() < len(rows)


def test_p_values_come_from_the_detector_inside(model, rows):
    p_values = model.detector_.calibrate(rows[:99]).p_values(rows)
    # the more abnormal, the smaller
    order = np.argsort(model.decision_function(rows))
    assert (np.diff(p_values[order]) <= 0).all()
    assert p_values.min() >= 0.01


def test_the_given_detector_is_not_changed(rows):
    detector = VectorAtomDetector(random_state=0)
    PyODDetector(detector).fit(rows)
    assert detector.contamination == "auto"
    assert not hasattr(detector, "components_")


def test_it_can_be_cloned_with_its_detector():
    model = clone(PyODDetector(ConeAtomDetector(n_atoms=9), contamination=0.2))
    assert model.get_params()["contamination"] == 0.2
    assert model.detector.n_atoms == 9


def test_the_default_is_the_ensemble(rows):
    assert isinstance(PyODDetector().fit(rows).detector_, SetAtomEnsemble)


def test_without_pyod_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyod.models.base", None)
    monkeypatch.delitem(sys.modules, "setatoms.pyod")
    with pytest.raises(ImportError, match=r'pip install "setatoms\[pyod\]"'):
        __import__("setatoms.pyod")


def test_what_pyod_reports_of_rejections_can_be_computed(model, rows):
    expected, most, cost = model.compute_rejection_stats(T=8, c_r=0.1)
    assert 0 <= expected <= most
    labels, *stats = model.predict_with_rejection(rows, T=8, c_r=0.1, return_stats=True)
    np.testing.assert_array_equal(labels, model.predict_with_rejection(rows, T=8, c_r=0.1))
    assert stats == [[expected, most, cost]]


def test_fit_predict_returns_the_labels_of_training_rows(model, rows):
    again = clone(model)
    np.testing.assert_array_equal(again.fit_predict(rows), model.labels_)
    np.testing.assert_array_equal(again.decision_scores_, model.decision_scores_)


def test_ranks_are_those_among_training_scores(model, rows):
    ranks = model._predict_rank(rows[:30])
    scores = model.decision_function(rows[:30])
    np.testing.assert_array_equal(ranks, (model.decision_scores_ < scores[:, None]).sum(axis=1))


class Above:
    """A threshold as PyThresh has them: an object that labels the scores itself."""

    def fit(self, scores):
        self.thresh_ = np.quantile(scores, 0.8)
        self.labels_ = (scores > self.thresh_).astype(int)

    def predict(self, scores):
        return (scores > self.thresh_).astype(int)

    def eval(self, scores):
        """Return the labels at once, which is what PyOD asks for before 3.6.3."""
        self.fit(scores)
        return self.labels_


def test_a_threshold_may_be_an_object(rows):
    model = PyODDetector(VectorAtomDetector(random_state=0), contamination=Above()).fit(rows)
    assert model.labels_.sum() == 80
    np.testing.assert_array_equal(model.predict(rows), model.labels_)


def test_scores_combine_with_those_of_pyods_own(model, rows):
    knn = KNN().fit(rows)
    both = np.column_stack([model.decision_scores_, knn.decision_scores_])
    mean = standardizer(both).mean(axis=1)
    assert all(np.corrcoef(mean, scores)[0, 1] > 0 for scores in both.T)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_and_gaps_are_taken_as_the_detector_takes_them(frame, rows):
    gappy = rows.copy()
    gappy[::7, 2] = np.nan
    X = frame({f"c{j}": column for j, column in enumerate(gappy.T)})
    detector = VectorAtomDetector(missing="fill", random_state=0)
    model = PyODDetector(detector).fit(X)
    np.testing.assert_array_equal(model.decision_scores_, model.decision_function(X))
    assert list(model.detector_.feature_names_in_) == list(X.columns)
    assert model.predict_proba(X).shape == (400, 2)
