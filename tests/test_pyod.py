"""The adapter keeps PyOD's conventions: higher is more abnormal, 1 is an outlier."""

import sys

import numpy as np
import pytest
from sklearn.base import clone

from setatoms import ConeAtomDetector, GaussianAtomDetector, VectorAtomDetector
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


def test_confidence_is_a_probability(model, rows):
    confidence = model.predict_confidence(rows)
    assert confidence.shape == (400,)
    assert ((confidence >= 0) & (confidence <= 1)).all()


def test_the_given_detector_is_not_changed(rows):
    detector = VectorAtomDetector(random_state=0)
    PyODDetector(detector).fit(rows)
    assert detector.contamination == "auto"
    assert not hasattr(detector, "components_")


def test_it_can_be_cloned_with_its_detector():
    model = clone(PyODDetector(ConeAtomDetector(n_atoms=9), contamination=0.2))
    assert model.get_params()["contamination"] == 0.2
    assert model.detector.n_atoms == 9


def test_the_default_is_the_gaussian_detector(rows):
    assert isinstance(PyODDetector().fit(rows).detector_, GaussianAtomDetector)


def test_without_pyod_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyod.models.base", None)
    monkeypatch.delitem(sys.modules, "setatoms.pyod")
    with pytest.raises(ImportError, match=r'pip install "setatoms\[pyod\]"'):
        __import__("setatoms.pyod")
