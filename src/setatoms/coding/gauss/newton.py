"""Newton steps with the fixed matrix ``G - diag(weaken)``, for a group of signals.

The matrix is factored into ``L D L^T``. Where atoms are nearly parallel, or lean so easily that the
matrix is not positive definite, pivots are raised: steps still lead downhill, far along the
direction in which such atoms replace each other, and one of them leaves at the first zero. A pivot
is at least the square of every entry below it, which the matrices of unit atoms have by themselves
if they are positive definite; so no entry of ``D^(1/2) L`` exceeds 1 (Gill and Murray, 1974).
"""

from __future__ import annotations

from setatoms._compile import kernel, part
from setatoms.coding.gauss.group import (
    BEFORE,
    BEGUN,
    BETA,
    BOUND,
    DAMPING,
    FIRST,
    GONE,
    HUGE,
    LEAVES,
    LENGTH,
    LIFT,
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
    length_of,
)
from setatoms.coding.gauss.objective import evaluate, refresh, refuse_inexact, settle
from setatoms.lanes import (
    Lanes,
    Vector,
    entry,
    factor_column,
    lane_kernel,
    pair_kernel,
    solve_lower,
    solve_upper,
    subtract_symmetric,
)

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
    _set_weaken(length_of(n_places, group), places[WEAKEN], places[SPREAD], signals[STRENGTH])
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


@part
def _correlate(n_places, group):
    """Fill near with first - G z."""
    near, z = group.places[NEAR], group.places[Z]
    for q in range(n_places):
        copy(group.places[FIRST, q], near[q])
    subtract_symmetric(near, group.gram, z, n_places)


@part
def _factor(n_places, group):
    """Fill the factor, column by column, and the scales."""
    gram, lower, places = group.gram, group.lower, group.places
    used = places[USED]
    for q in range(n_places):
        first = entry(q, 0)
        _enter(length_of(q, group), gram[first:], used[q], used, lower[first:])
        _enter_diagonal(gram[first + q], places[WEAKEN, q], used[q], lower[first + q])
    for p in range(n_places):
        factor_column(lower, group.products, places[SCALE], p, n_places, _LEAST_PIVOT)


@part
def _remove(n_places, group):
    """Update the factor where atoms have left.

    Their diagonal becomes as good as infinite, by an update of rank one (Gill, Golub, Murray and
    Saunders, 1974, method C1). Where none has left, nothing changes, not even in the last bit.
    """
    mark, scale, lower = group.places[LEAVES], group.places[SCALE], group.lower
    update, beta = group.signals[UPDATE], group.signals[BETA]
    _begin_update(update)
    first = 0
    while first < n_places and _most(mark[first]) <= 0.0:
        first += 1
    for p in range(first, n_places):
        _update_pivot(mark[p], scale[p], update, beta)
        for q in range(p + 1, n_places):
            _update_factor(mark[q], lower[entry(q, p)], mark[p], beta)


@part
def _newton_step(n_places, tol, group):
    """Take a step; atoms whose coefficient reaches zero leave.

    Return whether all signals are at rest, and whether an atom has left.
    """
    places, signals = group.places, group.signals
    length = length_of(n_places, group)
    _set_right(
        length, places[NEAR], places[LIFT], places[SPREAD], places[Z], places[SIGN], places[USED],
        signals[STRENGTH], signals[BOUND], places[RIGHT], places[STEP],
    )  # fmt: skip
    _solve_factored(n_places, group)
    _reset(signals[PROMISE], signals[SHORTEST], signals[GONE])
    _measure(
        length, places[STEP], places[RIGHT], places[Z], places[SIGN], places[ZERO_AT],
        signals[PROMISE], signals[SHORTEST],
    )  # fmt: skip
    at_rest = _decide(
        signals[PROMISE], signals[SHORTEST], signals[VALUE],
        signals[DAMPING], signals[BEFORE], signals[RUNNING], signals[LENGTH], tol,
    )  # fmt: skip
    changed = _move(
        length, places[Z], places[SIGN], places[USED], places[STEP], places[LEAVES],
        signals[GONE], places[ZERO_AT], signals[LENGTH],
    )  # fmt: skip
    subtract_symmetric(places[NEAR], group.gram, places[STEP], n_places)
    return at_rest > 0.0, changed > 0.0


@part
def _solve_factored(n_places, group):
    """Replace step by the solution of L D L^T step = right."""
    step, lower = group.places[STEP], group.lower
    solve_lower(lower, step, n_places)
    _multiply(length_of(n_places, group), step, group.places[SCALE])
    solve_upper(lower, step, n_places)


def _begin_body(running: Vector, *_: Vector) -> Lanes:
    return [running.constant(number) for number in (-1.0, 1.0, HUGE)], []


def _enter_body(gram: Vector, used_q: Vector, used_p: Vector, _lower: Vector) -> Lanes:
    return [gram * used_q * used_p], []


def _diagonal_body(gram: Vector, weaken: Vector, used: Vector, _lower: Vector) -> Lanes:
    return [(gram - weaken - 1.0) * used + 1.0], []


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


_begin = pair_kernel(3, 0, _begin_body, writes=(0, 1, 2))
_set_weaken = lane_kernel(
    3, 0, lambda _weaken, spread, strength: ([strength * spread], []), writes=(0,), pairs=(2,)
)
_enter = lane_kernel(4, 0, _enter_body, writes=(3,), pairs=(1,))
_enter_diagonal = pair_kernel(4, 0, _diagonal_body, writes=(3,))
_set_right = lane_kernel(10, 0, _right_body, writes=(8, 9), pairs=(6, 7))
_multiply = lane_kernel(2, 0, lambda target, factor: ([target * factor], []), writes=(0,))
_reset = pair_kernel(3, 0, _reset_body, writes=(0, 1, 2))
_begin_update = pair_kernel(1, 0, lambda update: ([update.constant(_BARRIER)], []), writes=(0,))
_most = pair_kernel(1, 0, lambda numbers: ([], [numbers]), reduces=("max",))
_update_pivot = pair_kernel(4, 0, _pivot_body, writes=(1, 2, 3))
_update_factor = pair_kernel(4, 0, _factor_body, writes=(0, 1))
_measure = lane_kernel(7, 0, _measure_body, writes=(4, 5, 6), pairs=(5, 6))
_decide = pair_kernel(7, 1, _decide_body, writes=(3, 4, 5, 6), reduces=("min",))
_move = lane_kernel(8, 0, _move_body, writes=(0, 1, 2, 3, 4, 5), reduces=("max",), pairs=(5, 7))
