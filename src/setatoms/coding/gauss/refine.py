"""Newton's method for a single signal of Gauss-L1, with all derivatives and damping.

The steps that groups take (`setatoms.coding.gauss.newton`) are cheap and lead astray where atoms
are nearly parallel or may lean far. For the few signals where they do, the exact equations are

    a_j = unit(d_j + v_j x_j r),      r = y - sum_j x_j a_j,      <a_j, r> = h sign(x_j),

in the coefficients ``x`` and in ``r``. With ``w_j = v_j alpha_j x_j^2``, ``beta_j = v_j alpha_j
x_j``, ``s_j = <a_j, r>`` and ``b_j = (1 - beta_j s_j) a_j + beta_j r``, the second is, linearised,

    B dr = -F - sum_j dx_j b_j,      B = (1 + tau) I - sum_j w_j a_j a_j',      tau = sum_j w_j,

where ``F`` is what it is off by, and the third then reads ``H dx = s - h sign(x) - b' B^-1 F`` with
``H = b' B^-1 b - diag(v_j alpha_j (||r||^2 - s_j^2))``. ``H`` plus a multiple of the identity makes
steps that lower the objective (Levenberg, Marquardt): the multiple shrinks where they do and grows
where they do not. Where ``H`` is not positive definite, its pivots are raised, as those of groups
are.

Atoms come in one by one. Each is the one that would gain most by itself, leaning as it likes: of a
signal that is far out, a single atom may turn all the way and explain everything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import inlined, kernel
from setatoms.coding.gauss.descent import best_pair
from setatoms.lanes import lane_kernel, subtract_rows
from setatoms.vectors import add, copy, fill, inner_product, multiply, norm

Floats = NDArray[np.float64]

# The multiple of the identity: where it starts, by how much it changes, and where it is too much.
_FIRST_DAMPING, _DAMPING_FACTOR, _MOST_DAMPING = 1e-8, 4.0, 1e8
_LEAST_DAMPING, _DAMPING_IF_FAILED = 1e-12, 1e-4
# A step that promises less than this share of the objective leaves room for another atom.
_SMALL = 1e-2
# Steps after which a signal is left to descent.
_MOST_STEPS = 500


class Refinement(NamedTuple):
    """Work space for a signal of up to ``width`` atoms and ``n_features``."""

    gram: Floats  # (width, width): of the actual atoms
    inner: Floats  # (width, width): what B is, seen from the atoms; its factor below
    across: Floats  # (width, width): each b through that factor, a row
    hessian: Floats  # (width, width): its factor below
    numbers: Floats  # (_N_NUMBERS, width)
    fit: Floats  # (n_features,): r, as the atoms know it
    off: Floats  # (n_features,): F
    turn: Floats  # (n_features,): dr
    trial_x: Floats  # (width,)
    trial_fit: Floats  # (n_features,)
    trial_members: Floats  # (width, n_features)
    trial_residual: Floats  # (n_features,)
    signal: Floats  # (n_features,): y
    order: NDArray[np.int64]  # (width,): 0, 1, 2, ...


# Rows of ``Refinement.numbers``.
_ALPHA, _BETA, _ROOT, _ALONG, _KEEP, _SIGN, _RIGHT, _STEP, _PRODUCT, _SOLVED = range(10)
_INNER_SCALE, _SCALE = 10, 11
_N_NUMBERS = 12


# a left + b right -> out
_combine = lane_kernel(
    3, 2, lambda left, right, _out, a, b: ([a * left + b * right], []),
    writes=(2,), any_length=True,
)  # fmt: skip


def allocate_refinement(width: int, n_features: int) -> Refinement:
    """Return work space for codes of up to ``width`` atoms."""
    square, vectors = np.empty((4, width, width)), np.empty((6, n_features))
    return Refinement(
        gram=square[0],
        inner=square[1],
        across=square[2],
        hessian=square[3],
        numbers=np.zeros((_N_NUMBERS, width)),
        fit=vectors[0],
        off=vectors[1],
        turn=vectors[2],
        trial_x=np.empty(width),
        trial_fit=vectors[3],
        trial_members=np.empty((width, n_features)),
        trial_residual=vectors[4],
        signal=vectors[5],
        order=np.arange(width),
    )


@kernel
def refine(
    atoms, spreads, threshold, max_sweeps, tol, halt, sweeps, support, x, members, residual, work,
):  # fmt: skip
    """Finish a code in place; see `setatoms.coding.gauss.descent.descend` for what it is made of.

    Return whether it is finished, sweeps (a step is one), and the objective in units of lam.
    """
    k = 0
    copy(residual, work.signal)
    copy(residual, work.trial_fit)
    while k < support.shape[0] and support[k] >= 0:
        work.numbers[_SIGN, k] = 1.0 if x[k] > 0.0 else -1.0
        work.trial_x[k] = x[k]
        add(work.signal, x[k], members[k])
        k += 1
    value = _fill_trial(k, atoms, spreads, threshold, support, work)
    nothing = inner_product(residual.shape[0], work.signal, work.signal)
    if not value <= nothing:
        # worse than no code at all
        k, value = 0, nothing
        fill(support, -1)
        fill(x, 0.0)
        copy(work.signal, work.trial_fit)
        copy(work.signal, work.trial_residual)
    _accept(k, x, members, residual, work)
    damping, share, failed, grown, n_steps = _FIRST_DAMPING, 1.0, False, 0.0, 0
    while sweeps < max_sweeps and halt[0] == 0 and n_steps < _MOST_STEPS:
        sweeps, n_steps = sweeps + 1, n_steps + 1
        if grown == 0.0:
            grown = _linearise(k, atoms, spreads, threshold, support, x, members, residual, work)
        gain = _find_step(k, damping, work)
        if gain <= _SMALL * value:
            j, joining, promise = _best_at_rest(
                k, atoms, spreads, threshold, tol * value, support, residual
            )
            if j >= 0 and promise > gain:
                if k == support.shape[0]:
                    break
                support[k], x[k], work.numbers[_SIGN, k] = j, 0.0, np.sign(joining)
                copy(atoms[j], members[k])
                k, grown = k + 1, 0.0
                better = _try_pair(
                    k, joining, atoms, spreads, threshold, support, x, residual, work
                )
                if better < value:
                    value = better
                    _accept(k, x, members, residual, work)
                continue
            if gain <= 0.1 * tol * value:
                return True, sweeps, value
        better, leaves = _try_step(
            k, share, grown, value, atoms, spreads, threshold, support, x, members, work
        )
        if better < value:
            value, grown = better, 0.0
            _accept(k, x, members, residual, work)
            if leaves >= 0:
                k = _remove(leaves, k, support, x, members, work.numbers[_SIGN])
            if not failed:
                damping = max(damping / _DAMPING_FACTOR, _LEAST_DAMPING)
                share = min(4.0 * share, 1.0)
        else:
            damping, share = max(damping * _DAMPING_FACTOR, _DAMPING_IF_FAILED), 0.5 * share
            if damping > _MOST_DAMPING:
                break
        failed = grown > 0.0
    return False, sweeps, value


@inlined
def _linearise(k, atoms, spreads, threshold, support, x, members, residual, work):
    """Fill the equations at a code; return 1 + tau."""
    n_features, numbers, fit = work.fit.shape[0], work.numbers, work.fit
    square, tau = inner_product(n_features, fit, fit), 0.0
    for i in range(fit.shape[0]):
        work.off[i] = fit[i] - residual[i]
    for q in range(k):
        spread = spreads[support[q]]
        pull = spread * x[q]
        # members are unit(d + pull fit)
        toward = inner_product(n_features, atoms[support[q]], fit)
        alpha = 1.0 / np.sqrt(max(1.0 + pull * (2.0 * toward + pull * square), 1e-30))
        along = inner_product(n_features, members[q], fit)
        numbers[_ALPHA, q], numbers[_ALONG, q] = alpha, along
        numbers[_BETA, q] = pull * alpha
        weight = pull * alpha * x[q]
        numbers[_ROOT, q] = np.sqrt(weight)
        numbers[_KEEP, q] = 1.0 - pull * alpha * along
        numbers[_PRODUCT, q] = inner_product(n_features, members[q], work.off)
        numbers[_SOLVED, q] = numbers[_ROOT, q] * numbers[_PRODUCT, q]
        tau += weight
    grown = 1.0 + tau
    for q in range(k):
        for p in range(q + 1):
            work.gram[q, p] = work.gram[p, q] = inner_product(n_features, members[q], members[p])
            work.inner[p, q] = -numbers[_ROOT, q] * work.gram[q, p] * numbers[_ROOT, p]
        work.inner[q, q] += grown
    _factor(k, 0.0, work.inner, numbers[_INNER_SCALE])
    _solve_lower(k, work.inner, numbers[_INNER_SCALE], numbers[_SOLVED])
    _look_across(k, work)
    fit_off = inner_product(n_features, fit, work.off)
    for i in range(k):
        keep, beta, along = numbers[_KEEP, i], numbers[_BETA, i], numbers[_ALONG, i]
        product = keep * numbers[_PRODUCT, i] + beta * fit_off
        for q in range(k):
            product += work.across[i, q] * numbers[_SOLVED, q]
        numbers[_RIGHT, i] = along - threshold * numbers[_SIGN, i] - product / grown
        hessian = work.hessian[i]
        with_fit = keep * along + beta * square
        for j in range(i, k):
            toward = keep * work.gram[i, j] + beta * numbers[_ALONG, j]
            total = numbers[_KEEP, j] * toward + numbers[_BETA, j] * with_fit
            for q in range(k):
                total += work.across[i, q] * work.across[j, q]
            hessian[j] = total / grown
        hessian[i] -= spreads[support[i]] * numbers[_ALPHA, i] * (square - along * along)
    return grown


@inlined
def _look_across(k, work):
    """Fill across, row by row, with ``L^-1 W^(1/2) A' b_i``."""
    numbers, across = work.numbers, work.across
    for i in range(k):
        row = across[i]
        for q in range(k):
            toward = numbers[_KEEP, i] * work.gram[i, q] + numbers[_BETA, i] * numbers[_ALONG, q]
            row[q] = numbers[_ROOT, q] * toward
        _solve_lower(k, work.inner, numbers[_INNER_SCALE], row)


