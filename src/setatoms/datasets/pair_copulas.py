"""The three pair copulas of the benchmark's vine, and how it chooses between them.

``u`` and ``v`` are values in (0, 1) of two uniform variables, ``C(u, v)`` their joint distribution
function. What a vine needs of a family is the conditional distribution ``P(U <= u | V = v)``, the
derivative of ``C`` by ``v``, and its inverse in ``u``.
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
# Conditional probabilities feed Kendall's tau, which counts ties, so up to this theta they are
# computed in the textbook's arrangement, as the reference does: equal inputs must stay ties, and
# nearly equal ones round together, exactly when they do there. Beyond it that form cancels or
# overflows.
_STRONG = 30.0


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
            debye: Array = quad(lambda t: t / (np.exp(t) - 1), EPSILON, theta.item())[0] / theta
            return 4 * (debye - 1) / theta + 1 - tau

        limits = np.finfo(np.float64)
        found = least_squares(misfit, 1.0, bounds=(np.log(limits.tiny), np.log(limits.max)))
        return cls(float(found.x[0]))

    def diagonal(self, z: Array) -> Array:
        """Return ``C(z, z)``, infinite for ``theta * z`` above 37.

        The reference has it so, and therefore prefers other families for strong dependence.
        """
        g_z, g_1 = np.expm1(-self.theta * z), np.expm1(-self.theta)
        below: Array = np.log1p(g_z**2 / g_1) / -self.theta
        return below

    def conditional(self, u: Array, v: Array) -> Array:
        """Return ``P(U <= u | V = v)``."""
        theta = self.theta
        if abs(theta) > _STRONG:
            odds: Array = np.exp(theta * (v - u)) * np.expm1(theta * (u - 1)) / np.expm1(-theta * u)
            return 1 / (1 + odds)
        g_u: Array = np.exp(-theta * u) - 1
        g_v: Array = np.exp(-theta * v) - 1
        g_1 = float(np.exp(-theta)) - 1
        return (g_u * g_v + g_u) / (g_u * g_v + g_1)

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
        if theta > _STRONG:
            return (1 + (v / u) ** theta - v**theta) ** (-(1 + theta) / theta)
        return v ** (-theta - 1) * (v**-theta + u**-theta - 1) ** ((-1 - theta) / theta)

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
        theta, x, y = self.theta, -np.log(u), -np.log(v)
        if theta > _STRONG:
            growth: Array = np.log1p((x / y) ** theta) / theta
            log_p: Array = (1 - theta) * growth - y * np.expm1(growth)
            return np.exp(log_p)
        both: Array = x**theta + y**theta
        joint: Array = np.exp(-(both ** (1 / theta)))
        return joint * both ** (-1 + 1 / theta) * y ** (theta - 1) / v

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


# Eight steps reach rounding error for p and v down to EPSILON and theta from 1 to 100.
_NEWTON_STEPS = 12


def choose_copula(u: Array, v: Array, tau: float) -> PairCopula:
    """Return the family, fitted by Kendall's ``tau``, whose tails are closest to the data's.

    Negative dependence takes Frank. Otherwise each family is ranked three times by its squared
    distance to the empirical concentration: of the lower tail, ``C(z, z) / z^2``, of the upper,
    ``(1 - 2 z + C(z, z)) / (1 - z)^2``, and of both; the best sum of ranks wins.
    """
    frank = Frank.from_tau(tau)
    # At tau = 1 the other two have no finite theta.
    if tau <= 0 or tau >= 1:
        return frank
    families: list[PairCopula] = [frank, Clayton.from_tau(tau), Gumbel.from_tau(tau)]
    grid = np.linspace(EPSILON, 1 - EPSILON, 50)
    below = np.searchsorted(np.sort(np.maximum(u, v)), grid, side="right") / u.size
    above = (u.size - np.searchsorted(np.sort(np.minimum(u, v)), grid, side="left")) / u.size
    wanted = _concentrations(grid, below, above)
    distances = np.empty((3, len(families)))
    for k, family in enumerate(families):
        joint = family.diagonal(grid)
        gap = (wanted - _concentrations(grid, joint, 1 - 2 * grid + joint)) ** 2
        distances[:2, k] = gap[0, below > 0].sum(), gap[1, above > 0].sum()
    distances[2] = distances[:2].sum(axis=0)
    return families[int(np.argmax(rankdata(-distances, axis=1).sum(axis=0)))]


def _concentrations(z: Array, below: Array, above: Array) -> Array:
    """Return (2, n): the mass of both tails relative to that of independent variables."""
    return np.array([below / z**2, above / (1 - z) ** 2])
