"""Pair copulas: conditional distributions, their inverses, and the choice of a family."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import kendalltau

from setatoms.datasets.pair_copulas import EPSILON, Clayton, Frank, Gumbel, choose_copula

PROBABILITIES = st.floats(0.001, 0.99)
WEAK_TO_STRONG = [
    *(Frank(theta) for theta in (-200.0, -5.0, 0.02, 5.0, 29.0, 31.0, 200.0)),
    *(Clayton(theta) for theta in (0.1, 2.0, 29.0, 31.0)),
    *(Gumbel(theta) for theta in (1.0, 1.1, 3.0, 29.0, 31.0)),
]
FAMILIES = [Frank, Clayton, Gumbel]


def draw(copula, n, seed=0):
    p, v = np.random.default_rng(seed).uniform(size=(2, n))
    return copula.inverse(p, v), v


@pytest.mark.parametrize("copula", WEAK_TO_STRONG, ids=str)
@given(p=PROBABILITIES, v=PROBABILITIES)
def test_inverse_undoes_the_conditional(copula, p, v):
    p, v = np.array([p]), np.array([v])
    # u itself carries a rounding error of 1e-16, which a slope of up to 1e6 (the strongest
    # dependence in a corner) turns into 1e-9 of probability. Frank's textbook form, used up to
    # theta = 30, cancels: it keeps 1e-16 of terms exp(theta) times as large.
    lost = 1e-15 * np.exp(copula.theta) if isinstance(copula, Frank) and copula.theta < 30 else 0
    found = copula.conditional(copula.inverse(p, v), v)
    np.testing.assert_allclose(found, p, rtol=0, atol=1e-9 + lost)


@pytest.mark.parametrize("copula", WEAK_TO_STRONG, ids=str)
def test_the_conditional_integrates_to_the_joint_distribution(copula):
    z = 0.1
    integral, error = quad(lambda v: copula.conditional(np.array([z]), np.array([v]))[0], 0, z)
    assert integral == pytest.approx(copula.diagonal(np.array([z]))[0], abs=error + 1e-7)


@pytest.mark.parametrize("family", FAMILIES)
def test_both_arrangements_of_a_formula_agree_where_they_meet(family):
    u, v = np.random.default_rng(0).uniform(0.01, 0.99, size=(2, 200))
    with np.errstate(over="ignore"):
        below, above = family(30.0).conditional(u, v), family(30.0 + 1e-9).conditional(u, v)
    # theta moves by 1e-9, and for Frank the textbook form has lost digits: exp(30) * 1e-16.
    np.testing.assert_allclose(below, above, atol=2e-3)
    assert np.median(np.abs(below - above)) < 1e-7


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("tau", [0.05, 0.3, 0.8])
def test_a_fitted_copula_has_the_tau_asked_for(family, tau):
    sample = draw(family.from_tau(tau), 4000)
    # The standard error of tau over 4000 pairs is below 0.011.
    assert kendalltau(*sample).statistic == pytest.approx(tau, abs=0.04)


@pytest.mark.parametrize("tau", [-1.0, -0.9, -0.01, 0.0, 1.0])
def test_frank_covers_every_tau(tau):
    copula = Frank.from_tau(tau)
    u, v = draw(copula, 500)
    assert np.isfinite(u).all()
    # Near tau = 0 the solver of the reference ends at theta = 0.016, which is tau = 0.002.
    assert kendalltau(u, v).statistic == pytest.approx(tau, abs=0.1)


@pytest.mark.parametrize("family", FAMILIES)
def test_data_choose_the_family_they_came_from(family):
    u, v = draw(family.from_tau(0.5), 20_000)
    chosen = choose_copula(u, v, kendalltau(u, v).statistic)
    assert type(chosen) is family


@pytest.mark.parametrize("tau", [-0.4, 0.0, 1.0])
def test_frank_serves_where_the_others_are_undefined(tau):
    u, v = draw(Frank(1.0), 100)
    assert type(choose_copula(u, v, tau)) is Frank


@pytest.mark.parametrize("copula", WEAK_TO_STRONG, ids=str)
def test_extreme_probabilities_stay_probabilities(copula):
    corners = np.array([EPSILON, 0.5, 1 - EPSILON])
    p, v = (grid.ravel() for grid in np.meshgrid(corners, corners))
    with np.errstate(all="ignore"):
        results = np.concatenate([copula.inverse(p, v), copula.conditional(p, v)])
    # The textbook forms may miss 0 and 1 by rounding; the vine brings such values back inside.
    assert (results >= -1e-9).all()
    assert (results <= 1 + 1e-9).all()
