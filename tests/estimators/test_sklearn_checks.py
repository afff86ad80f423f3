"""scikit-learn's own checks, all of them, with no expected failures."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from setatoms import (
    ConeAtomDetector,
    ConeDictionaryLearning,
    GaussianAtomDetector,
    GaussianDictionaryLearning,
    SetAtomEnsemble,
    VectorAtomDetector,
)


@pytest.mark.filterwarnings("ignore:.*rows per atom", "ignore:n_nonzero=2 would represent")
@parametrize_with_checks(
    [
        ConeAtomDetector(),
        ConeDictionaryLearning(),
        GaussianAtomDetector(),
        GaussianDictionaryLearning(),
        SetAtomEnsemble(n_members=3),
        VectorAtomDetector(),
        ConeAtomDetector(missing="fill"),
        ConeDictionaryLearning(missing="fill"),
        GaussianAtomDetector(missing="fill"),
        GaussianDictionaryLearning(missing="fill"),
        SetAtomEnsemble(n_members=3, missing="fill"),
        VectorAtomDetector(missing="fill"),
    ]
)
def test_scikit_learn_finds_nothing(estimator, check):
    check(estimator)
