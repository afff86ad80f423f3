"""What users of other libraries expect, of every detector."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from setatoms import (
    ConeAtomDetector,
    ConeDictionaryLearning,
    GaussianAtomDetector,
    SetAtomDetector,
    SetAtomEnsemble,
    VectorAtomDetector,
)

NAMES = ["a", "b", "c", "d", "e", "f"]


@pytest.fixture(
    params=[
        ConeAtomDetector(n_atoms=9, n_iter=10),
        GaussianAtomDetector(n_atoms=9, n_iter=10),
        VectorAtomDetector(n_atoms=9, n_iter=10),
        SetAtomDetector(n_atoms=9, n_iter=10),
        SetAtomEnsemble(n_members=3),
    ],
    ids=lambda detector: type(detector).__name__,
)
def detector(request):
    """Return a detector that learns for a few iterations."""
    return clone(request.param).set_params(random_state=0)


@pytest.fixture(scope="module")
def broken(rows):
    """Return rows, the last 30 with all relations broken, and labels: 1 for these."""
    X = rows.copy()
    X[270:] = np.column_stack([np.roll(column, 30 * j)[:30] for j, column in enumerate(rows.T)])
    return X, np.repeat([0, 1], [270, 30])


@pytest.mark.parametrize("views", [("relation",), ("relation", "size", "rarity")])
@pytest.mark.parametrize("contamination", ["auto", 0.05, 0.5])
def test_fit_predict_is_fit_then_predict(detector, views, contamination, rows):
    detector.set_params(views=views, contamination=contamination)
    labels = detector.fit_predict(rows)
    np.testing.assert_array_equal(labels, clone(detector).fit(rows).predict(rows))
    assert set(labels.tolist()) <= {-1, 1}
    if contamination != "auto":
        assert (labels == -1).sum() == round(contamination * len(rows))


def test_a_scorer_with_the_sign_turned_finds_anomalies(detector, broken):
    X, y = broken

    def auc(detector, X, y):
        return roc_auc_score(y, -detector.score_samples(X))

    folds = StratifiedKFold(3)
    turned = cross_val_score(detector, X, y, scoring=auc, cv=folds)
    normal = np.where(y == 1, -1, 1)
    by_labels = cross_val_score(detector, X, normal, scoring="roc_auc", cv=folds)
    # the same ranks, but for rows whose scores less the threshold round to the same number
    np.testing.assert_allclose(turned, by_labels, atol=1e-3)
    assert turned.mean() > 0.7
    search = GridSearchCV(detector, {"n_iter": [10, 15]}, scoring=auc, cv=folds).fit(X, y)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])


@pytest.mark.filterwarnings("error:X does not have valid feature names")
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_go_in_and_one_number_for_each_row_comes_out(detector, frame, rows):
    X = frame(dict(zip(NAMES, rows.T, strict=True)))
    detector.fit(X)
    assert list(detector.feature_names_in_) == NAMES
    plain = clone(detector).fit(rows)
    for method in ("score_samples", "decision_function", "predict", "p_values"):
        found = getattr(detector, method)(X)
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, getattr(plain, method)(rows))
    with pytest.raises(ValueError, match="feature names"):
        detector.score_samples(X[NAMES[::-1]])


@pytest.mark.filterwarnings("error:X does not have valid feature names")
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_names_go_through_a_pipeline(detector, kind, rows):
    coder = ConeDictionaryLearning(n_atoms=8, n_iter=10, random_state=0)
    pipeline = make_pipeline(coder, detector).set_output(transform=kind)
    X = (pd if kind == "pandas" else pl).DataFrame(dict(zip(NAMES, rows.T, strict=True)))
    pipeline.fit(X).score_samples(X)
    assert list(detector.feature_names_in_) == list(coder.get_feature_names_out())


def test_what_cannot_be_honest_is_not_there(detector, rows):
    detector.fit(rows)
    assert not hasattr(detector, "predict_proba")
    assert not hasattr(detector, "feature_importances_")
