"""Newton steps with the fixed matrix ``G - diag(weaken)``, for a group of signals.

The matrix is factored into ``L D L^T``. Where atoms are nearly parallel, or lean so easily that the
matrix is not positive definite, pivots are raised: steps still lead downhill, far along the
direction in which such atoms replace each other, and one of them leaves at the first zero. A pivot
is at least the square of every entry below it, which the matrices of unit atoms have by themselves
if they are positive definite; so no entry of ``D^(1/2) L`` exceeds 1 (Gill and Murray, 1974).
"""

from __future__ import annotations

from setatoms._compile import kernel
from setatoms.coding.gauss.group import (
    BEFORE,
    BEGUN,
    BETA,
    BOUND,
    DAMPING,
    FIRST,
    GONE,
    HUGE,
    LEAST,
    LENGTH,
    LIFT,
    LINE,
    NEAR,
    PROMISE,
    RIGHT,
    RUNNING,
    SCALE,
    SHORTEST,
    SIGN,
    SPREAD,
    STEP,
    STRENGTH,
    UPDATE,
    USED,
    VALUE,
    WEAKEN,
    ZERO_AT,
    Z,
    copy,
    entry,
)
from setatoms.coding.gauss.objective import evaluate, refresh, refuse_inexact, settle
from setatoms.lanes import Lanes, Vector, subtract_multiples, subtract_products, vector_kernel

# Newton steps with a fixed matrix converge fast or not at all.
_NEWTON_STEPS = 12
# What the diagonal of the matrix gains where an atom leaves: as good as infinity.
_BARRIER = 1e12
_LEAST_PIVOT = 1e-6


@kernel
def solve_group(n_places, threshold, budget, group):
    """Solve the equations of all signals in the group from their z; fill z, lift, tau, rest, value.

    BEGUN is the objective before the first step, with a tau that has not settled yet. RUNNING
    stays -1 where steps have not converged.
    """
    places, signals = group.places, group.signals
    _begin(signals[RUNNING], signals[DAMPING], signals[BEFORE])
    _correlate(n_places, group)
    refresh(n_places, threshold, group)
    evaluate(n_places, threshold, group)
    copy(signals[VALUE], signals[BEGUN])
    for q in range(n_places):
        _set_weaken(places[WEAKEN, q], places[SPREAD, q], signals[STRENGTH])
    _factor(n_places, group)
    for _ in range(_NEWTON_STEPS):
        at_rest, changed = _newton_step(n_places, budget.tol, group)
        if at_rest:
            break
        if changed:
            _remove(n_places, group)
        refresh(n_places, threshold, group)
    settle(n_places, budget.resolution, group)
    evaluate(n_places, threshold, group)
    refuse_inexact(budget.resolution, group)


@kernel
def _correlate(n_places, group):
    """Fill near with first - G z."""
    near, z = group.places[NEAR], group.places[Z]
    for q in range(n_places):
        row = group.gram[entry(q, 0) :]
        copy(group.places[FIRST, q], near[q])
        subtract_products(near[q], row, z, q + 1)
        subtract_multiples(near, row, z[q], q)


@kernel
def _factor(n_places, group):
    """Fill the factor, column by column, and the scales."""
    places, lower = group.places, group.lower
    used, line = places[USED], places[LINE]
    for q in range(n_places):
        first = entry(q, 0)
        for p in range(q):
            _enter(group.gram[first + p], used[q], used[p], lower[first + p])
        _enter_diagonal(group.gram[first + q], places[WEAKEN, q], used[q], lower[first + q])
    for p in range(n_places):
        scale = places[SCALE, p]
        least = group.signals[LEAST]
        _begin_least(least)
        for q in range(p + 1, n_places):
            _raise_least(least, lower[entry(q, p)])
        _invert_pivot(lower[entry(p, p)], least, scale)
        for q in range(p + 1, n_places):
            first = entry(q, p)
            _scale(lower[first], scale, line[q])
            subtract_multiples(lower[first + 1 :], line[p + 1 :], lower[first], q - p)


