"""The study of explanations corrupts what it says, and counts what it should."""

import numpy as np
import pytest

from benchmarks.quality import explanations
from benchmarks.quality.splits import Split


@pytest.fixture
def split():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(90, 4)) * [1, 10, 3, 1], np.full(90, 2.0)])
    return Split(X[:50], X[50:], (np.arange(40) % 5 == 0).astype(np.int64))


def test_one_column_of_a_normal_row_is_corrupted(split):
    found = explanations.corrupt(split, 20, np.random.default_rng(0))
    normal = split.test[split.y_test == 0]
    shifted, swapped = found[explanations.SHIFTED], found[explanations.SWAPPED]
    np.testing.assert_array_equal(shifted.columns, swapped.columns)
    # the constant column has nothing to be swapped for
    assert set(shifted.columns) <= {0, 1, 2, 3}
    for moved, other, j in zip(shifted.rows, swapped.rows, shifted.columns, strict=True):
        kept = np.arange(5) != j
        source = normal[(normal[:, kept] == moved[kept]).all(axis=1)]
        assert len(source) == 1
        step = abs(moved[j] - source[0, j]) / split.train[:, j].std()
        assert step == pytest.approx(explanations.DEVIATIONS)
        np.testing.assert_array_equal(other[kept], source[0, kept])
        assert other[j] != source[0, j]
        assert other[j] in normal[:, j]


def test_shares_are_of_the_rows_of_all_tables():
    answers = explanations.Answers()
    answers.add(np.array([True, False, False]), "cone", "first")
    answers.add(np.array([True]), "cone", "first")
    assert answers.share("cone", "first") == 0.5
    assert answers.count("cone", "first") == 4
    assert np.isnan(answers.share("vector", "first"))


def test_ecod_finds_a_value_far_outside(split):
    pytest.importorskip("pyod")
    rows, columns = split.test[:8].copy(), np.arange(8) % 4
    rows[np.arange(8), columns] += 1_000.0
    far = {explanations.SHIFTED: explanations.Corrupted(rows, columns, rows[:, 0])}
    ((question, places),) = explanations._places_of_ecod(split.train, far)
    assert question == (explanations.SHIFTED, explanations.DIMENSIONS)
    # two or three rows share a column's far end, so its first place is not always the farthest
    assert np.mean(places == 0) >= 0.75