@inlined
def _find_step(k, damping, work):
    """Fill the step of x; return what it promises."""
    n_features, numbers = work.fit.shape[0], work.numbers
    _factor(k, damping, work.hessian, numbers[_SCALE])
    for q in range(k):
        numbers[_STEP, q] = numbers[_RIGHT, q]
    _solve_lower(k, work.hessian, numbers[_SCALE], numbers[_STEP])
    _solve_upper(k, work.hessian, numbers[_SCALE], numbers[_STEP])
    gain = inner_product(n_features, work.off, work.off)
    for q in range(k):
        gain += numbers[_STEP, q] * numbers[_RIGHT, q]
    return gain


@inlined
def _turn(k, grown, members, work):
    """Fill turn, the step of fit that goes with that of x: ``-B^-1 (F + sum_j dx_j b_j)``."""
    numbers, along_fit = work.numbers, 0.0
    for q in range(k):
        numbers[_SOLVED, q] = -numbers[_STEP, q] * numbers[_KEEP, q]
        along_fit += numbers[_STEP, q] * numbers[_BETA, q]
    subtract_rows(
        work.fit.shape[0], work.turn, work.off, members, work.order, numbers[_SOLVED], k, 1.0
    )
    add(work.turn, along_fit, work.fit)
    _undo_inner(k, grown, members, work)