@kernel
def _remove(n_places, group):
    """Update the factor where atoms have left, which are marked in line.

    Their diagonal becomes as good as infinite, by an update of rank one (Gill, Golub, Murray and
    Saunders, 1974, method C1). Where none has left, nothing changes, not even in the last bit.
    """
    mark, scale, lower = group.places[LINE], group.places[SCALE], group.lower
    update, beta = group.signals[UPDATE], group.signals[BETA]
    _begin_update(update)
    for p in range(n_places):
        _update_pivot(mark[p], scale[p], update, beta)
        for q in range(p + 1, n_places):
            _update_factor(mark[q], lower[entry(q, p)], mark[p], beta)


@kernel
def _newton_step(n_places, tol, group):
    """Take a step; atoms whose coefficient reaches zero leave.

    Return whether all signals are at rest, and whether an atom has left.
    """
    places, signals = group.places, group.signals
    for q in range(n_places):
        _set_right(
            places[NEAR, q], places[LIFT, q], places[SPREAD, q], places[Z, q],
            places[SIGN, q], places[USED, q], signals[STRENGTH], signals[BOUND],
            places[RIGHT, q], places[STEP, q],
        )  # fmt: skip
    _solve_factored(n_places, group)
    _reset(signals[PROMISE], signals[SHORTEST], signals[GONE])
    for q in range(n_places):
        _measure(
            places[STEP, q], places[RIGHT, q], places[Z, q], places[SIGN, q],
            places[ZERO_AT, q], signals[PROMISE], signals[SHORTEST],
        )  # fmt: skip
    at_rest = _decide(
        signals[PROMISE], signals[SHORTEST], signals[VALUE],
        signals[DAMPING], signals[BEFORE], signals[RUNNING], signals[LENGTH], tol,
    )  # fmt: skip
    changed = 0.0
    for q in range(n_places):
        left = _move(
            places[Z, q], places[SIGN, q], places[USED, q],
            places[STEP, q], places[LINE, q], signals[GONE], places[ZERO_AT, q], signals[LENGTH],
        )  # fmt: skip
        changed = max(changed, left)
    _follow_step(n_places, group)
    return at_rest > 0.0, changed > 0.0


@kernel
def _solve_factored(n_places, group):
    """Replace step by the solution of L D L^T step = right."""
    step, lower = group.places[STEP], group.lower
    for q in range(n_places):
        subtract_products(step[q], lower[entry(q, 0) :], step, q)
    for q in range(n_places):
        _multiply(step[q], group.places[SCALE, q])
    for q in range(n_places - 1, 0, -1):
        subtract_multiples(step, lower[entry(q, 0) :], step[q], q)


@kernel
def _follow_step(n_places, group):
    """Subtract G step, as far as the step went, from near."""
    near, step = group.places[NEAR], group.places[STEP]
    for q in range(n_places):
        row = group.gram[entry(q, 0) :]
        subtract_products(near[q], row, step, q + 1)
        subtract_multiples(near, row, step[q], q)


def _begin_body(running: Vector, *_: Vector) -> Lanes:
    return [running.constant(number) for number in (-1.0, 1.0, HUGE)], []


def _enter_body(gram: Vector, used_q: Vector, used_p: Vector, _lower: Vector) -> Lanes:
    return [gram * used_q * used_p], []


def _diagonal_body(gram: Vector, weaken: Vector, used: Vector, _lower: Vector) -> Lanes:
    return [(gram - weaken - 1.0) * used + 1.0], []


def _scale_body(factor: Vector, scale: Vector, _line: Vector) -> Lanes:
    return [factor * scale, factor], []


def _right_body(
    near: Vector, lift: Vector, spread: Vector, z: Vector, sign: Vector, used: Vector,
    strength: Vector, bound: Vector, _right: Vector, _step: Vector,
) -> Lanes:  # fmt: skip
    right = (near + lift * (strength * spread * z - bound * sign)) * used
    return [right, right], []


def _reset_body(promise: Vector, *_: Vector) -> Lanes:
    return [promise.constant(number) for number in (0.0, HUGE, 0.0)], []


