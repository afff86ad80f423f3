"""Newton steps with the fixed matrix ``G - diag(weaken)``, for a group of signals.

The matrix is factored into ``L D L^T``. When an atom leaves, its place becomes empty and the rows
of the factor from there on are computed anew.
"""

from __future__ import annotations

from setatoms._compile import kernel
from setatoms.coding.gauss.group import (
    BEFORE,
    BOUND,
    COUNT,
    DAMPING,
    FAILED,
    LARGEST,
    LENGTH,
    RUNNING,
    SCALE,
    SHORTEST,
    SIZE,
    STRENGTH,
    USED,
    VALUE,
    ZERO_AT,
    copy,
)
from setatoms.coding.gauss.group_objective import evaluate, refresh, settle
from setatoms.coding.gauss.quantities import (
    FIRST,
    LIFT,
    LINE,
    NEAR,
    RIGHT,
    SIGN,
    SPREAD,
    STEP,
    WEAKEN,
    Z,
)
from setatoms.lanes import Lanes, Vector, lane_kernel, subtract_products

# Newton steps with a fixed matrix converge fast or not at all.
_NEWTON_STEPS = 12
# Smallest pivot of a matrix that is solved here.
_LEAST_PIVOT = 1e-3


@kernel
def solve_group(n_places, threshold, tol, group):
    """Solve the equations of all signals in the group from their z; fill z, lift, tau, rest, value.

    Before, value holds the last objective. RUNNING stays -1 where steps do not converge, FAILED
    becomes 1 where the matrix is not positive definite.
    """
    places, signals = group.places, group.signals
    _begin(SIZE, signals[RUNNING], signals[FAILED], signals[DAMPING], signals[BEFORE])
    for q in range(n_places):
        copy(SIZE, places[FIRST, q], places[NEAR, q])
        subtract_products(SIZE, places[NEAR, q], group.gram[q], places[Z], n_places)
    refresh(n_places, threshold, group)
    for q in range(n_places):
        _set_weaken(SIZE, places[WEAKEN, q], places[SPREAD, q], signals[STRENGTH])
    _factor(0, n_places, group)
    for _ in range(_NEWTON_STEPS):
        at_rest, changed = _newton_step(n_places, tol, group)
        if at_rest:
            break
        _factor(changed, n_places, group)
        refresh(n_places, threshold, group)
    settle(n_places, group)
    evaluate(n_places, threshold, group)


@kernel
def _factor(first, n_places, group):
    """Renew the rows of the factor from row first on."""
    places, signals, lower = group.places, group.signals, group.lower
    for q in range(first, n_places):
        for p in range(q):
            line = places[LINE, p]
            _entry(SIZE, group.gram[q, p], places[USED, q], places[USED, p], line)
            subtract_products(SIZE, line, places[LINE], lower[p], p)
            _scale(SIZE, line, places[SCALE, p], lower[q, p])
        pivot = places[SCALE, q]
        _diagonal(SIZE, group.gram[q, q], places[WEAKEN, q], places[USED, q], pivot)
        subtract_products(SIZE, pivot, places[LINE], lower[q], q)
        _invert_pivot(SIZE, pivot, signals[FAILED])


@kernel
def _newton_step(n_places, tol, group):
    """Take a step; atoms whose coefficient reaches zero leave.

    Return whether all signals are at rest, and the first place that an atom has left.
    """
    places, signals = group.places, group.signals
    for q in range(n_places):
        _set_right(
            SIZE, places[NEAR, q], places[LIFT, q], places[SPREAD, q], places[Z, q],
            places[SIGN, q], places[USED, q], signals[STRENGTH], signals[BOUND], places[RIGHT, q],
        )  # fmt: skip
    _solve_factored(n_places, group)
    _reset(SIZE, signals[LARGEST], signals[SHORTEST], signals[COUNT])
    for q in range(n_places):
        _measure(
            SIZE, places[STEP, q], places[Z, q], places[SIGN, q], places[USED, q],
            places[ZERO_AT, q], signals[LARGEST], signals[SHORTEST], signals[COUNT],
        )  # fmt: skip
    at_rest = _decide(
        SIZE, signals[LARGEST], signals[SHORTEST], signals[COUNT], signals[VALUE],
        signals[FAILED], signals[DAMPING], signals[BEFORE], signals[RUNNING], signals[LENGTH], tol,
    )  # fmt: skip
    changed = n_places
    for q in range(n_places - 1, -1, -1):
        left = _move(
            SIZE, places[Z, q], places[NEAR, q], places[SIGN, q], places[USED, q],
            places[STEP, q], places[RIGHT, q], places[WEAKEN, q], places[ZERO_AT, q],
            signals[LENGTH],
        )  # fmt: skip
        if left > 0.0:
            changed = q
    return at_rest > 0.0, changed


