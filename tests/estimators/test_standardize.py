"""Standardising: exact where it can be, safe where numbers are extreme."""

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from setatoms import GaussianAtomDetector, GaussianDictionaryLearning, VectorAtomDetector
from setatoms.estimators.standardize import Standardizer
from setatoms.rows import MemoryRows


def test_it_equals_scikit_learns_scaler(rows):
    # both are rounded sums over 300 rows
    np.testing.assert_allclose(
        Standardizer.learn(MemoryRows(rows)).apply(rows),
        StandardScaler().fit_transform(rows),
        rtol=1e-10,
        atol=1e-12,
    )


def test_the_scale_of_tiny_columns_does_not_underflow(rows):
    standardizer = Standardizer.learn(MemoryRows(rows * 1e-200))
    np.testing.assert_allclose(
        standardizer.apply(rows * 1e-200),
        Standardizer.learn(MemoryRows(rows)).apply(rows),
        rtol=1e-9,
    )


def test_a_constant_column_is_centred_exactly():
    X = np.full((7, 2), 0.1)
    standardizer = Standardizer.learn(MemoryRows(X))
    np.testing.assert_array_equal(standardizer.apply(X), 0.0)
    np.testing.assert_array_equal(standardizer.scale, 1.0)


def test_constant_columns_are_named_in_a_warning_and_count_when_they_deviate(rows):
    frame = pd.DataFrame(rows).rename(columns=str).assign(fixed=3.0)
    detector = VectorAtomDetector(n_atoms=7, random_state=0)
    with pytest.warns(UserWarning, match="constant in column 'fixed'"):
        detector.fit(frame)
    deviating = frame.assign(fixed=30.0)
    assert (detector.score_samples(deviating) < detector.score_samples(frame)).all()
    assert (detector.predict(deviating) == -1).all()


@pytest.mark.parametrize("standardize", [True, False])
def test_a_column_whose_variance_overflows_is_named(rows, standardize):
    X = rows.copy()
    X[:, 3] *= 1e200
    with pytest.raises(ValueError, match="variance of X overflows in column 3"):
        VectorAtomDetector(n_atoms=6, standardize=standardize).fit(X)
    with pytest.raises(ValueError, match="variance of X overflows in column 3"):
        GaussianDictionaryLearning(n_atoms=6).fit(X)


def test_without_standardising_the_table_is_taken_as_it_is(rows):
    detector = GaussianAtomDetector(
        n_atoms=6, standardize=False, views=("relation",), random_state=0
    ).fit(rows)
    transformer = GaussianDictionaryLearning(n_atoms=6, random_state=0)
    # the detector keeps a second stream for its threshold, so give both the same start
    start = detector.components_
    detector.set_params(init=start, adapt=None).fit(rows)
    transformer.set_params(init=start, adapt=None, radii=(0.05, 0.05)).fit(rows)
    detector.set_params(radii=(0.05, 0.05)).fit(rows)
    residuals = rows - transformer.reconstruct(rows)
    errors = np.linalg.norm(residuals, axis=1) / np.sqrt(6)
    # the residual is a difference of numbers near 100
    np.testing.assert_allclose(-detector.score_samples(rows), errors, rtol=1e-9, atol=1e-11)
