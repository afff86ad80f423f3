"""The three pair copulas of the benchmark's vine, and how it chooses between them.

``u`` and ``v`` are values in (0, 1) of two uniform variables, ``C(u, v)`` their joint distribution
function. What a vine needs of a family is the conditional distribution ``P(U <= u | V = v)``, the
derivative of ``C`` by ``v``, and its inverse in ``u``. Formulas are arranged so that no
intermediate overflows or cancels, however strong the dependence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import least_squares
from scipy.stats import rankdata

Array = NDArray[np.float64]

# The reference keeps probabilities this far from 0 and 1: the spacing of single precision at 1.
EPSILON = float(np.finfo(np.float32).eps)


class PairCopula(Protocol):
    """What the vine asks of a family."""

    @property
    def theta(self) -> float:
        """The strength of the dependence."""

    def diagonal(self, z: Array) -> Array:
        """Return ``C(z, z)``."""

    def conditional(self, u: Array, v: Array) -> Array:
        """Return ``P(U <= u | V = v)``."""

    def inverse(self, p: Array, v: Array) -> Array:
        """Return the ``u`` with ``P(U <= u | V = v) = p``."""


@dataclass(frozen=True)
class Frank:
    """``C = -log(1 + g(u) g(v) / g(1)) / theta`` with ``g(z) = exp(-theta z) - 1``."""

    theta: float

    @classmethod
    def from_tau(cls, tau: float) -> Frank:
        """Return the copula whose Kendall's tau is ``1 - 4 / theta * (1 - debye(theta))``.

        The root is sought as the reference does, by bounded least squares from 1. For strong
        dependence that solver stops short of the exact root, and the generated rows show it.
        """

        def misfit(theta: Array) -> Array:
            debye = quad(lambda t: t / np.expm1(t), EPSILON, theta.item())[0] / theta
            return 4 * (debye - 1) / theta + 1 - tau

        limits = np.finfo(np.float64)
        found = least_squares(misfit, 1.0, bounds=(np.log(limits.tiny), np.log(limits.max)))
        return cls(float(found.x[0]))

    def diagonal(self, z: Array) -> Array:
        """Return ``C(z, z)``."""
        return -np.log1p(np.expm1(-self.theta * z) ** 2 / np.expm1(-self.theta)) / self.theta

    def conditional(self, u: Array, v: Array) -> Array:
        """Return ``P(U <= u | V = v)``."""
        theta = self.theta
        against = np.exp(theta * (v - u)) * np.expm1(theta * (u - 1)) / np.expm1(-theta * u)
        return 1 / (1 + against)

    def inverse(self, p: Array, v: Array) -> Array:
        """Return the ``u`` with ``P(U <= u | V = v) = p``."""
        log_p, log_q = np.log(p), np.log1p(-p) - self.theta * v
        return (np.logaddexp(log_p, log_q) - np.logaddexp(log_p - self.theta, log_q)) / self.theta


@dataclass(frozen=True)
class Clayton:
    """``C = (u^-theta + v^-theta - 1)^(-1/theta)`` with ``theta > 0``."""

    theta: float

    @classmethod
    def from_tau(cls, tau: float) -> Clayton:
        """Return the copula with Kendall's ``tau = theta / (theta + 2)``."""
        return cls(2 * tau / (1 - tau))

    def diagonal(self, z: Array) -> Array:
        """Return ``C(z, z)``."""
        return (2 * z**-self.theta - 1) ** (-1 / self.theta)

    def conditional(self, u: Array, v: Array) -> Array:
        """Return ``P(U <= u | V = v)``."""
        theta = self.theta
        ratio = (v / u) ** theta - v**theta
        return (1 + ratio) ** (-(1 + theta) / theta)

    def inverse(self, p: Array, v: Array) -> Array:
        """Return the ``u`` with ``P(U <= u | V = v) = p``."""
        theta = self.theta
        log_ratio = np.log(np.expm1(-theta / (1 + theta) * np.log(p))) - theta * np.log(v)
        return np.exp(-np.logaddexp(0, log_ratio) / theta)


@dataclass(frozen=True)
class Gumbel:
    """``C = exp(-((-log u)^theta + (-log v)^theta)^(1/theta))`` with ``theta >= 1``."""

    theta: float

    @classmethod
    def from_tau(cls, tau: float) -> Gumbel:
        """Return the copula with Kendall's ``tau = (theta - 1) / theta``."""
        return cls(1 / (1 - tau))

    def diagonal(self, z: Array) -> Array:
        """Return ``C(z, z)``."""
        return z ** (2 ** (1 / self.theta))

    def conditional(self, u: Array, v: Array) -> Array:
        """Return ``P(U <= u | V = v)``."""
        theta, y = self.theta, -np.log(v)
        log_growth = np.log1p((-np.log(u) / y) ** theta) / theta
        return np.exp(-y * np.expm1(log_growth) + (1 - theta) * log_growth)

    def inverse(self, p: Array, v: Array) -> Array:
        """Return the ``u`` with ``P(U <= u | V = v) = p``.

        The logarithm of ``conditional`` leaves ``y * expm1(w) + (theta - 1) * w = -log(p)`` to be
        solved for ``w``, convex and increasing: Newton's steps from above fall onto the root.
        """
        theta, y, target = self.theta, -np.log(v), -np.log(p)
        w = np.minimum(target / (y + theta - 1), np.log1p(target / y))
        for _ in range(_NEWTON_STEPS):
            w = w - (y * np.expm1(w) + (theta - 1) * w - target) / (y * np.exp(w) + theta - 1)
        return np.exp(-y * np.expm1(theta * np.maximum(w, 0)) ** (1 / theta))


# Measured over p and v down to EPSILON and theta from 1 to 100: nine steps reach rounding error.
_NEWTON_STEPS = 12


def choose_copula(u: Array, v: Array, tau: float) -> PairCopula:
    """Return the family, fitted by Kendall's ``tau``, whose tails are closest to the data's.

    Negative dependence takes Frank. Otherwise each family is ranked three times by its squared
    distance to the empirical concentration ``C(z, z) / z^2`` of the lower tail,
    ``(1 - 2 z + C(z, z)) / (1 - z)^2`` of the upper, and both; the largest sum of ranks wins.
    """
    frank = Frank.from_tau(tau)
    # At tau = 1 the other two have no finite theta.
    if tau <= 0 or tau >= 1:
        return frank
    families: list[PairCopula] = [frank, Clayton.from_tau(tau), Gumbel.from_tau(tau)]
    grid = np.linspace(EPSILON, 1 - EPSILON, 50)
    below = np.searchsorted(np.sort(np.maximum(u, v)), grid, side="right") / u.size
    above = 1 - np.searchsorted(np.sort(np.minimum(u, v)), grid, side="left") / u.size
    lower, upper = grid[below > 0], grid[above > 0]
    wanted_lower = below[below > 0] / lower**2
    wanted_upper = above[above > 0] / (1 - upper) ** 2
    distances = np.empty((2, len(families)))
    for k, family in enumerate(families):
        given_lower = family.diagonal(lower) / lower**2
        given_upper = (1 - 2 * upper + family.diagonal(upper)) / (1 - upper) ** 2
        distances[0, k] = np.sum((wanted_lower - given_lower) ** 2)
        distances[1, k] = np.sum((wanted_upper - given_upper) ** 2)
    ranks = rankdata(-np.vstack([distances, distances.sum(axis=0)]), axis=1)
    return families[int(np.argmax(ranks.sum(axis=0)))]
