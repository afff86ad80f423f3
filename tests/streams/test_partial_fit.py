"""Estimators go on learning, the same however rows come."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

import setatoms
from setatoms.datasets import make_dependency_anomalies
from setatoms.estimators.saving import store

from .conftest import DETECTORS, QUICK, make


def assert_same(one, other):
    """Compare all that a file would hold, bit for bit."""
    first, second = store(one), store(other)
    assert first.header["attributes"] == second.header["attributes"]
    assert first.arrays.keys() == second.arrays.keys()
    for name, array in first.arrays.items():
        assert np.array_equal(array, second.arrays[name], equal_nan=True), name


def feed(estimator, rows, size):
    for start in range(0, len(rows), size):
        estimator.partial_fit(rows[start : start + size])
    return estimator


@pytest.mark.parametrize("name", QUICK)
def test_batches_do_not_matter(name, rows):
    assert_same(
        feed(make(name, half_life=1_000), rows, 6_000), feed(make(name, half_life=1_000), rows, 371)
    )


@pytest.mark.parametrize("name", QUICK)
def test_threads_do_not_matter(name, rows):
    one, two = (make(name, n_jobs=n_jobs, half_life=1_000) for n_jobs in (1, 2))
    one, two = feed(one, rows, 1_000), feed(two, rows, 1_000)
    assert_same(one, two.set_params(n_jobs=1))


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("at", [1_000, 5_000])
def test_a_saved_stream_goes_on_with_the_same_bits(name, at, rows, tmp_path):
    estimator = feed(make(name, half_life=1_000), rows[:at], 700)
    path = tmp_path / "stream.setatoms"
    estimator.save(path)
    loaded = setatoms.load(path)
    assert_same(estimator, loaded)
    assert_same(feed(estimator, rows[at:], 700), feed(loaded, rows[at:], 700))


@pytest.mark.parametrize("name", QUICK)
def test_a_fitted_model_goes_on(name, rows):
    fitted = make(name).fit(rows[:1_000])
    before = copy.deepcopy(fitted)
    feed(fitted, rows[1_000:], 1_000)
    assert fitted.n_samples_fit_ == 6_000
    assert fitted.drift_.since == 1_000
    assert fitted.drift_.n_rows == 5_000
    assert not fitted.drift_.alarm
    assert not np.array_equal(fitted.dictionaries_[0].atoms, before.dictionaries_[0].atoms)


@pytest.mark.parametrize("name", DETECTORS)
def test_scores_of_a_stream_are_those_of_the_model_before(name, rows):
    detector = feed(make(name), rows[:2_000], 2_000)
    before = copy.deepcopy(detector)
    scores = detector.follow(rows[2_000:2_100])
    assert np.array_equal(scores, before.score_samples(rows[2_000:2_100]))


def test_there_are_no_scores_before_there_is_a_model(rows):
    detector = make("ConeAtomDetector")
    scores = detector.follow(rows[:400])
    assert np.isnan(scores[:256]).all()
    assert np.isfinite(scores[256:]).all()


def test_while_rows_wait_there_is_no_model(rows, tmp_path):
    detector = make("ConeAtomDetector").partial_fit(rows[:10])
    with pytest.raises(NotFittedError):
        detector.score_samples(rows)
    with pytest.raises(NotFittedError):
        detector.save(tmp_path / "none.setatoms")
    with pytest.raises(AttributeError, match="after partial_fit has seen enough rows"):
        detector.drift_  # noqa: B018
    with pytest.raises(ValueError, match="3 features"):
        detector.partial_fit(rows[:10, :3])


@pytest.mark.parametrize("name", QUICK)
def test_fit_forgets_the_stream(name, rows):
    estimator = feed(make(name), rows, 1_000).fit(rows[:500])
    assert_same(estimator, make(name).fit(rows[:500]))


@pytest.mark.parametrize("name", QUICK)
def test_rows_that_are_refused_leave_all_as_it_was(name, rows):
    estimator = feed(make(name), rows[:2_000], 2_000)
    before = copy.deepcopy(estimator)
    broken = np.array(rows[2_000:3_000])
    broken[700, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        estimator.partial_fit(broken)
    with pytest.raises(ValueError, match="4 features"):
        estimator.partial_fit(np.hstack([rows, rows])[:5])
    assert_same(estimator, before)


def test_columns_that_change_are_refused(rows):
    frame = pd.DataFrame(rows, columns=list("abcd"))
    detector = make("ConeAtomDetector").partial_fit(frame[:1_000])
    assert list(detector.feature_names_in_) == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        detector.partial_fit(frame[1_000:].rename(columns={"a": "e"}))
    with pytest.raises(ValueError, match="text or times in column 'b'"):
        detector.partial_fit(frame[1_000:1_010].assign(b="x"))


@pytest.mark.parametrize("half_life", [0, -3, 0.5, np.inf, np.nan, "long", True])
def test_half_life_is_checked(half_life, rows):
    with pytest.raises(ValueError, match=r"half_life=.* must be a number of rows"):
        make("ConeAtomDetector", half_life=half_life).partial_fit(rows[:300])


@pytest.mark.parametrize("name", QUICK)
def test_gaps_are_followed(name, rows):
    gappy = np.array(rows)
    gappy[np.random.default_rng(0).random(gappy.shape) < 0.05] = np.nan
    estimator = feed(make(name, missing="fill"), gappy, 1_500)
    estimator.partial_fit(np.full((600, 4), np.nan))
    assert all(np.isfinite(each.atoms).all() for each in estimator.dictionaries_)
    if name in DETECTORS:
        assert np.isfinite(estimator.score_samples(gappy[:500])).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["GaussianAtomDetector", "ConeAtomDetector", "SetAtomEnsemble"])
def test_a_column_that_falls_silent_may_speak_again(name, rows):
    silent, wrong = np.array(rows), np.array(rows[:500])
    silent[:, 2] = np.nan
    wrong[:, 2] += 8 * rows[:, 2].std()
    # after 40 half-lives no value is left in any sample
    detector = feed(make(name, missing="fill", half_life=300), rows, 1_000)
    feed(detector, np.concatenate([silent, silent]), 1_000)
    assert np.isfinite(detector.column_quantiles_).all()
    assert np.isfinite(detector.score_samples(rows)).all()
    assert (detector.predict(wrong) == -1).all()
    feed(detector, rows, 1_000)
    assert (detector.predict(rows) == -1).mean() < 0.12
    assert (detector.predict(wrong) == -1).all()


def test_an_ensemble_keeps_its_members_until_it_is_fitted(rows):
    ensemble = feed(make("SetAtomEnsemble", half_life=1_000), rows, 2_000)
    ensemble.set_params(n_members=3)
    feed(ensemble, rows, 2_000)
    assert len(ensemble.members_) == 6
    assert len(ensemble.fit(rows).members_) == 3


@pytest.mark.parametrize("views", [("relation",), ("size", "rarity")])
@pytest.mark.parametrize("name", ["ConeAtomDetector", "SetAtomEnsemble"])
def test_any_views_can_follow(name, views, rows, tmp_path):
    detector = feed(make(name, views=views, half_life=800), rows, 1_000)
    detector.save(tmp_path / "any.setatoms")
    flagged = (detector.predict(rows[-2_000:]) == -1).mean()
    assert 0.005 < flagged < 0.12


def test_standardisation_follows_a_change_of_units(rows):
    units = np.array([1.0, 1_000.0, 1.0, 0.1])
    detector = make("ConeAtomDetector", half_life=1_000)
    feed(detector, np.concatenate([rows[:3_000], rows * units, rows * units]), 1_000)
    np.testing.assert_allclose(
        detector.standardizer_.scale, rows.std(axis=0) * units, rtol=0.1
    )  # a few thousand rows tell a standard deviation to some per cent
    assert (detector.predict(rows[:1_000] * units) == -1).mean() < 0.12


def test_without_standardisation_rows_are_taken_as_they_are(rows):
    detector = feed(make("ConeAtomDetector", standardize=False), rows, 2_000)
    assert (detector.standardizer_.scale == 1).all()


def test_atoms_that_do_not_learn_stay(rows):
    detector = make("ConeAtomDetector", learn=False).fit(rows[:1_000])
    before = detector.components_
    feed(detector, rows[1_000:3_000], 2_000)
    assert np.array_equal(before, detector.components_)


@pytest.mark.parametrize("name", DETECTORS)
def test_clearly_abnormal_rows_are_not_learned_from(name, rows):
    faulty = np.array(rows)
    faulty[2_000::10, 2] = -9999.0
    clean = feed(make(name), rows, 1_000)
    detector = feed(make(name), faulty, 1_000)
    assert detector.n_screened_ >= clean.n_screened_ + 300
    np.testing.assert_allclose(
        detector.standardizer_.scale, clean.standardizer_.scale, rtol=0.05
    )  # a tenth of the rows is missing from one of them
    assert (detector.predict(faulty[2_000::10]) == -1).all()


@pytest.mark.parametrize("contamination", ["auto", 0.1])
@pytest.mark.parametrize("name", ["GaussianAtomDetector", "SetAtomEnsemble"])
def test_the_threshold_follows(name, contamination, rows):
    rng = np.random.default_rng(1)
    wide = rng.normal(size=(9_000, 2)) @ rng.normal(size=(2, 4)) + rng.normal(size=(9_000, 4))
    detector = make(name, contamination=contamination, half_life=1_000)
    feed(detector, np.concatenate([rows[:2_000], wide[:8_000]]), 1_000)
    share = 0.05 if contamination == "auto" else contamination
    flagged = (detector.predict(wide[8_000:]) == -1).mean()
    # 1,000 rows: three standard deviations, and half as much again for a model that moves
    assert share / 2.5 < flagged < 2.5 * share
    assert detector.p_values(wide[8_000:]).mean() == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("name", ["GaussianAtomDetector", "ConeAtomDetector", "VectorAtomDetector"])
def test_many_passes_that_forget_nothing_come_to_what_fit_does(name):
    """The mean error within 1 % of the length of a row, and AUC within 0.01, on unseen rows."""
    rng = np.random.default_rng(0)
    causes = rng.laplace(size=(5_000, 3))
    table = causes @ rng.normal(size=(3, 8)) + 0.3 * rng.normal(size=(5_000, 8))
    train, (test, y) = table[:3_072], make_dependency_anomalies(table[3_072:], random_state=0)
    fitted = getattr(setatoms, name)(random_state=0).fit(train)
    passes = getattr(setatoms, name)(random_state=0)
    for _ in range(10):
        passes.partial_fit(train)

    def judge(detector):
        errors = detector._errors(test[y == 0])
        return errors.mean(), roc_auc_score(y, -detector.score_samples(test))

    (error, auc), (other_error, other_auc) = judge(fitted), judge(passes)
    length = np.linalg.norm(fitted.standardizer_.apply(test[y == 0]), axis=1).mean()
    assert other_error == pytest.approx(error, abs=0.01 * length)
    assert other_auc == pytest.approx(auc, abs=0.01)
