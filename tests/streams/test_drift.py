"""Change is found soon, and not before it comes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

import setatoms
from setatoms.datasets import make_dependency_anomalies

from .conftest import QUICK, make

# some pixels are white in all rows of half of the digits
pytestmark = pytest.mark.filterwarnings("ignore:X is constant in columns")


def digits(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 10,000 rows of the digits 0 to 4 and as many of 5 to 9, drawn with replacement."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    few, many = X[y < 5], X[y >= 5]
    return few[rng.integers(len(few), size=10_000)], many[rng.integers(len(many), size=10_000)]


def find_alarm(detector, rows):
    """Return the number of the row that raised the alarm, and of the last row seen by then."""
    for start in range(0, len(rows), 100):
        detector.partial_fit(rows[start : start + 100])
        if hasattr(detector, "stream_") and detector.drift_.alarm:
            return detector.drift_.alarm_row, start + 100
    return None, None


@pytest.mark.parametrize("seed", range(10))
def test_other_digits_raise_the_alarm_within_500_rows_and_not_before(seed):
    before, after = digits(seed)
    detector = setatoms.GaussianAtomDetector(half_life=2_000, random_state=seed)
    row, known = find_alarm(detector, np.concatenate([before, after[:500]]))
    assert 10_000 < row <= known <= 10_500


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_other_digits_raise_the_alarm_of_an_ensemble(seed):
    before, after = digits(seed)
    detector = setatoms.SetAtomEnsemble(half_life=2_000, random_state=seed)
    row, known = find_alarm(detector, np.concatenate([before, after[:500]]))
    assert 10_000 < row <= known <= 10_500


def mixed(rows, seed):
    return make_dependency_anomalies(rows[:9_000], random_state=seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["GaussianAtomDetector", "ConeAtomDetector", "SetAtomEnsemble"])
@pytest.mark.parametrize("seed", range(3))
def test_after_the_change_anomalies_are_found_as_by_a_model_of_the_new_rows(name, seed):
    before, after = digits(seed)
    old, (new, y) = mixed(before, seed)[0], mixed(after, seed + 100)
    detector = getattr(setatoms, name)(half_life=2_000, random_state=seed)
    for start in range(0, len(old), 1_000):
        detector.partial_fit(old[start : start + 1_000])
    for start in range(0, 8_000, 1_000):
        detector.partial_fit(new[start : start + 1_000])
    fitted = getattr(setatoms, name)(random_state=seed).fit(new[:8_000])
    rest, labels = new[8_000:], y[8_000:]
    auc = roc_auc_score(labels, -detector.score_samples(rest))
    assert auc > roc_auc_score(labels, -fitted.score_samples(rest)) - 0.02


@pytest.mark.parametrize("name", QUICK)
def test_every_estimator_sees_broken_relations(name, rows):
    shuffled = np.random.default_rng(0).permuted(rows, axis=0)
    estimator = make(name)
    row, _ = find_alarm(estimator, np.concatenate([rows, shuffled[:1_000]]))
    assert row > 6_000


@pytest.mark.parametrize("name", ["ConeAtomDetector", "SetAtomEnsemble"])
def test_a_model_that_does_not_learn_watches_as_well(name, rows):
    shuffled = np.random.default_rng(0).permuted(rows, axis=0)
    detector = make(name).fit(rows[:2_000])
    atoms = detector.dictionaries_[0].atoms
    detector.follow(rows[2_000:], learn=False)
    assert not detector.drift_.alarm
    detector.follow(shuffled[:1_000], learn=False)
    assert 6_000 < detector.drift_.alarm_row < 7_000
    assert detector.dictionaries_[0].atoms is atoms
    assert detector.drift_[2:5] == (0.0, 0.0, 0.0)


def test_after_an_alarm_the_reference_is_taken_anew(rows):
    shuffled = np.random.default_rng(0).permuted(rows, axis=0)
    detector = make("ConeAtomDetector", half_life=500)
    for start in range(0, 6_000, 500):
        detector.partial_fit(rows[start : start + 500])
    for _ in range(3):
        detector.partial_fit(shuffled)
    assert detector.drift_.since > 6_000
    assert not detector.drift_.alarm
    assert find_alarm(detector, rows[:2_000])[0] is not None


def test_moves_are_those_of_atoms_use_and_radii(rows):
    detector = make("ConeAtomDetector", half_life=500).fit(rows[:1_000])
    turned = rows @ np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    for part in (rows[1_000:3_000], turned[:4_000]):
        detector.partial_fit(part)
    drift = detector.drift_
    reference = detector.stream_.reference.dictionaries[0].atoms
    cosines = np.abs(detector.components_ @ reference.T).max(axis=1)
    # the weighted mean lies between the smallest and the largest distance
    chords = np.sqrt(np.maximum(2 - 2 * cosines, 0))
    assert chords.min() <= drift.atoms <= chords.max()
    assert drift.atoms > 0.05
    assert 0.05 < drift.use <= 1
    assert drift.radii >= 0