@inlined
def _undo_inner(k, grown, members, work):
    """Replace turn by ``-B^-1`` times it."""
    n_features, numbers, turn = work.fit.shape[0], work.numbers, work.turn
    for q in range(k):
        numbers[_SOLVED, q] = numbers[_ROOT, q] * inner_product(n_features, members[q], turn)
    _solve_lower(k, work.inner, numbers[_INNER_SCALE], numbers[_SOLVED])
    _solve_upper(k, work.inner, numbers[_INNER_SCALE], numbers[_SOLVED])
    for q in range(k):
        numbers[_SOLVED, q] *= -numbers[_ROOT, q]
    subtract_rows(turn.shape[0], turn, turn, members, work.order, numbers[_SOLVED], k, -1.0 / grown)


@inlined
def _try_step(k, share, grown, value, atoms, spreads, threshold, support, x, members, work):
    """Fill the trial code, that share of the step away, or where a coefficient vanishes.

    Return its objective, and which coefficient vanishes, or -1. Coefficients move along straight
    lines and actual atoms on arcs, so r is soon off: it is corrected where the objective has risen.
    """
    numbers, length, leaves = work.numbers, share, -1
    for q in range(k):
        after = (x[q] + length * numbers[_STEP, q]) * numbers[_SIGN, q]
        if after <= 0.0:
            length, leaves = -x[q] / numbers[_STEP, q] if x[q] != 0.0 else 0.0, q
    _turn(k, grown, members, work)
    copy(work.fit, work.trial_fit)
    add(work.trial_fit, length, work.turn)
    for q in range(k):
        work.trial_x[q] = 0.0 if q == leaves else x[q] + length * numbers[_STEP, q]
    better = _fill_trial(k, atoms, spreads, threshold, support, work)
    if not better < value:
        for i in range(work.turn.shape[0]):
            work.turn[i] = work.trial_fit[i] - work.trial_residual[i]
        _undo_inner(k, grown, members, work)
        add(work.trial_fit, 1.0, work.turn)
        better = _fill_trial(k, atoms, spreads, threshold, support, work)
    return better, leaves


@inlined
def _fill_trial(k, atoms, spreads, threshold, support, work):
    """Fill members and residual of the trial code; return its objective."""
    n_features, fit, x = work.fit.shape[0], work.trial_fit, work.trial_x
    square, value = inner_product(n_features, fit, fit), 0.0
    for q in range(k):
        atom, spread = atoms[support[q]], spreads[support[q]]
        pull = spread * x[q]
        toward, reach = pull * inner_product(n_features, atom, fit), pull * pull * square
        # of d + v x r; what it is longer than along d comes without cancellation
        length = np.sqrt(max(1.0 + 2.0 * toward + reach, 1e-30))
        longer = (reach - toward * toward) / max(length + 1.0 + toward, 1e-30)
        value += 2.0 * (longer / (length * spread) + threshold * abs(x[q]))
        _combine(n_features, atom, fit, work.trial_members[q], 1.0 / length, pull / length)
    return value + subtract_rows(
        n_features, work.trial_residual, work.signal, work.trial_members, work.order, x, k, 1.0
    )


