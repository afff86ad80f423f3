"""What p-values and `predict(X, fdr=...)` promise, for every detector."""

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from setatoms import ConeAtomDetector, GaussianAtomDetector, VectorAtomDetector
from setatoms.decisions import benjamini_hochberg

DETECTORS = [ConeAtomDetector, GaussianAtomDetector, VectorAtomDetector]


def make_rows(n_samples, seed):
    """Return normal rows (n_samples, 6) with two hidden causes."""
    rng = np.random.default_rng(seed)
    loadings = np.random.default_rng(99).normal(size=(2, 6))
    return rng.normal(size=(n_samples, 2)) @ loadings + 0.2 * rng.normal(size=(n_samples, 6))


@pytest.fixture(scope="module")
def unseen():
    return make_rows(4000, seed=1)


@pytest.fixture(scope="module")
def broken():
    rng = np.random.default_rng(2)
    return np.column_stack([rng.permutation(column) for column in make_rows(400, seed=2).T])


@pytest.fixture(scope="module", params=DETECTORS)
def estimator(request):
    return request.param


@pytest.fixture(scope="module")
def auto(estimator):
    return estimator(random_state=0).fit(make_rows(500, seed=0))


@pytest.fixture
def share(estimator):
    return estimator(n_iter=20, contamination=0.1, random_state=0).fit(make_rows(300, seed=0))


def test_cross_fitted_p_values_of_normal_rows_are_uniform(auto, unseen):
    p_values = auto.p_values(unseen)
    assert len(auto.calibration_scores_) == 500
    # three standard deviations of what eight fits gave, as 500 rows know 5 % to 1.5 %
    for level, most in ((0.01, 0.03), (0.05, 0.095), (0.1, 0.15), (0.5, 0.6)):
        assert np.mean(p_values <= level) <= most
    assert np.mean(p_values <= 0.1) >= 0.05
    assert np.mean(p_values <= 0.5) >= 0.4


def test_the_automatic_threshold_of_the_relation_is_a_p_value_of_five_per_cent(estimator, unseen):
    auto = estimator(random_state=0, views=("relation",)).fit(make_rows(500, seed=0))
    flagged = auto.predict(unseen) == -1
    # p-values are multiples of 1 / 501
    assert (auto.p_values(unseen)[flagged] <= 0.05 + 1 / 501).all()
    assert (auto.p_values(unseen)[~flagged] >= 0.05 - 1 / 501).all()


def test_the_automatic_threshold_flags_what_has_a_p_value_of_five_per_cent(auto, unseen):
    flagged = auto.predict(unseen) == -1
    assert flagged[auto.p_values(unseen) < 0.05 - 1 / 501].all()
    # the bulk of clean rows hardly suggests more
    assert auto.p_values(unseen)[flagged].max() < 0.08


def test_calibrated_p_values_are_ranks_among_the_rows_given(share, unseen):
    share.calibrate(unseen[:99])
    scores, known = share.score_samples(unseen[99:199]), share.score_samples(unseen[:99])
    counted = (1 + (known <= scores[:, None]).sum(axis=1)) / 100
    np.testing.assert_array_equal(share.p_values(unseen[99:199]), counted)


def test_with_fdr_the_flagged_rows_are_benjamini_hochbergs(auto, unseen, broken):
    X = np.concatenate([unseen, broken])
    flagged = auto.predict(X, fdr=0.1) == -1
    np.testing.assert_array_equal(flagged, benjamini_hochberg(auto.p_values(X), 0.1))
    # of about 400 flagged rows a tenth is expected to be false, give or take the calibration
    assert np.mean(flagged[4000:]) > 0.4
    assert flagged[:4000].sum() / flagged.sum() <= 0.2
    assert (auto.predict(X, fdr=1e-6) == 1).all()


def test_calibrate_changes_p_values_alone(share, unseen):
    offset, scores, labels = share.offset_, share.score_samples(unseen), share.predict(unseen)
    assert share.calibrate(unseen[:200]) is share
    assert share.offset_ == offset
    np.testing.assert_array_equal(share.score_samples(unseen), scores)
    np.testing.assert_array_equal(share.predict(unseen), labels)
    np.testing.assert_array_equal(share.calibration_scores_, np.sort(scores[:200]))


def test_refit_forgets_the_calibration(share, unseen):
    share.calibrate(unseen[:50]).fit(make_rows(300, seed=0))
    assert share.calibration_scores_ is None


def test_rows_that_cannot_be_scored_leave_the_calibration_as_it_was(share, unseen):
    before = pickle.dumps(share.calibrate(unseen[:50]))
    for wrong in (unseen[:10, :5], np.full((3, 6), np.nan), unseen[:0]):
        with pytest.raises(ValueError, match=r"."):
            share.calibrate(wrong)
    assert pickle.dumps(share) == before


def test_a_model_without_calibration_says_what_to_do(share, unseen):
    for ask in (share.p_values, lambda X: share.predict(X, fdr=0.05)):
        with pytest.raises(ValueError, match=r"contamination=0\.1 .* calibrate\(X\)"):
            ask(unseen)


@pytest.mark.parametrize("fdr", [0, 1, 5, "0.1"])
def test_an_impossible_fdr_is_named(auto, unseen, fdr):
    with pytest.raises(ValueError, match=f"fdr={fdr!r} must lie between 0 and 1"):
        auto.predict(unseen, fdr=fdr)


def test_a_model_used_before_fit_says_so(estimator, unseen):
    for ask in (estimator().p_values, estimator().calibrate):
        with pytest.raises(NotFittedError):
            ask(unseen)


def test_calibration_scores_do_not_depend_on_the_number_of_threads(estimator):
    rows = make_rows(300, seed=0)
    one, two = (
        estimator(n_iter=20, random_state=0, n_jobs=n_jobs).fit(rows).calibration_scores_
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one, two)
