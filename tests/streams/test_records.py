"""What is kept of a stream: sums, samples, evidence."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from setatoms.streams import Alarm, Moments, Reservoir, count_past, fading
from setatoms.streams.alarm import MOST_SCORES, bets
from setatoms.streams.chance import uniforms


def nothing(n_features: int) -> Moments:
    return Moments(*np.zeros((3, n_features)))


def test_moments_are_those_of_the_rows_weighted_by_age():
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 2.0, size=(600, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    half_life = 150.0
    moments = nothing(3)
    for start in range(0, 600, 100):
        moments = moments.added(X[start : start + 100], fading(100, half_life))
    # all rows of a block have the same age
    weights = fading(500 - 100 * (np.arange(600) // 100), half_life)[:, None] * ~np.isnan(X)
    filled = np.nan_to_num(X)
    mean = (weights * filled).sum(axis=0) / weights.sum(axis=0)
    variance = (weights * (filled - mean) ** 2).sum(axis=0) / weights.sum(axis=0)
    np.testing.assert_allclose(moments.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(moments.deviation, np.sqrt(variance), rtol=1e-12)


def test_the_unit_of_a_column_outlasts_any_silence():
    rows = np.random.default_rng(0).normal(5.0, 3.0, size=(500, 2))
    moments = Moments(*np.zeros((3, 2))).added(rows, 1.0)
    silent = rows.copy()
    silent[:, 1] = np.nan
    after = moments
    for _ in range(3_000):
        after = after.added(silent, 0.5)
    np.testing.assert_allclose(after.deviation, rows.std(axis=0), rtol=1e-9)
    np.testing.assert_allclose(after.mean, rows.mean(axis=0), rtol=1e-9)


def test_a_constant_column_has_no_variance_at_all():
    moments = nothing(1)
    for _ in range(50):
        moments = moments.added(np.full((7, 1), 0.1), 0.9)
    assert moments.squares[0] == 0.0
    assert moments.deviation[0] == 1.0


def test_the_weight_of_the_past_is_the_sum_of_what_is_left_of_each_row():
    for half_life in (None, 3.0, 50.0):
        total = sum(fading(age, half_life) for age in range(200))
        assert count_past(200, half_life) == pytest.approx(total, rel=1e-9)


def test_uniform_numbers_are_uniform_and_independent_between_purposes():
    numbers = np.arange(50_000)
    some, others = uniforms(3, 0, numbers), uniforms(3, 1, numbers)
    assert stats.kstest(some, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(some, others)[0, 1]) < 0.02
    assert abs(np.corrcoef(some[1:], some[:-1])[0, 1]) < 0.02


@pytest.mark.parametrize("half_life", [None, 400.0])
def test_a_reservoir_does_not_depend_on_the_batches(half_life):
    X = np.random.default_rng(0).normal(size=(3_000, 2))
    empty = Reservoir(np.empty((0, 2)), np.empty(0), 200)
    whole = empty.added(X, 0, half_life, seed=5)
    parts = empty
    for start, stop in ((0, 1), (1, 700), (700, 3_000)):
        parts = parts.added(X[start:stop], start, half_life, seed=5)
    assert np.array_equal(whole.rows, parts.rows)
    assert np.array_equal(whole.keys, parts.keys)


def ages(half_life: float | None, seed: int) -> np.ndarray:
    rows = np.arange(6_000.0)[:, None]
    empty = Reservoir(np.empty((0, 1)), np.empty(0), 300)
    return 6_000 - empty.added(rows, 0, half_life, seed).rows[:, 0]


def test_a_reservoir_is_uniform_if_nothing_is_forgotten():
    drawn = np.concatenate([ages(None, seed) for seed in range(20)])
    # 6,000 draws: five standard deviations of a share of a half
    assert abs(np.mean(drawn <= 3_000) - 0.5) < 5 * 0.5 / np.sqrt(6_000)


def test_half_of_a_reservoir_is_younger_than_the_half_life():
    drawn = np.concatenate([ages(1_000.0, seed) for seed in range(20)])
    # a little less: rows are drawn without putting them back
    assert 0.4 < np.mean(drawn <= 1_000) < 0.52


def test_a_sample_of_the_past_goes_on_as_if_its_rows_had_been_seen():
    shares = []
    for seed in range(40):
        rows = np.zeros((200, 1))
        begun = Reservoir.begin(rows, 4_000.0, 200, seed)
        after = begun.added(np.ones((4_000, 1)), 0, None, seed)
        shares.append(after.rows.mean())
    assert abs(np.mean(shares) - 0.5) < 5 * 0.5 / np.sqrt(200 * 40)


def test_bets_are_densities_but_for_what_they_leave_out_next_to_certainty():
    # the substitution p = q^10 leaves no peak at 0, and by symmetry none at 1
    q = (np.arange(20_000) + 0.5) / 20_000
    grid, weights = 0.5 * q**10, 5.0 * q**9 / 20_000
    total = sum(
        weight * (bets(float(p)) + bets(float(1.0 - p)))
        for p, weight in zip(grid, weights, strict=True)
    )
    assert (total < 1.0 + 1e-6).all()
    assert (total > 0.995).all()


def first_alarms(limit: float, n_runs: int, draw) -> list[int]:
    """Return after how many rows without a change the alarm is raised, run by run."""
    found = []
    for seed in range(n_runs):
        rng, alarm, first = np.random.default_rng(seed), Alarm.new(limit), 0
        while alarm.raised_at is None:
            alarm = alarm.tested(draw(rng, 1_000), np.arange(first, first + 1_000), seed)
            first += 1_000
        found.append(alarm.raised_at + 1)
    return found


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.normal(size=n),
        lambda rng, n: rng.integers(4, size=n).astype(float),
        lambda rng, n: np.exp(3 * rng.normal(size=n)),
    ],
    ids=["continuous", "many ties", "heavy tail"],
)
def test_false_alarms_are_at_least_as_far_apart_as_promised(draw):
    limit, n_runs = 200.0, 60
    found = first_alarms(limit, n_runs, draw)
    # run lengths are about exponential: four standard errors below the promise is chance
    assert np.mean(found) > limit * (1 - 4 / np.sqrt(n_runs))


@pytest.mark.parametrize(
    ("change", "within"),
    [
        (lambda rng, n: rng.normal(-1.5, size=n), 60),
        (lambda rng, n: rng.normal(1.5, size=n), 60),
        (lambda rng, n: 3.0 * rng.normal(size=n), 300),
        (lambda rng, n: 0.2 * rng.normal(size=n), 120),
    ],
    ids=["lower", "higher", "wider", "narrower"],
)
def test_changes_of_any_direction_are_found(change, within):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        alarm = Alarm.new(1e5).tested(rng.normal(size=3_000), np.arange(3_000), seed)
        assert alarm.raised_at is None
        after = alarm.tested(change(rng, within), np.arange(3_000, 3_000 + within), seed)
        assert after.raised_at is not None


def test_an_alarm_does_not_depend_on_the_batches_and_stays_small():
    scores = np.random.default_rng(0).normal(size=5_000)
    whole = Alarm.new(1e9).tested(scores, np.arange(5_000), seed=1)
    parts = Alarm.new(1e9)
    for start, stop in ((0, 3), (3, 2_500), (2_500, 5_000)):
        parts = parts.tested(scores[start:stop], np.arange(start, stop), seed=1)
    assert np.array_equal(whole.scores, parts.scores)
    assert np.array_equal(whole.evidence, parts.evidence)
    assert len(whole.scores) == MOST_SCORES
