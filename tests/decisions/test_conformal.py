"""Conformal p-values are ranks among the calibration rows."""

import numpy as np
import pytest

from setatoms.decisions import conformal_p_values


def test_a_p_value_counts_the_calibration_scores_as_low_or_lower():
    rng = np.random.default_rng(0)
    # rounded, so that there are ties
    scores, calibration = np.round(rng.normal(size=50), 1), np.round(rng.normal(size=80), 1)
    counted = [(1 + sum(c <= s for c in calibration)) / 81 for s in scores]
    np.testing.assert_array_equal(conformal_p_values(scores, calibration), counted)


def test_exchangeable_rows_get_every_p_value_once():
    """Whichever of n + 1 rows is the new one, all p-values are equally probable: they are exact."""
    rows = np.random.default_rng(0).normal(size=20)
    p_values = [conformal_p_values(rows[[i]], np.delete(rows, i))[0] for i in range(20)]
    np.testing.assert_allclose(np.sort(p_values), np.arange(1, 21) / 20, rtol=1e-15)


@pytest.mark.parametrize("n_calibration", [1, 9, 1000])
def test_the_least_p_value_is_one_over_the_rows_and_one(n_calibration):
    p_value = conformal_p_values([-1e308], -np.arange(float(n_calibration)))
    assert p_value[0] == 1 / (n_calibration + 1)
