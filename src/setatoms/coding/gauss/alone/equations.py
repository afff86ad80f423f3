"""The exact equations of a signal, linearised, and the step that solves them.

    a_j = unit(d_j + v_j x_j r),      r = y - sum_j x_j a_j,      <a_j, r> = h sign(x_j),

in the coefficients ``x`` and in ``r``. With ``w_j = v_j alpha_j x_j^2``, ``beta_j = v_j alpha_j
x_j``, ``s_j = <a_j, r>`` and ``b_j = (1 - beta_j s_j) a_j + beta_j r``, the second is, linearised,

    B dr = -F - sum_j dx_j b_j,      B = (1 + tau) I - sum_j w_j a_j a_j',      tau = sum_j w_j,

where ``F`` is what it is off by, and the third then reads ``H dx = s - h sign(x) - b' B^-1 F`` with
``H = b' B^-1 b - diag(v_j alpha_j (||r||^2 - s_j^2))``. ``H`` plus a multiple of the identity makes
steps that lower the objective (Levenberg, Marquardt).
"""

from __future__ import annotations

from setatoms._compile import inlined
from setatoms.coding.gauss.alone.cholesky import factorise, solve_lower, solve_upper
from setatoms.coding.gauss.alone.space import (
    ALONG,
    ALPHA,
    BETA,
    INNER_SCALE,
    KEEP,
    PRODUCT,
    RIGHT,
    ROOT,
    ROW,
    SCALE,
    SIGN,
    SOLVED,
    SPREAD,
    STEP,
    X,
    add_multiple,
    combine,
    copy_numbers,
    inner_products,
    whole,
)
from setatoms.lanes import Lanes, Vector, lane_kernel, subtract_rows
from setatoms.vectors import inner_product


@inlined
def linearise(k, threshold, work):
    """Fill the equations at a code; return 1 + tau."""
    n_features, numbers, fit = work.fit.shape[0], work.numbers, work.fit
    members, length = work.members, whole(k)
    square = inner_product(n_features, fit, fit)
    combine(n_features, fit, work.residual, work.off, 1.0, -1.0)
    inner_products(k, members, fit, numbers[ALONG])
    inner_products(k, members, work.off, numbers[PRODUCT])
    grown = 1.0 + _weigh(
        length, numbers[X], numbers[BETA], numbers[ALONG], numbers[PRODUCT],
        numbers[ROOT], numbers[KEEP], numbers[SOLVED],
    )  # fmt: skip
    for q in range(k):
        for p in range(q + 1):
            work.gram[q, p] = work.gram[p, q] = inner_product(n_features, members[q], members[p])
    for q in range(k):
        gram, inner = work.gram[q], work.inner[q]
        _begin_inner(length, gram, numbers[ROOT], inner, -numbers[ROOT, q])
        inner[q] += grown
    factorise(k, 0.0, work.inner, work.inner_factor, numbers[INNER_SCALE], work.order)
    solve_lower(k, work.inner_factor[0], numbers[INNER_SCALE], numbers[SOLVED])
    _look_across(k, work)
    _begin_right(
        length, numbers[ALONG], numbers[SIGN], numbers[KEEP], numbers[PRODUCT], numbers[BETA],
        numbers[RIGHT], grown, threshold, inner_product(n_features, fit, work.off),
    )  # fmt: skip
    subtract_rows(
        length, numbers[RIGHT], numbers[RIGHT], work.across, work.order, numbers[SOLVED], k,
        1.0 / grown,
    )  # fmt: skip
    # a sum over whole vectors, see `find_step`, has them in it
    for q in range(k, length):
        numbers[RIGHT, q] = 0.0
    for i in range(k):
        keep, beta, along = numbers[KEEP, i], numbers[BETA, i], numbers[ALONG, i]
        hessian = work.hessian[i]
        _begin_hessian(
            length, numbers[KEEP], work.gram[i], numbers[ALONG], numbers[BETA], hessian,
            keep, beta, keep * along + beta * square,
        )  # fmt: skip
        for q in range(k):
            numbers[ROW, q] = -work.across[q, i]
        subtract_rows(
            length, hessian, hessian, work.across, work.order, numbers[ROW], k, 1.0 / grown
        )
        hessian[i] -= numbers[SPREAD, i] * numbers[ALPHA, i] * (square - along * along)
    return grown


