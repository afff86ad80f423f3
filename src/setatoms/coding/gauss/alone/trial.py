"""Codes that are tried, and kept if they are better."""

from __future__ import annotations

from setatoms._compile import inlined
from setatoms.coding.gauss.alone.equations import turn_fit, undo_inner
from setatoms.coding.gauss.alone.space import (
    ALPHA,
    BETA,
    ROW,
    SIGN,
    SPREAD,
    STEP,
    TRIAL_ALPHA,
    TRIAL_BETA,
    TRIAL_X,
    X,
    add_multiple,
    combine,
    copy_numbers,
    copy_whole,
    inner_products,
    whole,
)
from setatoms.coding.gauss.descent import best_pair
from setatoms.lanes import Lanes, Vector, lane_kernel, subtract_rows
from setatoms.vectors import inner_product, multiply, norm


@inlined
def try_step(k, share, grown, value, threshold, work):
    """Fill the trial code, that share of the step away, or where a coefficient vanishes.

    Return its objective, and which coefficient vanishes, or -1. Coefficients move along straight
    lines and actual atoms on arcs, so r is soon off: it is corrected where the objective has risen.
    """
    numbers, length, leaves = work.numbers, share, -1
    x = numbers[X]
    for q in range(k):
        after = (x[q] + length * numbers[STEP, q]) * numbers[SIGN, q]
        if after <= 0.0:
            length, leaves = -x[q] / numbers[STEP, q] if x[q] != 0.0 else 0.0, q
    turn_fit(k, grown, work)
    combine(work.fit.shape[0], work.fit, work.turn, work.trial_fit, 1.0, length)
    combine(whole(k), x, numbers[STEP], numbers[TRIAL_X], 1.0, length)
    if leaves >= 0:
        numbers[TRIAL_X, leaves] = 0.0
    better = fill_trial(k, threshold, work)
    if not better < value:
        combine(work.turn.shape[0], work.trial_fit, work.trial_residual, work.turn, 1.0, -1.0)
        undo_inner(k, grown, work)
        add_multiple(work.turn.shape[0], work.trial_fit, work.turn, 1.0)
        better = fill_trial(k, threshold, work)
    return better, leaves


@inlined
def try_pair(k, joining, threshold, work):
    """Fill the trial code with the last atom at that coefficient; return its objective."""
    last, numbers, n_features = k - 1, work.numbers, work.fit.shape[0]
    centre, spread, member = work.centres[last], numbers[SPREAD, last], work.trial_members[last]
    combine(n_features, centre, work.residual, member, 1.0, spread * joining)
    multiply(member, 1.0 / norm(member))
    if last == 0:
        joining = best_pair(centre, spread, threshold, work.residual, joining, member)
    copy_numbers(whole(k), numbers[X], numbers[TRIAL_X])
    numbers[TRIAL_X, last] = joining
    combine(n_features, work.residual, member, work.trial_fit, 1.0, -joining)
    return fill_trial(k, threshold, work)


@inlined
def fill_trial(k, threshold, work):
    """Fill members and residual of the trial code; return its objective."""
    n_features, fit, numbers = work.fit.shape[0], work.trial_fit, work.numbers
    inner_products(k, work.centres, fit, numbers[ROW])
    price = _bend(
        whole(k), numbers[TRIAL_X], numbers[SPREAD], numbers[ROW],
        numbers[TRIAL_ALPHA], numbers[TRIAL_BETA],
        inner_product(n_features, fit, fit), threshold,
    )  # fmt: skip
    for q in range(k):
        combine(
            n_features, work.centres[q], fit, work.trial_members[q],
            numbers[TRIAL_ALPHA, q], numbers[TRIAL_BETA, q],
        )  # fmt: skip
    return 2.0 * price + subtract_rows(
        n_features, work.trial_residual, work.signal, work.trial_members, work.order,
        numbers[TRIAL_X], k, 1.0,
    )  # fmt: skip


@inlined
def accept(k, work):
    """Replace the code by the trial."""
    numbers, length = work.numbers, whole(k)
    for q in range(k):
        copy_whole(work.trial_members[q], work.members[q])
    copy_numbers(length, numbers[TRIAL_X], numbers[X])
    copy_numbers(length, numbers[TRIAL_ALPHA], numbers[ALPHA])
    copy_numbers(length, numbers[TRIAL_BETA], numbers[BETA])
    copy_whole(work.trial_fit, work.fit)
    copy_whole(work.trial_residual, work.residual)


def _bend_body(
    x: Vector, spread: Vector, toward: Vector, _alpha: Vector, _beta: Vector,
    square: Vector, threshold: Vector,
) -> Lanes:  # fmt: skip
    pull = spread * x
    toward, reach = pull * toward, pull * pull * square
    # of d + v x r; what it is longer than along d comes without cancellation
    length = (toward + toward + reach + 1.0).at_least(1e-30).sqrt()
    longer = (reach - toward * toward) / (length + 1.0 + toward).at_least(1e-30)
    alpha = 1.0 / length
    return [alpha, alpha * pull], [longer / (length * spread) + threshold * abs(x)]


# x, spread, <d, fit> -> alpha, beta; half of the price of the atoms
_bend = lane_kernel(5, 2, _bend_body, writes=(3, 4), reduces=("sum",))