@kernel
def _solve_factored(n_places, group):
    """Fill step with the solution of L D L^T step = right."""
    places, lower = group.places, group.lower
    for q in range(n_places):
        copy(SIZE, places[RIGHT, q], places[STEP, q])
        subtract_products(SIZE, places[STEP, q], lower[q], places[STEP], q)
    for q in range(n_places):
        _multiply(SIZE, places[STEP, q], places[SCALE, q])
    for q in range(n_places - 1, 0, -1):
        for p in range(q):
            _subtract_product(SIZE, places[STEP, p], lower[q, p], places[STEP, q])


def _begin_body(running: Vector, *_: Vector) -> Lanes:
    return [running.constant(number) for number in (-1.0, 0.0, 1.0, 1e300)], []


def _entry_body(gram: Vector, used_q: Vector, used_p: Vector, _line: Vector) -> Lanes:
    return [gram * used_q * used_p], []


def _diagonal_body(gram: Vector, weaken: Vector, used: Vector, _pivot: Vector) -> Lanes:
    return [(gram - weaken - 1.0) * used + 1.0], []


def _pivot_body(pivot: Vector, failed: Vector) -> Lanes:
    failed = failed.constant(1.0).where_negative(pivot - _LEAST_PIVOT, failed)
    return [1.0 / pivot.at_least(_LEAST_PIVOT), failed], []


def _right_body(
    near: Vector, lift: Vector, spread: Vector, z: Vector, sign: Vector, used: Vector,
    strength: Vector, bound: Vector, _right: Vector,
) -> Lanes:  # fmt: skip
    return [(near + lift * (strength * spread * z - bound * sign)) * used], []


def _reset_body(largest: Vector, *_: Vector) -> Lanes:
    return [largest.constant(number) for number in (0.0, 1e300, 0.0)], []


def _measure_body(
    step: Vector, z: Vector, sign: Vector, used: Vector, _zero_at: Vector,
    largest: Vector, shortest: Vector, count: Vector,
) -> Lanes:  # fmt: skip
    zero_at = (-(z / step)).where_negative(step * sign, 1e300)
    return [zero_at, largest.at_least(abs(step)), shortest.at_most(zero_at), count + used], []


def _decide_body(
    largest: Vector, shortest: Vector, count: Vector, value: Vector, failed: Vector,
    damping: Vector, before: Vector, running: Vector, _length: Vector, tol: Vector,
) -> Lanes:  # fmt: skip
    yes, no = damping.constant(-1.0), damping.constant(1.0)
    # steps that do not shrink by half are cut, but not for ever
    shorter = (damping * 0.6).where_negative(0.3 - damping, damping)
    damping = shorter.where_negative(before * 0.5 - largest, damping)
    vanishes = no.where_negative(damping - shortest, yes)
    length = shortest.where_negative(vanishes, damping).where_negative(running, 0.0)
    before = damping.constant(1e300).where_negative(vanishes, largest)
    # on with it where an atom leaves, or where a step could still lower the objective
    goes_on = yes.where_negative(tol * value - count * largest * largest, no)
    goes_on = yes.where_negative(vanishes, goes_on)
    running = goes_on.where_negative(running, running)
    return [damping, before, running, length], [running.at_least(failed + failed - 1.0)]


def _move_body(
    z: Vector, near: Vector, sign: Vector, used: Vector,
    step: Vector, right: Vector, weaken: Vector, zero_at: Vector, length: Vector,
) -> Lanes:  # fmt: skip
    by, stays, zero = length * step, length - zero_at, z.constant(0.0)
    return [
        (z + by).where_negative(stays, zero),
        # u changes by G step = right + diag(weaken) step
        near - length * right - weaken * by,
        sign.where_negative(stays, zero),
        used.where_negative(stays, zero),
    ], [zero.where_negative(stays, used)]


_begin = lane_kernel(4, 0, _begin_body, writes=(0, 1, 2, 3))
_set_weaken = lane_kernel(
    3, 0, lambda _weaken, spread, strength: ([strength * spread], []), writes=(0,)
)
_entry = lane_kernel(4, 0, _entry_body, writes=(3,))
_scale = lane_kernel(3, 0, lambda line, scale, _lower: ([line * scale], []), writes=(2,))
_diagonal = lane_kernel(4, 0, _diagonal_body, writes=(3,))
_invert_pivot = lane_kernel(2, 0, _pivot_body, writes=(0, 1))
_set_right = lane_kernel(9, 0, _right_body, writes=(8,))
_multiply = lane_kernel(2, 0, lambda target, factor: ([target * factor], []), writes=(0,))
_subtract_product = lane_kernel(
    3, 0, lambda target, left, right: ([target - left * right], []), writes=(0,)
)
_reset = lane_kernel(3, 0, _reset_body, writes=(0, 1, 2))
_measure = lane_kernel(8, 0, _measure_body, writes=(4, 5, 6, 7))
_decide = lane_kernel(9, 1, _decide_body, writes=(5, 6, 7, 8), reduces=("min",))
_move = lane_kernel(9, 0, _move_body, writes=(0, 1, 2, 3), reduces=("max",))