@inlined
def _look_across(k, work):
    """Fill across, column by column, with ``L^-1 W^(1/2) A' b_i``."""
    numbers, across, length = work.numbers, work.across, whole(k)
    for q in range(k):
        _begin_across(
            length, numbers[KEEP], work.gram[q], numbers[BETA], across[q],
            numbers[ROOT, q], numbers[ALONG, q],
        )  # fmt: skip
        subtract_rows(
            length, across[q], across[q], across, work.order, work.inner_factor[0, q], q,
            numbers[INNER_SCALE, q],
        )  # fmt: skip


@inlined
def find_step(k, damping, work):
    """Fill the step of x; return what it promises."""
    numbers = work.numbers
    factorise(k, damping, work.hessian, work.factor, numbers[SCALE], work.order)
    copy_numbers(whole(k), numbers[RIGHT], numbers[STEP])
    solve_lower(k, work.factor[0], numbers[SCALE], numbers[STEP])
    solve_upper(k, work.factor[1], numbers[SCALE], numbers[STEP])
    for q in range(k, whole(k)):
        numbers[STEP, q] = 0.0
    gain = inner_product(work.off.shape[0], work.off, work.off)
    return gain + inner_product(whole(k), numbers[STEP], numbers[RIGHT])


@inlined
def turn_fit(k, grown, work):
    """Fill turn, the step of fit that goes with that of x: ``-B^-1 (F + sum_j dx_j b_j)``."""
    numbers = work.numbers
    along_fit = _begin_turn(whole(k), numbers[STEP], numbers[KEEP], numbers[BETA], numbers[SOLVED])
    subtract_rows(
        work.fit.shape[0], work.turn, work.off, work.members, work.order, numbers[SOLVED], k, 1.0
    )
    add_multiple(work.turn.shape[0], work.turn, work.fit, along_fit)
    undo_inner(k, grown, work)


@inlined
def undo_inner(k, grown, work):
    """Replace turn by ``-B^-1`` times it."""
    numbers, turn = work.numbers, work.turn
    inner_products(k, work.members, turn, numbers[SOLVED])
    _times(whole(k), numbers[SOLVED], numbers[ROOT], 1.0)
    solve_lower(k, work.inner_factor[0], numbers[INNER_SCALE], numbers[SOLVED])
    solve_upper(k, work.inner_factor[1], numbers[INNER_SCALE], numbers[SOLVED])
    _times(whole(k), numbers[SOLVED], numbers[ROOT], -1.0)
    subtract_rows(
        turn.shape[0], turn, turn, work.members, work.order, numbers[SOLVED], k, -1.0 / grown
    )


def _weigh_body(
    x: Vector, beta: Vector, along: Vector, product: Vector,
    _root: Vector, _keep: Vector, _solved: Vector,
) -> Lanes:  # fmt: skip
    weight = beta * x
    root = weight.at_least(0.0).sqrt()
    return [root, 1.0 - beta * along, root * product], [weight]


def _across_body(
    keep: Vector, gram: Vector, beta: Vector, _out: Vector, root: Vector, along: Vector
) -> Lanes:
    return [root * (keep * gram + beta * along)], []


def _hessian_body(
    keep: Vector, gram: Vector, along: Vector, beta: Vector, _out: Vector,
    own_keep: Vector, own_beta: Vector, with_fit: Vector,
) -> Lanes:  # fmt: skip
    return [keep * (own_keep * gram + own_beta * along) + with_fit * beta], []


def _right_body(
    along: Vector, sign: Vector, keep: Vector, product: Vector, beta: Vector, _out: Vector,
    grown: Vector, threshold: Vector, fit_off: Vector,
) -> Lanes:  # fmt: skip
    return [grown * (along - threshold * sign) - keep * product - fit_off * beta], []


# multiplies the vector by factor and the other
_times = lane_kernel(
    2, 1, lambda vector, other, factor: ([factor * other * vector], []), writes=(0,)
)
# x, beta, <a, fit>, <a, F> -> root, keep, solved; tau
_weigh = lane_kernel(7, 0, _weigh_body, writes=(4, 5, 6), reduces=("sum",))
_begin_inner = lane_kernel(
    3, 1, lambda gram, root, _out, own: ([own * root * gram], []), writes=(2,)
)
_begin_across = lane_kernel(4, 2, _across_body, writes=(3,))
_begin_hessian = lane_kernel(5, 3, _hessian_body, writes=(4,))
_begin_right = lane_kernel(6, 3, _right_body, writes=(5,))
# step, keep, beta -> -step keep; sum of step beta
_begin_turn = lane_kernel(
    4, 0, lambda step, keep, beta, _out: ([-(step * keep)], [step * beta]),
    writes=(3,), reduces=("sum",),
)  # fmt: skip
