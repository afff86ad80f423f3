"""`predict` asks no more members than it needs, and decides as the scores do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import setatoms
from setatoms.estimators import detecting

RNG = np.random.default_rng(1)
MIX = RNG.normal(size=(3, 8))


def make_rows(n_rows: int) -> np.ndarray:
    return RNG.normal(size=(n_rows, 3)) @ MIX + 0.2 * RNG.normal(size=(n_rows, 8))


@pytest.fixture(scope="module")
def new() -> np.ndarray:
    X = make_rows(3000)
    X[:200] = RNG.permuted(X[:200], axis=1)
    X[200:210] *= 100.0
    return X


@pytest.mark.parametrize("views", [("relation", "size", "rarity"), ("relation",)])
@pytest.mark.parametrize("contamination", ["auto", 0.1])
@pytest.mark.parametrize("missing", ["error", "fill"])
def test_predict_is_the_sign_of_the_decision_function(
    views: Any, contamination: Any, missing: str, new: np.ndarray
) -> None:
    detector = setatoms.SetAtomEnsemble(
        n_members=9, views=views, contamination=contamination, missing=missing, random_state=0
    ).fit(make_rows(1200))
    X = new.copy()
    if missing == "fill":
        X[::7, 3] = np.nan
    decided = np.where(detector.decision_function(X) < 0, -1, 1)
    np.testing.assert_array_equal(detector.predict(X), decided)
    assert 0 < (decided < 0).sum() < len(X) / 2


def test_half_of_the_members_decide_about_most_normal_rows(
    new: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    detector = setatoms.SetAtomEnsemble(random_state=0).fit(make_rows(1200))
    asked = []
    measure = detecting.measure

    def counted(dictionary: Any, Z: np.ndarray, n_jobs: int | None) -> np.ndarray:
        asked.append(len(Z))
        return measure(dictionary, Z, n_jobs)

    monkeypatch.setattr(detecting, "measure", counted)
    detector.predict(new)
    assert asked[:10] == [len(new)] * 10
    assert max(asked[10:]) < 0.4 * len(new)
