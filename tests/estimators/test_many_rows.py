"""Of very many rows some tell units and thresholds."""

from __future__ import annotations

import numpy as np
import pytest

import setatoms
from setatoms.estimators import detecting

RNG = np.random.default_rng(4)
MIX = RNG.normal(size=(2, 5))


def make_rows(n_rows: int) -> np.ndarray:
    return RNG.normal(size=(n_rows, 2)) @ MIX + 0.1 * RNG.normal(size=(n_rows, 5))


@pytest.mark.parametrize("kind", ["SetAtomEnsemble", "ConeAtomDetector"])
def test_some_of_many_rows_tell_the_threshold(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, new = make_rows(4000), make_rows(4000)
    X[7] = 50.0
    parameters = {"budget": "fast"} if kind == "SetAtomEnsemble" else {}
    make = getattr(setatoms, kind)
    every = make(random_state=0, **parameters).fit(X)
    monkeypatch.setattr(detecting, "_MOST_JUDGED", 1500)
    some = make(random_state=0, **parameters).fit(X)
    assert every.lowest_scores_ is not None
    assert some.lowest_scores_ is None
    assert len(every.calibration_scores_) == 4000
    assert len(some.calibration_scores_) == 1500
    # the dictionaries are the same, and no training row is out of reach
    for one, other in zip(every.dictionaries_, some.dictionaries_, strict=True):
        np.testing.assert_array_equal(one.atoms, other.atoms)
    np.testing.assert_array_equal(every.guard_.most, some.guard_.most)
    assert every.guard_.longest == some.guard_.longest
    flagged = [np.mean(detector.predict(new) == -1) for detector in (every, some)]
    assert flagged[1] == pytest.approx(flagged[0], abs=0.03)
    again = make(random_state=0, n_jobs=2, **parameters).fit(X)
    np.testing.assert_array_equal(again.score_samples(new), some.score_samples(new))
