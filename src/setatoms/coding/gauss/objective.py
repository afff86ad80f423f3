"""What the atoms of a code share, for a group of signals: tau, the alphas, and the objective.

The equations stand in `setatoms.coding.gauss.problem`.
"""

from __future__ import annotations

from setatoms._compile import part
from setatoms.coding.gauss.group import (
    BOUND,
    FIRST,
    GAP,
    GAP_BEFORE,
    HUGE,
    INVERSE,
    LEFT,
    LIFT,
    NEAR,
    REST,
    RUNNING,
    SECANT,
    SPREAD,
    SQUARE,
    STRENGTH,
    TAU,
    VALUE,
    Z,
    copy,
    length_of,
)
from setatoms.lanes import Lanes, Vector, lane_kernel, pair_kernel

# Of which no ratio can be taken, in either precision.
_NO_CHANGE = 1e-37
# How many times the resolution tau may be off in the end.
_SETTLED = 64.0
# How many times ||y||^2 the square of e = (1 + tau) r may be: beyond, z says little about r.
_MOST_REST = 4.0


@part
def refresh(n_places, threshold, group):
    """Renew ||e||^2, 1/alpha and tau for the present z, once, and what follows from them.

    Signals at rest keep their tau: how often others are refreshed is not to be seen in it.
    """
    signals = group.signals
    _measure_rest(n_places, group)
    _renew(n_places, group)
    _follow(
        signals[REST], signals[RUNNING], signals[GAP], signals[TAU], signals[STRENGTH],
        signals[BOUND], threshold,
    )  # fmt: skip


@part
def settle(n_places, resolution, group):
    """Renew 1/alpha and tau until they agree, by the secant method, signal by signal.

    They do when tau would change by no more than that share of 1 + tau.
    """
    signals = group.signals
    _measure_rest(n_places, group)
    _renew(n_places, group)
    copy(signals[GAP], signals[SECANT])
    for _ in range(60):
        if _disagreement(signals[GAP], signals[TAU], resolution) <= 0.0:
            break
        _take_secant(signals[TAU], signals[GAP], signals[GAP_BEFORE], signals[SECANT], resolution)
        _renew(n_places, group)
        _aim_secant(signals[GAP], signals[GAP_BEFORE], signals[SECANT])


@part
def evaluate(n_places, threshold, group):
    """Fill value with the objective (in units of lam)."""
    places, signals = group.places, group.signals
    copy(signals[LEFT], signals[VALUE])
    _add_prices(
        length_of(n_places, group), places[Z], places[LIFT], places[NEAR], places[SPREAD],
        signals[INVERSE], signals[LEFT], signals[VALUE], 2.0 * threshold,
    )  # fmt: skip


@part
def refuse_inexact(resolution, group):
    """Fill value with HUGE where r does not follow from z: tau is still off, or e is too long."""
    signals = group.signals
    _refuse(
        signals[GAP], signals[TAU], signals[REST], signals[SQUARE], signals[VALUE],
        _SETTLED * resolution,
    )  # fmt: skip


@part
def _measure_rest(n_places, group):
    """Fill ||e||^2."""
    places, signals = group.places, group.signals
    copy(signals[SQUARE], signals[REST])
    _explain(length_of(n_places, group), signals[REST], places[Z], places[FIRST], places[NEAR])


@part
def _renew(n_places, group):
    """Renew 1/alpha for the present tau; fill gap with the tau that follows less this one."""
    places, signals = group.places, group.signals
    _prepare(signals[TAU], signals[REST], signals[INVERSE], signals[LEFT], signals[GAP])
    _renew_lifts(
        length_of(n_places, group), places[Z], places[NEAR], places[SPREAD], places[LIFT],
        signals[GAP], signals[INVERSE], signals[LEFT],
    )  # fmt: skip


def _explain_body(rest: Vector, z: Vector, first: Vector, near: Vector) -> Lanes:
    return [rest - z * (first + near)], []


def _prepare_body(
    tau: Vector, rest: Vector, _inverse: Vector, _left: Vector, _gap: Vector
) -> Lanes:
    inverse = 1.0 / (tau + 1.0)
    return [inverse, rest.at_least(0.0) * inverse * inverse, -tau], []


def _renew_body(
    z: Vector, near: Vector, spread: Vector, _lift: Vector,
    gap: Vector, inverse: Vector, left: Vector,
) -> Lanes:  # fmt: skip
    beta = spread * z
    lean = beta * near * inverse
    alpha = (1.0 - beta * beta * left + lean * lean).at_least(1e-12).sqrt() - lean
    lift = 1.0 / alpha
    return [lift, gap + beta * z * lift], []


def _follow_body(
    rest: Vector, running: Vector, gap: Vector, tau: Vector,
    _strength: Vector, _bound: Vector, threshold: Vector,
) -> Lanes:  # fmt: skip
    tau = (tau + gap).where_negative(running, tau)
    grown = tau + 1.0
    return [tau, rest.at_least(0.0) / grown, grown * threshold], []


def _excess(gap: Vector, tau: Vector, resolution: Vector) -> Vector:
    return abs(gap) - (tau + 1.0) * resolution


def _take_body(
    tau: Vector, gap: Vector, _before: Vector, secant: Vector, resolution: Vector
) -> Lanes:
    step = tau.constant(0.0).where_negative(_excess(gap, tau, resolution), secant)
    return [tau + step, gap, step], []


def _aim_body(gap: Vector, before: Vector, secant: Vector) -> Lanes:
    change = before - gap
    return [gap.where_negative(abs(change) - _NO_CHANGE, gap * secant / change)], []


def _price_body(
    z: Vector, lift: Vector, near: Vector, spread: Vector,
    inverse: Vector, left: Vector, value: Vector, threshold: Vector,
) -> Lanes:  # fmt: skip
    # a - d = (alpha - 1) d + beta r; its norm without the cancellation in alpha - 1
    beta = spread * z
    lean = beta * near * inverse
    bent = beta * beta * left
    across = lean * lean - bent
    dip = across / ((across + 1.0).at_least(1e-12).sqrt() + 1.0) - lean
    distance = dip * (dip + lean + lean) + bent
    total = value + distance / spread + threshold * abs(z * lift)
    # no unit vector leans that far, and none in use points away from its centre: this is no code
    none = total.constant(HUGE)
    return [none.where_negative(across + 1.0, none.where_negative(lift, total))], []


def _refuse_body(
    gap: Vector, tau: Vector, rest: Vector, square: Vector, value: Vector, most: Vector
) -> Lanes:
    value = value.where_negative(_excess(gap, tau, most), HUGE)
    return [value.where_negative(rest - (square * _MOST_REST + _NO_CHANGE), HUGE)], []


_explain = lane_kernel(4, 0, _explain_body, writes=(0,), pairs=(0,))
_prepare = pair_kernel(5, 0, _prepare_body, writes=(2, 3, 4))
_renew_lifts = lane_kernel(7, 0, _renew_body, writes=(3, 4), pairs=(4, 5, 6))
_follow = pair_kernel(6, 1, _follow_body, writes=(3, 4, 5))
_disagreement = pair_kernel(2, 1, lambda *given: ([], [_excess(*given)]), reduces=("max",))
_take_secant = pair_kernel(4, 1, _take_body, writes=(0, 2, 3))
_aim_secant = pair_kernel(3, 0, _aim_body, writes=(2,))
_refuse = pair_kernel(5, 1, _refuse_body, writes=(4,))
_add_prices = lane_kernel(7, 1, _price_body, writes=(6,), pairs=(4, 5, 6))
