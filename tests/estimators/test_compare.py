"""A batch that is not like the rows learned from is said to be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine

import setatoms
from setatoms.decisions import BatchCounts, profile

X = load_wine().data


@pytest.fixture(scope="module")
def detector() -> setatoms.VectorAtomDetector:
    return setatoms.VectorAtomDetector(random_state=0, missing="fill").fit(X[::2])


def test_rows_of_the_same_kind_fit(detector: setatoms.VectorAtomDetector) -> None:
    comparison = detector.compare(X[1::2])
    assert comparison.fits
    assert comparison.sentence == ""
    assert detector.compare(X[:1]).moved == ()
    assert detector.count_batch().compare().fits  # of no rows


def test_a_column_in_another_unit_is_named_first(detector: setatoms.VectorAtomDetector) -> None:
    other = X[1::2].copy()
    other[:, 4] = other[:, 4] * 1.8 + 32
    comparison = detector.compare(other)
    assert [moved.column for moved in comparison.moved] == ["x4"]
    assert comparison.moved[0].now == pytest.approx(np.median(other[:, 4]))
    assert "'x4' moved (median 2" in comparison.sentence
    assert comparison.sentence.startswith("not like the rows learned from: ")


def test_gaps_are_named(detector: setatoms.VectorAtomDetector) -> None:
    gappy = X[1::2].copy()
    gappy[::2, 3] = np.nan
    comparison = detector.compare(gappy)
    assert [gap.column for gap in comparison.gaps] == ["x3"]
    assert "'x3' has gaps in 51% of the rows where 0% are usual" in comparison.sentence


def test_how_a_batch_is_cut_does_not_matter(detector: setatoms.VectorAtomDetector) -> None:
    other = X[1::2] * 1.5
    counts = detector.count_batch()
    for start in range(0, len(other), 10):
        counts.add(other[start : start + 10], 3)
    whole = detector.count_batch()
    whole.add(other, 27)
    assert counts.compare() == whole.compare()


def profile_of(table):
    """Return quantiles and shares of gaps of a table without any."""
    return profile(table, table.min(axis=0), table.max(axis=0)), np.zeros(table.shape[1])


def test_columns_of_few_values_fit_themselves() -> None:
    rng = np.random.default_rng(0)
    few = rng.choice([0.0, 1.0], size=(1000, 3), p=[0.9, 0.1])
    counts = BatchCounts(list("abc"), *profile_of(few[:500]), 0.05)
    counts.add(few[500:], 20)
    assert counts.compare().fits


def test_chance_alone_moves_nothing() -> None:
    rng = np.random.default_rng(1)
    wrong = 0
    for n_rows in (5, 20, 100, 1000):
        for _ in range(50):
            table = rng.normal(size=(500 + n_rows, 8))
            counts = BatchCounts(list("abcdefgh"), *profile_of(table[:500]), 0.05)
            counts.add(table[500:], 0)
            wrong += bool(counts.compare().moved)
    assert wrong <= 2


def test_a_saved_detector_compares_alike(
    detector: setatoms.VectorAtomDetector, tmp_path: Path
) -> None:
    detector.save(tmp_path / "m")
    assert setatoms.load(tmp_path / "m").compare(X * 2) == detector.compare(X * 2)