@inlined
def _accept(k, x, members, residual, work):
    """Replace the code by the trial."""
    for q in range(k):
        x[q] = work.trial_x[q]
        copy(work.trial_members[q], members[q])
    copy(work.trial_fit, work.fit)
    copy(work.trial_residual, residual)


@kernel
def _best_at_rest(k, atoms, spreads, threshold, least_gain, support, residual):
    """Return the atom at rest that promises most, with which coefficient, and what it promises.

    The atom is -1 if none exceeds its bound by enough.
    """
    n_features, best, joining, most = residual.shape[0], -1, 0.0, 0.0
    square = inner_product(n_features, residual, residual)
    bound = threshold + np.sqrt(0.1 * least_gain)
    for j in range(atoms.shape[0]):
        product = inner_product(n_features, atoms[j], residual)
        if abs(product) <= bound:
            continue
        x, gain = _pair(abs(product), square, spreads[j], threshold)
        if gain > most:
            used = False
            for q in range(k):
                used = used or support[q] == j
            if not used:
                best, most, joining = j, gain, x if product > 0.0 else -x
    return best, joining, most


@kernel
def _pair(product, square, spread, threshold):
    """Return about the best coefficient of an atom by itself, and what it gains.

    The atom leans as far as the coefficient before asks for, which begins with that of a rigid one.
    """
    x, gain = product - threshold, 0.0
    for _ in range(2):
        pull = spread * x
        length = np.sqrt(1.0 + pull * (2.0 * product + pull * square))
        x = (product + pull * square) / length - threshold
        # 1 - cos of the lean
        away = 1.0 - (1.0 + pull * product) / length
        gain = x * x - 2.0 * away / spread
    return x, gain


@inlined
def _try_pair(k, joining, atoms, spreads, threshold, support, x, residual, work):
    """Fill the trial code with the last atom at that coefficient; return its objective."""
    last = k - 1
    for q in range(last):
        work.trial_x[q] = x[q]
    centre, spread, member = atoms[support[last]], spreads[support[last]], work.trial_members[last]
    copy(centre, member)
    add(member, spread * joining, residual)
    multiply(member, 1.0 / norm(member))
    if last == 0:
        joining = best_pair(centre, spread, threshold, residual, joining, member)
    work.trial_x[last] = joining
    copy(residual, work.trial_fit)
    add(work.trial_fit, -joining, member)
    return _fill_trial(k, atoms, spreads, threshold, support, work)


@kernel
def _remove(q, k, support, x, members, sign):
    """Remove place q and keep the order of the others; return k - 1."""
    for p in range(q, k - 1):
        support[p], x[p], sign[p] = support[p + 1], x[p + 1], sign[p + 1]
        copy(members[p + 1], members[p])
    support[k - 1], x[k - 1] = -1, 0.0
    return k - 1


@kernel
def _factor(k, damping, matrix, scale):
    """Fill the lower half with the Cholesky factor of the upper one plus damping.

    The upper half and the diagonal stay; scale (k,) is one over the diagonal of the factor. Pivots
    are raised where the matrix is not positive definite (Gill and Murray, 1974).
    """
    highest = 1e-12
    for p in range(k):
        highest = max(highest, abs(matrix[p, p]))
    for p in range(k):
        pivot = matrix[p, p] + damping
        for i in range(p):
            pivot -= matrix[p, i] * matrix[p, i]
        below = 0.0
        for q in range(p + 1, k):
            total = matrix[p, q]
            for i in range(p):
                total -= matrix[q, i] * matrix[p, i]
            matrix[q, p] = total
            below = max(below, abs(total))
        scale[p] = 1.0 / np.sqrt(max(abs(pivot), 1e-12, below * below / highest))
        for q in range(p + 1, k):
            matrix[q, p] *= scale[p]


@kernel
def _solve_lower(k, lower, scale, vector):
    """Replace vector[:k] by the solution of ``L z = vector``."""
    for q in range(k):
        total = vector[q]
        for p in range(q):
            total -= lower[q, p] * vector[p]
        vector[q] = total * scale[q]


@kernel
def _solve_upper(k, lower, scale, vector):
    """Replace vector[:k] by the solution of ``L' z = vector``."""
    for q in range(k - 1, -1, -1):
        total = vector[q]
        for p in range(q + 1, k):
            total -= lower[p, q] * vector[p]
        vector[q] = total * scale[q]
