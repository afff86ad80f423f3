"""Newton's method for a single signal of Gauss-L1, with all derivatives and damping.

The steps that groups take (`setatoms.coding.gauss.newton`) are cheap and lead astray where atoms
are nearly parallel or may lean far. For the few signals where they do, the exact equations are

    a_j = unit(d_j + v_j x_j r),      r = y - sum_j x_j a_j,      <a_j, r> = h sign(x_j),

in the coefficients ``x`` and in ``r``. With ``w_j = v_j alpha_j x_j^2``, ``beta_j = v_j alpha_j
x_j``, ``s_j = <a_j, r>`` and ``b_j = (1 - beta_j s_j) a_j + beta_j r``, the second is, linearised,

    B dr = -F - sum_j dx_j b_j,      B = (1 + tau) I - sum_j w_j a_j a_j',      tau = sum_j w_j,

where ``F`` is what it is off by, and the third then reads ``H dx = s - h sign(x) - b' B^-1 F`` with
``H = b' B^-1 b - diag(v_j alpha_j (||r||^2 - s_j^2))``. ``H`` plus a multiple of the identity makes
steps that lower the objective (Levenberg, Marquardt); the multiple shrinks where they do and grows
where they do not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import kernel
from setatoms.coding.gauss.descent import objective
from setatoms.vectors import add, copy, dot, multiply, norm

Floats = NDArray[np.float64]

# The multiple of the identity: where it starts, by how much it changes, and where it is too much.
_FIRST_DAMPING, _DAMPING_FACTOR, _MOST_DAMPING = 1e-8, 4.0, 1e8
_LEAST_DAMPING = 1e-12
# Steps after which a signal is left to descent.
_MOST_STEPS = 500


class Refinement(NamedTuple):
    """Work space for a signal of up to ``width`` atoms and ``n_features``."""

    gram: Floats  # (width, width): of the actual atoms
    inner: Floats  # (width, width): what B is, seen from the atoms; its factor below
    across: Floats  # (width, width): b through that factor
    hessian: Floats  # (width, width): its factor below
    numbers: Floats  # (_N_NUMBERS, width)
    fit: Floats  # (n_features,): r, as the atoms know it
    off: Floats  # (n_features,): F
    turn: Floats  # (n_features,): dr
    trial_x: Floats  # (width,)
    trial_fit: Floats  # (n_features,)
    trial_members: Floats  # (width, n_features)
    trial_residual: Floats  # (n_features,)


# Rows of ``Refinement.numbers``.
_ALPHA, _BETA, _ROOT, _ALONG, _KEEP, _SIGN, _RIGHT, _STEP, _PRODUCT, _SOLVED = range(10)
_INNER_SCALE, _SCALE = 10, 11
_N_NUMBERS = 12


def allocate_refinement(width: int, n_features: int) -> Refinement:
    """Return work space for codes of up to ``width`` atoms."""
    square, vectors = np.empty((4, width, width)), np.empty((5, n_features))
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
    )


@kernel
def refine(
    atoms, spreads, threshold, max_sweeps, tol, halt, sweeps, support, x, members, residual, work,
):  # fmt: skip
    """Finish a code in place; see `setatoms.coding.gauss.descent.descend` for what it is made of.

    Return whether it is finished, sweeps (a step is one), and the objective in units of lam.
    """
    k = 0
    copy(residual, work.fit)
    while k < support.shape[0] and support[k] >= 0:
        work.numbers[_SIGN, k] = 1.0 if x[k] > 0.0 else -1.0
        add(residual, x[k], members[k])
        _lean(atoms[support[k]], spreads[support[k]] * x[k], work.fit, members[k])
        add(residual, -x[k], members[k])
        k += 1
    damping, share, n_steps, grown = _FIRST_DAMPING, 1.0, 0, 0.0
    value = objective(k, atoms, spreads, threshold, support, x, members, residual)
    while sweeps < max_sweeps and halt[0] == 0 and n_steps < _MOST_STEPS:
        sweeps, n_steps = sweeps + 1, n_steps + 1
        if grown == 0.0:
            grown = _linearise(k, atoms, spreads, threshold, support, x, members, residual, work)
        gain = _find_step(k, damping, grown, members, work)
        if 0.0 <= gain <= 0.1 * tol * value:
            j = _worst_at_rest(k, atoms, threshold, tol * value, support, residual)
            if j < 0:
                return True, sweeps, value
            if k == support.shape[0]:
                return False, sweeps, value
            support[k], x[k] = j, 0.0
            copy(atoms[j], members[k])
            work.numbers[_SIGN, k] = 1.0 if dot(atoms[j], residual) > 0.0 else -1.0
            k, grown = k + 1, 0.0
            continue
        better, leaves = np.inf, -1
        if gain > 0.0:
            better, leaves = _try_step(
                k, share, atoms, spreads, threshold, support, x, members, residual, work
            )
        if better < value:
            value, grown = better, 0.0
            for q in range(k):
                x[q] = work.trial_x[q]
                copy(work.trial_members[q], members[q])
            copy(work.trial_fit, work.fit)
            copy(work.trial_residual, residual)
            if leaves >= 0:
                k = _remove(leaves, k, support, x, members, work.numbers[_SIGN])
            damping = max(damping / _DAMPING_FACTOR, _LEAST_DAMPING)
            share = min(4.0 * share, 1.0)
        elif damping > _MOST_DAMPING:
            break
        else:
            damping = max(damping * _DAMPING_FACTOR, 1e-4)
            share *= 0.5 if gain > 0.0 else 1.0
    return False, sweeps, value


@kernel
def _linearise(k, atoms, spreads, threshold, support, x, members, residual, work):
    """Fill the equations at a code; return 1 + tau, or -1.0 if there are none."""
    numbers, fit = work.numbers, work.fit
    square, tau = dot(fit, fit), 0.0
    for i in range(fit.shape[0]):
        work.off[i] = fit[i] - residual[i]
    for q in range(k):
        spread = spreads[support[q]]
        pull = spread * x[q]
        # members are unit(d + pull fit)
        leaning = 1.0 + pull * (2.0 * dot(atoms[support[q]], fit) + pull * square)
        alpha, along = 1.0 / np.sqrt(max(leaning, 1e-30)), dot(members[q], fit)
        numbers[_ALPHA, q], numbers[_ALONG, q] = alpha, along
        numbers[_BETA, q] = pull * alpha
        weight = pull * alpha * x[q]
        numbers[_ROOT, q] = np.sqrt(weight)
        numbers[_KEEP, q] = 1.0 - pull * alpha * along
        numbers[_PRODUCT, q] = dot(members[q], work.off)
        numbers[_SOLVED, q] = numbers[_ROOT, q] * numbers[_PRODUCT, q]
        tau += weight
    grown = 1.0 + tau
    for q in range(k):
        for p in range(q + 1):
            work.gram[q, p] = work.gram[p, q] = dot(members[q], members[p])
            work.inner[p, q] = -numbers[_ROOT, q] * work.gram[q, p] * numbers[_ROOT, p]
        work.inner[q, q] += grown
    if not _factor(k, 0.0, work.inner, numbers[_INNER_SCALE]):
        return -1.0
    _solve_lower(k, work.inner, numbers[_INNER_SCALE], numbers[_SOLVED])
    # across[i] = L^-1 W^(1/2) A' b_i
    fit_off = dot(fit, work.off)
    for i in range(k):
        keep, beta, along = numbers[_KEEP, i], numbers[_BETA, i], numbers[_ALONG, i]
        across = work.across[i]
        for q in range(k):
            toward = keep * work.gram[i, q] + beta * numbers[_ALONG, q]
            across[q] = numbers[_ROOT, q] * toward
        _solve_lower(k, work.inner, numbers[_INNER_SCALE], across)
        product = keep * numbers[_PRODUCT, i] + beta * fit_off
        for q in range(k):
            product += across[q] * numbers[_SOLVED, q]
        numbers[_RIGHT, i] = along - threshold * numbers[_SIGN, i] - product / grown
        for j in range(i + 1):
            toward = numbers[_KEEP, j] * work.gram[j, i] + numbers[_BETA, j] * along
            with_fit = numbers[_KEEP, j] * numbers[_ALONG, j] + numbers[_BETA, j] * square
            total = keep * toward + beta * with_fit
            for q in range(k):
                total += across[q] * work.across[j, q]
            work.hessian[j, i] = total / grown
        bend = spreads[support[i]] * numbers[_ALPHA, i] * (square - along * along)
        work.hessian[i, i] -= bend
    return grown


@kernel
def _find_step(k, damping, grown, members, work):
    """Fill the steps of x and of fit; return what they promise, -1.0 if the matrix will not do."""
    numbers = work.numbers
    if grown < 0.0 or not _factor(k, damping, work.hessian, numbers[_SCALE]):
        return -1.0
    for q in range(k):
        numbers[_STEP, q] = numbers[_RIGHT, q]
    _solve_lower(k, work.hessian, numbers[_SCALE], numbers[_STEP])
    _solve_upper(k, work.hessian, numbers[_SCALE], numbers[_STEP])
    gain = dot(work.off, work.off)
    for q in range(k):
        gain += numbers[_STEP, q] * numbers[_RIGHT, q]
    _turn(k, grown, members, work)
    return gain


@kernel
def _turn(k, grown, members, work):
    """Fill turn with ``-B^-1 (F + sum_j dx_j b_j)``."""
    numbers, turn = work.numbers, work.turn
    copy(work.off, turn)
    for q in range(k):
        add(turn, numbers[_STEP, q] * numbers[_KEEP, q], members[q])
        add(turn, numbers[_STEP, q] * numbers[_BETA, q], work.fit)
    for q in range(k):
        numbers[_SOLVED, q] = numbers[_ROOT, q] * dot(members[q], turn)
    _solve_lower(k, work.inner, numbers[_INNER_SCALE], numbers[_SOLVED])
    _solve_upper(k, work.inner, numbers[_INNER_SCALE], numbers[_SOLVED])
    for q in range(k):
        add(turn, numbers[_ROOT, q] * numbers[_SOLVED, q], members[q])
    multiply(turn, -1.0 / grown)


@kernel
def _try_step(k, share, atoms, spreads, threshold, support, x, members, residual, work):
    """Fill the trial code, that share of the step away.

    Return its objective, and which coefficient vanishes, or -1.
    """
    numbers, length, leaves = work.numbers, share, -1
    for q in range(k):
        after = (x[q] + length * numbers[_STEP, q]) * numbers[_SIGN, q]
        if after <= 0.0:
            length, leaves = -x[q] / numbers[_STEP, q] if x[q] != 0.0 else 0.0, q
    copy(work.fit, work.trial_fit)
    add(work.trial_fit, length, work.turn)
    copy(residual, work.trial_residual)
    for q in range(k):
        add(work.trial_residual, x[q], members[q])
        work.trial_x[q] = 0.0 if q == leaves else x[q] + length * numbers[_STEP, q]
        pull = spreads[support[q]] * work.trial_x[q]
        _lean(atoms[support[q]], pull, work.trial_fit, work.trial_members[q])
    for q in range(k):
        add(work.trial_residual, -work.trial_x[q], work.trial_members[q])
    value = objective(
        k, atoms, spreads, threshold, support, work.trial_x, work.trial_members, work.trial_residual
    )
    return value, leaves


@kernel
def _lean(atom, pull, fit, member):
    """Fill member (m,) with unit(atom + pull fit)."""
    copy(atom, member)
    add(member, pull, fit)
    multiply(member, 1.0 / norm(member))


@kernel
def _worst_at_rest(k, atoms, threshold, least_gain, support, residual):
    """Return the atom at rest that exceeds its bound most, -1 if none does by enough."""
    worst, most = -1, threshold + np.sqrt(0.1 * least_gain)
    for j in range(atoms.shape[0]):
        product = abs(dot(atoms[j], residual))
        if product > most:
            used = False
            for q in range(k):
                used = used or support[q] == j
            if not used:
                worst, most = j, product
    return worst


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
    """Fill the lower half with the Cholesky factor of the upper one plus damping, if it has one.

    The upper half and the diagonal stay; scale (k,) is one over the diagonal of the factor.
    """
    for q in range(k):
        pivot = matrix[q, q] + damping
        for p in range(q):
            total = matrix[p, q]
            for i in range(p):
                total -= matrix[q, i] * matrix[p, i]
            matrix[q, p] = total * scale[p]
            pivot -= matrix[q, p] * matrix[q, p]
        if not pivot > 1e-14:
            return False
        scale[q] = 1.0 / np.sqrt(pivot)
    return True


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