def _measure_body(
    step: Vector, right: Vector, z: Vector, sign: Vector, _zero_at: Vector,
    promise: Vector, shortest: Vector,
) -> Lanes:  # fmt: skip
    zero_at = (-(z / step)).at_least(0.0).where_negative(step * sign, HUGE)
    return [zero_at, promise + step * right, shortest.at_most(zero_at)], []


def _decide_body(
    promise: Vector, shortest: Vector, value: Vector,
    damping: Vector, before: Vector, running: Vector, _length: Vector, tol: Vector,
) -> Lanes:  # fmt: skip
    yes, no = damping.constant(-1.0), damping.constant(1.0)
    # steps that do not shrink by half are cut, but not for ever
    shorter = (damping * 0.6).where_negative(0.3 - damping, damping)
    damping = shorter.where_negative(before * 0.25 - promise, damping)
    vanishes = no.where_negative(damping - shortest, yes)
    length = shortest.where_negative(vanishes, damping).where_negative(running, 0.0)
    before = damping.constant(HUGE).where_negative(vanishes, promise)
    # on with it where an atom leaves, or where a step could still lower the objective
    goes_on = yes.where_negative(tol * value - promise, no)
    goes_on = yes.where_negative(vanishes, goes_on)
    running = goes_on.where_negative(running, running)
    return [damping, before, running, length], [running]


def _move_body(
    z: Vector, sign: Vector, used: Vector, step: Vector, _mark: Vector, gone: Vector,
    zero_at: Vector, length: Vector,
) -> Lanes:  # fmt: skip
    zero = z.constant(0.0)
    # of several atoms that vanish together, the first leaves, the others at the next step
    leaves = used.where_negative(gone - 0.5, zero)
    leaves = zero.where_negative(length - zero_at, leaves)
    stays = leaves - 0.5
    moved = (z + length * step * used).where_negative(stays, zero)
    return [
        moved,
        sign.where_negative(stays, zero),
        used.where_negative(stays, zero),
        moved - z,
        leaves,
        gone + leaves,
    ], [leaves]


def _pivot_body(mark: Vector, scale: Vector, update: Vector, _beta: Vector) -> Lanes:
    change = update * mark * scale
    shrink = 1.0 / (change * mark + 1.0)
    return [scale * shrink, update * shrink, change * shrink], []


def _factor_body(mark: Vector, lower: Vector, own: Vector, beta: Vector) -> Lanes:
    mark = mark - own * lower
    return [mark, lower + beta * mark], []


_begin = vector_kernel(3, 0, _begin_body, writes=(0, 1, 2))
_set_weaken = vector_kernel(
    3, 0, lambda _weaken, spread, strength: ([strength * spread], []), writes=(0,)
)
_enter = vector_kernel(4, 0, _enter_body, writes=(3,))
_enter_diagonal = vector_kernel(4, 0, _diagonal_body, writes=(3,))
_invert_pivot = vector_kernel(
    3, 0, lambda pivot, least, _scale: ([1.0 / pivot.at_least(least)], []), writes=(2,)
)
_begin_least = vector_kernel(1, 0, lambda least: ([least.constant(_LEAST_PIVOT)], []), writes=(0,))
_raise_least = vector_kernel(
    2, 0, lambda least, entry: ([least.at_least(entry * entry)], []), writes=(0,)
)
_scale = vector_kernel(3, 0, _scale_body, writes=(0, 2))
_set_right = vector_kernel(10, 0, _right_body, writes=(8, 9))
_multiply = vector_kernel(2, 0, lambda target, factor: ([target * factor], []), writes=(0,))
_reset = vector_kernel(3, 0, _reset_body, writes=(0, 1, 2))
_begin_update = vector_kernel(1, 0, lambda update: ([update.constant(_BARRIER)], []), writes=(0,))
_update_pivot = vector_kernel(4, 0, _pivot_body, writes=(1, 2, 3))
_update_factor = vector_kernel(4, 0, _factor_body, writes=(0, 1))
_measure = vector_kernel(7, 0, _measure_body, writes=(4, 5, 6))
_decide = vector_kernel(7, 1, _decide_body, writes=(3, 4, 5, 6), reduces=("min",))
_move = vector_kernel(8, 0, _move_body, writes=(0, 1, 2, 3, 4, 5), reduces=("max",))
