"""Thresholds: shares of what was seen, and of what will be."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from setatoms import ConeAtomDetector, GaussianAtomDetector, VectorAtomDetector
from setatoms.decisions import (
    CrossFitted,
    conformal_p_values,
    cross_fit,
    share_offset,
    unseen_offset,
    unseen_scores,
)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
def test_the_share_lies_below_the_offset(share):
    scores = -np.random.default_rng(0).exponential(size=1000)
    assert np.sum(scores < share_offset(scores, share)) == 1000 * share


@pytest.mark.parametrize("n_samples", [2, 3, 10, 101])
def test_every_row_is_scored_by_the_half_it_is_not_in(n_samples):
    halves = []

    def fit_scores(train, test):
        halves.append((set(train), set(test)))
        return train.astype(float), test.astype(float)

    scores, ranks = cross_fit(fit_scores, n_samples, np.random.default_rng(0))
    np.testing.assert_array_equal(scores, np.arange(n_samples))
    for row, rank in enumerate(ranks):
        others = next(seen for seen, test in halves if row in test)
        assert rank == np.mean([other <= row for other in others])
    (train, test), (other_train, other_test) = halves
    assert train == other_test
    assert test == other_train
    assert not train & test
    assert abs(len(train) - len(test)) <= 1


def test_halves_depend_on_the_seed_alone():
    def fit_scores(train, test):
        return train.astype(float), np.full(len(test), float(train.sum()))

    first, again, other = (
        cross_fit(fit_scores, 40, np.random.default_rng(seed)).scores for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_when_fitting_gains_nothing_the_offset_is_the_quantile():
    scores = -np.random.default_rng(0).exponential(size=999)
    ranks = np.argsort(np.argsort(scores)) / 999
    # 49 or 50 of 999 rows: the next score is that far away
    offset = unseen_offset(scores, CrossFitted(scores, ranks))
    assert np.mean(scores < offset) == pytest.approx(0.05, abs=0.002)


def test_when_every_row_is_learned_the_offset_is_beyond_all_training_scores():
    unseen = -np.random.default_rng(0).exponential(size=100)
    offset = unseen_offset(np.zeros(100), CrossFitted(unseen, np.zeros(100)))
    assert share_offset(unseen, 0.01) < offset < share_offset(unseen, 0.2)


def test_the_offset_of_huge_scores_is_finite():
    scores = np.full(10, -1e300)
    assert np.isfinite(unseen_offset(scores, CrossFitted(scores, np.zeros(10))))


def test_the_offset_is_the_quantile_of_the_unseen_scores():
    rng = np.random.default_rng(0)
    training, cross = -rng.exponential(size=(2, 99))
    fitted = CrossFitted(1.5 * cross, rng.uniform(size=99))
    scores = unseen_scores(training, fitted)
    assert (np.diff(scores) >= 0).all()
    # the fifth of 99 is the 5 % quantile
    assert unseen_offset(training, fitted) == pytest.approx(scores[4], rel=1e-12)


@pytest.mark.parametrize("n_features", [1, 5, 15])
def test_least_squares_flags_the_promised_share_of_unseen_rows(n_features):
    """The rule is derived for least squares, so there it holds, down to eight rows a parameter."""
    results = [_least_squares(n_features, seed) for seed in range(100)]
    # 100 repetitions of about 5 % +- 3 %: the mean is known to half a per cent
    assert np.mean([flagged for flagged, _ in results]) == pytest.approx(0.05, abs=0.015)
    p_values = np.concatenate([p_values for _, p_values in results])
    for share in (0.02, 0.1, 0.3):
        assert np.mean(p_values <= share) == pytest.approx(share, rel=0.3)


def _least_squares(n_features, seed, n_samples=120):
    """Return the share flagged of 2000 unseen rows, and their p-values."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(2000 + n_samples, n_features)), rng.normal(size=2000 + n_samples)
    seen = np.arange(n_samples)

    def fit_scores(train, test):
        model = LinearRegression(fit_intercept=False).fit(X[train], y[train])
        scores = -np.abs(y - model.predict(X))
        return scores[train], scores[test]

    training, unseen = fit_scores(seen, np.arange(n_samples, len(X)))
    crossed = cross_fit(fit_scores, n_samples, rng)
    flagged = np.mean(unseen < unseen_offset(training, crossed))
    return flagged, conformal_p_values(unseen, unseen_scores(training, crossed))


@pytest.mark.parametrize("detector", [ConeAtomDetector, GaussianAtomDetector, VectorAtomDetector])
@pytest.mark.filterwarnings("ignore:.*rows per atom")
def test_auto_flags_few_unseen_normal_rows_of_small_tables(detector, load_adbench):
    """On these three a threshold from training errors flags 31 to 100 % of unseen normal rows."""
    shares = []
    for name in ("wine", "WPBC", "Hepatitis"):
        X, y = load_adbench(name)
        normal = X[y == 0]
        for seed in range(2):
            order = np.random.default_rng(seed).permutation(len(normal))
            train, test = np.split(normal[order], [int(0.7 * len(normal))])
            model = detector(random_state=seed).fit(train)
            shares.append(np.mean(model.predict(test) == -1))
    # six tests of about 35 rows: one row is half a per cent of the mean
    assert np.mean(shares) < 0.12
