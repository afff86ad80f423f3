"""The quantities that all atoms of a code share: tau, the alphas, and the objective.

The equations stand in `setatoms.coding.gauss.active_set`.
"""

from __future__ import annotations

from setatoms._compile import kernel
from setatoms.coding.gauss.quantities import FIRST, LIFT, NEAR, SIGN, SPREAD, Z
from setatoms.coding.gauss.table import whole_vectors
from setatoms.lanes import Lanes, Vector, lane_kernel


@kernel
def refresh(k, square, tau, table):
    """Renew 1/alpha and tau for the present z, once; return tau and ||e||^2."""
    rest = _unexplained(k, square, table)
    return _renewed(k, rest, tau, table), rest


@kernel
def _unexplained(k, square, table):
    """Return ||e||^2."""
    explained = _explained(whole_vectors(k), table[Z], table[FIRST], table[NEAR])
    return max(square - explained, 0.0)


@kernel
def _renewed(k, rest, tau, table):
    """Renew 1/alpha for this tau; return the tau that follows from it."""
    inverse = 1.0 / (1.0 + tau)
    return _renew(
        whole_vectors(k), table[Z], table[NEAR], table[SPREAD], table[LIFT],
        inverse, rest * inverse * inverse,
    )  # fmt: skip


def _explained_body(z: Vector, first: Vector, near: Vector) -> Lanes:
    return [], [z * (first + near)]


def _renew_body(
    z: Vector, near: Vector, spread: Vector, _lift: Vector, inverse: Vector, square: Vector
) -> Lanes:
    beta = spread * z
    lean = beta * near * inverse
    alpha = (1.0 - beta * beta * square + lean * lean).at_least(1e-12).sqrt() - lean
    lift = 1.0 / alpha
    return [lift], [beta * z * lift]


_explained = lane_kernel(3, 0, _explained_body, reduces=("sum",))
_renew = lane_kernel(4, 2, _renew_body, writes=(3,), reduces=("sum",))


@kernel
def settle(k, square, tau, table):
    """Renew 1/alpha and tau until they agree; return tau and ||e||^2.

    For fixed z this is a fixed point in one variable, found by the secant method.
    """
    rest = _unexplained(k, square, table)
    gap = _renewed(k, rest, tau, table) - tau
    step = gap
    for _ in range(60):
        if abs(gap) <= 1e-15 * (1.0 + tau):
            break
        before = gap
        tau += step
        gap = _renewed(k, rest, tau, table) - tau
        step = gap * step / (before - gap) if gap != before else gap
    return tau, rest


@kernel
def objective(k, threshold, tau, rest, table):
    """Return the objective (in units of lam) of a settled code."""
    inverse = 1.0 / (1.0 + tau)
    square = rest * inverse * inverse
    return square + _price(
        whole_vectors(k), table[Z], table[LIFT], table[NEAR], table[SPREAD], table[SIGN],
        inverse, square, 2.0 * threshold,
    )  # fmt: skip


def _price_body(
    z: Vector, lift: Vector, near: Vector, spread: Vector, sign: Vector,
    inverse: Vector, square: Vector, threshold: Vector,
) -> Lanes:  # fmt: skip
    # a - d = (alpha - 1) d + beta r; its norm without the cancellation in alpha - 1
    beta = spread * z
    lean = beta * near * inverse
    bent = beta * beta * square
    across = lean * lean - bent
    dip = across / ((across + 1.0).at_least(1e-12).sqrt() + 1.0) - lean
    distance = dip * (dip + lean + lean) + bent
    return [], [distance / spread + threshold * sign * z * lift]


_price = lane_kernel(5, 3, _price_body, reduces=("sum",))
