"""The centre vine: what it keeps of the data, and that it is the library's."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import kendalltau, ks_2samp
from threadpoolctl import threadpool_limits

from setatoms.datasets.vine import CenterVine


def make_table(n_samples, n_features, seed=0):
    """Return columns with a common cause, one of them skewed, the last one of few values."""
    rng = np.random.default_rng(seed)
    loadings = np.resize([1.0, -1.0, 2.0], n_features)
    X = rng.normal(size=(n_samples, 1)) * loadings + rng.normal(size=(n_samples, n_features))
    X[:, 1] = np.exp(X[:, 1] / 2)
    X[:, -1] = np.rint(X[:, -1])
    return X


def test_a_vine_of_two_features_keeps_their_tau():
    X = make_table(800, 3)[:, :2]
    drawn = CenterVine.fit(X).sample(4000, np.random.RandomState(0))
    # Standard errors of tau: 0.02 from the data, 0.01 from the sample; kernels smooth a little.
    expected = kendalltau(*X.T).statistic
    assert abs(expected) > 0.2
    assert kendalltau(*drawn.T).statistic == pytest.approx(expected, abs=0.06)


def test_the_first_feature_keeps_its_distribution():
    X = make_table(800, 2)
    drawn = CenterVine.fit(X).sample(800, np.random.RandomState(0))
    # Ranks after the first are capped at 0.99, so half of the rows may miss the uppermost 1 %;
    # 0.1 is the distance that two samples of 800 exceed by chance once in a thousand times.
    assert ks_2samp(X[:, 0], drawn[:, 0]).statistic < 0.1


@pytest.mark.parametrize("n_features", [2, 3, 4, 6])
def test_trees_are_stars_on_fewer_and_fewer_variables(n_features):
    trees = CenterVine.fit(make_table(200, n_features)).trees
    assert len(trees) == min(3, n_features - 1)
    remaining = set(range(n_features))
    for tree in trees:
        remaining -= {tree.centre}
        assert set(tree.copulas) == remaining
    for tree, following in pairwise(trees):
        assert next(iter(tree.copulas)) == following.centre


def test_a_repeated_feature_is_drawn_almost_equal():
    X = make_table(300, 3)
    X[:, 2] = X[:, 0]
    vine = CenterVine.fit(X[:, [0, 2]])
    drawn = vine.sample(300, np.random.RandomState(0))
    assert np.isfinite(drawn).all()
    # Frank's theta ends at the solver's bound of 709: ranks differ by a few hundredths at most.
    assert kendalltau(*drawn.T).statistic > 0.98


@pytest.mark.parametrize("n_features", [2, 3, 4, 7])
def test_trees_and_rows_are_those_of_copulas(n_features):
    multivariate = pytest.importorskip("copulas.multivariate", reason="copulas is not installed")
    import pandas as pd

    X = make_table(203, n_features)
    with warnings.catch_warnings(), threadpool_limits(limits=1, user_api="blas"):
        warnings.simplefilter("ignore")
        library = multivariate.VineCopula("center", random_state=5)
        library.fit(pd.DataFrame(X))
        expected_rows = library.sample(25).to_numpy()
    vine = CenterVine.fit(X)
    for tree, expected in zip(vine.trees, library.trees, strict=True):
        others = [edge.R if edge.L == tree.centre else edge.L for edge in expected.edges]
        assert list(tree.copulas) == others
        for edge, copula in zip(expected.edges, tree.copulas.values(), strict=True):
            assert type(copula).__name__.upper() == edge.name.name
            # Both solvers stop at 1e-8; ours starts from ranks that differ by 1e-11.
            assert copula.theta == pytest.approx(edge.theta, rel=1e-6)
    rows = vine.sample(25, np.random.RandomState(5))
    np.testing.assert_allclose(rows / X.std(axis=0), expected_rows / X.std(axis=0), atol=1e-4)
