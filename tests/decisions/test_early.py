"""Decisions before all models are asked are those of all models."""

from __future__ import annotations

import numpy as np
import pytest

from setatoms.decisions import RULES, Combination
from setatoms.decisions.early import find_beyond

RNG = np.random.default_rng(0)


def combine_all(errors: np.ndarray) -> np.ndarray:
    return Combination("lower-half", np.ones(len(errors))).combine(errors)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n_models", [1, 2, 3, 7, 20])
def test_decisions_are_those_of_all_models(rule: str, n_models: int) -> None:
    errors = RNG.gamma(2.0, size=(n_models, 400))
    combination = Combination(rule, np.ones(n_models))
    numbers = combination.combine(errors)
    # a limit that some rows have exactly
    limit = float(np.sort(numbers)[-20])
    beyond = find_beyond(
        limit,
        400,
        n_models,
        lambda k, rows: errors[k, rows],
        lambda _rows, known: combination.combine(known),
    )
    np.testing.assert_array_equal(beyond, numbers > limit)
    assert beyond.sum() == 19


def test_rows_that_are_certain_are_not_asked_about() -> None:
    errors = RNG.gamma(2.0, size=(20, 400))
    errors[:, :5] += 50.0
    asked = np.zeros(20, np.int64)

    def ask(k: int, rows: np.ndarray) -> np.ndarray:
        asked[k] += len(rows)
        return errors[k, rows]

    beyond = find_beyond(20.0, 400, 20, ask, lambda _rows, known: combine_all(known))
    np.testing.assert_array_equal(np.flatnonzero(beyond), np.arange(5))
    assert asked.tolist() == [400] * 10 + [5] * 10


def test_no_model_is_asked_about_no_rows() -> None:
    errors = np.ones((4, 10))

    def ask(k: int, rows: np.ndarray) -> np.ndarray:
        assert len(rows) == 10
        return errors[k, rows]

    assert not find_beyond(2.0, 10, 4, ask, lambda _rows, known: combine_all(known)).any()
