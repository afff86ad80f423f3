"""The solver behind Gauss-L1: a lasso whose diagonal is a little weaker, on an active set.

Divided by ``lam``, the objective of a signal ``y`` has two kinds of constants, the *spread*
``v_j = lam rho_j^2`` of an atom and the *threshold* ``h = gamma/(2 lam)``:

    sum_j ||a_j - d_j||^2 / v_j  +  ||r||^2  +  2 h ||x||_1,      r = y - sum_j x_j a_j.

At a stationary point every actual atom leans towards the one common residual,

    a_j = alpha_j d_j + beta_j r,      beta_j = v_j z_j,      z_j = alpha_j x_j,

so a code is known by its ``z``. With ``e = y - sum_j z_j d_j`` and ``u_j = <d_j, e>``:

    r = e / (1 + tau),      tau = sum_j v_j z_j^2 / alpha_j,
    alpha_j = sqrt(1 - beta_j^2 ||r||^2 + (beta_j c_j)^2) - beta_j c_j,      c_j = <d_j, r>,

and an atom in use satisfies ``<a_j, r> = h sign(x_j)``, which in terms of ``z`` reads

    u_j + q_j z_j / alpha_j = (1 + tau) h sign(z_j) / alpha_j,      q_j = v_j ||e||^2 / (1 + tau);

one at rest has ``|u_j| <= (1 + tau) h``. All of this lives in the Gram domain: ``u`` follows from the
correlations ``D y`` and the Gram matrix, ``||e||^2`` from both.

A signal is coded in *sweeps*. A greedy lasso gives the atoms to start with. Each sweep solves the
equations above on the atoms in use by Newton steps with a fixed matrix ``(G - diag q)^-1``, dropping
an atom whose coefficient reaches zero, then takes in atoms at rest that violate their bound. A sweep
that fails to lower the objective is undone and left to coordinate descent (`gauss_descent`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import kernel, sum_kernel
from setatoms.coding.blocks import float_key, key_index

# The greedy start stops when no coefficient would move by more than this share of the threshold:
# the active set is then nearly right, and Newton steps are cheaper than more greedy ones.
_GREEDY_SHARE = 0.25
# Newton steps with a fixed matrix converge fast or not at all.
_NEWTON_STEPS = 12
# Atoms taken in after one look at all atoms.
_MOST_ADDED = 3
# Smallest pivot with which an atom may join: the equations stay well conditioned.
_LEAST_PIVOT = 1e-3
# Sweeps after which the active set is deemed to cycle.
_MOST_SWEEPS = 40


class Work(NamedTuple):
    """Work space of the solver; one row a quantity, `active` first in every order.

    Over all atoms (n,): ``u``; ``resting``, 1 for an atom that may come in; ``scratch``.
    Over the atoms in use (width + 1,): ``active``, their indices; ``z``; ``lift`` = 1/alpha; ``near``,
    their u; ``first``, their u at z = 0; ``spread``; ``sign``; ``weaken``, what the matrix lacks on its
    diagonal; ``moved``, what u does not know of z yet; ``right``, ``step``, ``border`` for linear algebra;
    ``inverse`` (width + 1, width + 1); and the last good state, ``kept_active``, ``kept_z``, ``kept_lift``.
    """

    u: NDArray[Any]
    resting: NDArray[Any]
    scratch: NDArray[Any]
    active: NDArray[Any]
    z: NDArray[Any]
    lift: NDArray[Any]
    near: NDArray[Any]
    first: NDArray[Any]
    spread: NDArray[Any]
    sign: NDArray[Any]
    weaken: NDArray[Any]
    moved: NDArray[Any]
    right: NDArray[Any]
    step: NDArray[Any]
    border: NDArray[Any]
    inverse: NDArray[Any]
    kept_active: NDArray[Any]
    kept_z: NDArray[Any]
    kept_lift: NDArray[Any]


@kernel
def allocate_work(n, width):
    """Return a `Work` for n atoms of which at most width are in use."""
    over_all = np.zeros((3, n))
    in_use = np.zeros((13, width + 1))
    indices = np.zeros((2, width + 1), np.int64)
    return Work(
        over_all[0], over_all[1], over_all[2], indices[0],
        in_use[0], in_use[1], in_use[2], in_use[3], in_use[4], in_use[5], in_use[6], in_use[7],
        in_use[8], in_use[9], in_use[10], np.zeros((width + 1, width + 1)),
        indices[1], in_use[11], in_use[12],
    )  # fmt: skip


@kernel
def solve(start, square, gram, spreads, threshold, index_mask, max_sweeps, tol, work):
    """Code a signal with correlations start (n,) and squared norm square.

    Return k, the number of atoms in use, the sweeps spent, the objective, tau, and whether the
    signal has settled. The code is in work.kept_active[:k], kept_z[:k] and kept_lift[:k].
    """
    k = _start_greedily(start, gram, spreads, threshold, index_mask, work)
    tau, rest = _refresh(k, square, 0.0, work)
    k = _invert(k, rest / (1.0 + tau), gram, work)
    value, kept, kept_tau, sweeps, settled = square, 0, 0.0, 0, False
    while sweeps < min(max_sweeps, _MOST_SWEEPS) and not settled:
        sweeps += 1
        k, tau, calm = _solve_active(k, square, tau, threshold, tol * value, gram, work)
        _propagate(k, gram, work)
        tau, rest = _settle(k, square, tau, work)
        now = _objective(k, threshold, tau, rest, work)
        if now > value * (1.0 + 1e-13):
            break
        value, kept, kept_tau = now, k, tau
        _keep(k, work)
        bound = (1.0 + tau) * threshold
        # an atom that exceeds its bound by eps can lower the objective by about eps^2
        slack = np.sqrt(0.1 * tol * value)
        joined, k = _take_in(
            k, bound, slack, rest / (1.0 + tau), start, gram, spreads, index_mask, work
        )
        settled = calm and not joined
        tau, rest = _refresh(k, square, tau, work)
    return kept, sweeps, value, kept_tau, settled


@kernel
def _start_greedily(start, gram, spreads, threshold, index_mask, work):
    """Choose the first atoms by greedy coordinate descent on the lasso; return how many."""
    n, width = start.shape[0], work.active.shape[0] - 1
    work.u[:] = start
    work.scratch[:] = 0.0
    work.resting[:] = 1.0
    z = work.scratch
    k = 0
    j, change = _largest_change(work.u, z, threshold, index_mask)
    for _ in range(8 * width):
        if abs(change) < _GREEDY_SHARE * threshold or (work.resting[j] == 1.0 and k == width):
            break
        if work.resting[j] == 1.0:
            work.resting[j] = 0.0
            work.active[k] = j
            k += 1
        z[j] += change
        _subtract(work.u, change, gram[j])
        j, change = _largest_change(work.u, z, threshold, index_mask)
    used = 0
    for q in range(k):
        j = work.active[q]
        if z[j] == 0.0:
            work.resting[j] = 1.0
        else:
            _enter(used, j, z[j], start, spreads, work)
            used += 1
    return used


@kernel
def _largest_change(u, z, threshold, index_mask):
    """Return the atom whose coefficient the lasso would change most, and the change."""
    best = np.int64(0)
    for j in range(u.shape[0]):
        wish = u[j] + z[j]
        change = u[j] - min(max(wish, -threshold), threshold)
        key = float_key(change, j, index_mask)
        best = key if key > best else best
    j = key_index(best, index_mask)
    return j, u[j] - min(max(u[j] + z[j], -threshold), threshold)


@kernel
def _enter(q, j, z, start, spreads, work):
    """Put atom j with coefficient z in place q."""
    work.active[q] = j
    work.z[q] = z
    work.lift[q] = 1.0
    work.near[q] = work.u[j]
    work.first[q] = start[j]
    work.spread[q] = spreads[j]
    work.sign[q] = 1.0 if z > 0.0 else -1.0
    work.moved[q] = 0.0


@kernel
def _leave(q, k, work):
    """Fill place q with what stands in place k - 1; return k - 1."""
    e = k - 1
    work.active[q] = work.active[e]
    work.z[q] = work.z[e]
    work.lift[q] = work.lift[e]
    work.near[q] = work.near[e]
    work.first[q] = work.first[e]
    work.spread[q] = work.spread[e]
    work.sign[q] = work.sign[e]
    work.weaken[q] = work.weaken[e]
    work.moved[q] = work.moved[e]
    return e


@sum_kernel
def _refresh(k, square, tau, work):
    """Renew 1/alpha (in place) and tau for the present z, once; return tau and ||e||^2."""
    rest = square
    for q in range(k):
        rest -= work.z[q] * (work.first[q] + work.near[q])
    rest = max(rest, 0.0)
    inverse = 1.0 / (1.0 + tau)
    square_r = rest * inverse * inverse
    tau = 0.0
    for q in range(k):
        beta = work.spread[q] * work.z[q]
        lean = beta * work.near[q] * inverse
        alpha = np.sqrt(max(1.0 - beta * beta * square_r + lean * lean, 1e-12)) - lean
        work.lift[q] = 1.0 / alpha
        tau += beta * work.z[q] / alpha
    return tau, rest


@kernel
def _settle(k, square, tau, work):
    """Renew 1/alpha and tau until they agree with each other."""
    for _ in range(60):
        before = tau
        tau, rest = _refresh(k, square, tau, work)
        if abs(tau - before) <= 1e-15 * (1.0 + tau):
            break
    return tau, rest


@sum_kernel
def _objective(k, threshold, tau, rest, work):
    """Return the objective (in units of lam) of a settled code."""
    inverse = 1.0 / (1.0 + tau)
    value = rest * inverse * inverse
    for q in range(k):
        # ||a - d||^2 = 2 (1 - <a, d>) with <a, d> = alpha + beta <d, r>
        along = 1.0 / work.lift[q] + work.spread[q] * work.z[q] * work.near[q] * inverse
        value += 2.0 * (1.0 - along) / work.spread[q]
        value += 2.0 * threshold * abs(work.z[q]) * work.lift[q]
    return value


@kernel
def _invert(k, strength, gram, work):
    """Build the inverse of (G - diag q) atom by atom; one that does not fit rests. Return k."""
    k_built = 0
    for q in range(k):
        j = work.active[q]
        if _border(k_built, j, gram[j, j] - strength * work.spread[q], gram, work):
            z = work.z[q]
            sign = work.sign[q]
            work.active[k_built] = j
            work.z[k_built] = z
            work.sign[k_built] = sign
            work.first[k_built] = work.first[q]
            work.spread[k_built] = work.spread[q]
            work.weaken[k_built] = strength * work.spread[q]
            k_built += 1
        else:
            work.resting[j] = 1.0
            _subtract(work.u, -work.z[q], gram[j])
    for q in range(k_built):
        work.near[q] = work.u[work.active[q]]
        work.lift[q] = 1.0
        work.moved[q] = 0.0
    return k_built


@sum_kernel
def _border(k, j, diagonal, gram, work):
    """Extend the inverse of order k by atom j in place; False if it depends on the others.

    Leaves the row of G in work.border[:k] and its product with the inverse in work.step[:k].
    """
    inverse, row, product = work.inverse, work.border, work.step
    for q in range(k):
        row[q] = gram[j, work.active[q]]
    pivot = diagonal
    for q in range(k):
        total = 0.0
        for p in range(k):
            total += inverse[q, p] * row[p]
        product[q] = total
        pivot -= total * row[q]
    if pivot < _LEAST_PIVOT:
        return False
    scale = 1.0 / pivot
    for q in range(k):
        factor = scale * product[q]
        for p in range(k):
            inverse[q, p] += factor * product[p]
        inverse[q, k] = -factor
        inverse[k, q] = -factor
    inverse[k, k] = scale
    return True


@kernel
def _unborder(k, q, work):
    """Shrink the inverse of order k by place q in place, which place k - 1 then fills."""
    inverse, column = work.inverse, work.border
    for p in range(k):
        column[p] = inverse[p, q]
    scale = 1.0 / column[q]
    for p in range(k):
        factor = scale * column[p]
        for t in range(k):
            inverse[p, t] -= factor * column[t]
    e = k - 1
    for p in range(k):
        inverse[p, q] = inverse[p, e]
    for p in range(k):
        inverse[q, p] = inverse[e, p]


@kernel
def _solve_active(k, square, tau, threshold, enough, gram, work):
    """Solve for the atoms in use; atoms whose coefficient reaches zero are dropped.

    Return k, tau, and whether the last step could lower the objective by less than ``enough``.
    """
    damping = 1.0
    before = np.inf
    for _ in range(_NEWTON_STEPS):
        tau, rest = _refresh(k, square, tau, work)
        largest = _newton_step(k, tau, rest, threshold, work)
        if largest > 0.5 * before and damping > 0.3:
            damping *= 0.6
        before = largest
        length, q = _first_to_vanish(k, damping, work)
        _move(k, length, work)
        if q >= 0:
            k = _drop(k, q, gram, work)
            before = np.inf
        elif k * largest * largest <= enough:
            return k, tau, True
    return k, tau, False


@sum_kernel
def _newton_step(k, tau, rest, threshold, work):
    """Fill work.right and work.step (their solution); return the largest entry of the step."""
    strength = rest / (1.0 + tau)
    bound = (1.0 + tau) * threshold
    for q in range(k):
        pulled = strength * work.spread[q] * work.z[q] - bound * work.sign[q]
        work.right[q] = work.near[q] + work.lift[q] * pulled
    largest = 0.0
    for q in range(k):
        total = 0.0
        for p in range(k):
            total += work.inverse[q, p] * work.right[p]
        work.step[q] = total
        largest = max(largest, abs(total))
    return largest


@kernel
def _first_to_vanish(k, damping, work):
    """Return how far to go along the step, and the place whose coefficient is zero there or -1."""
    length, place = damping, -1
    for q in range(k):
        if (work.z[q] + length * work.step[q]) * work.sign[q] < 0.0:
            length = -work.z[q] / work.step[q]
            place = q
    return length, place


@kernel
def _move(k, length, work):
    """Go along the step; u changes by G step = right + diag(q) step on the atoms in use."""
    for q in range(k):
        by = length * work.step[q]
        work.z[q] += by
        work.moved[q] += by
        work.near[q] -= length * work.right[q] + work.weaken[q] * by


@kernel
def _drop(k, q, gram, work):
    """Let the atom in place q rest; return k - 1."""
    j = work.active[q]
    # u knows z - moved of this atom, and all of it goes
    _subtract(work.u, work.moved[q] - work.z[q], gram[j])
    work.resting[j] = 1.0
    _unborder(k, q, work)
    return _leave(q, k, work)


@kernel
def _propagate(k, gram, work):
    """Tell u of the moves since it was last right."""
    for q in range(k):
        _subtract(work.u, work.moved[q], gram[work.active[q]])
        work.moved[q] = 0.0
    for q in range(k):
        work.near[q] = work.u[work.active[q]]


@kernel
def _take_in(k, bound, slack, strength, start, gram, spreads, index_mask, work):
    """Let atoms that exceed their bound join; return whether any did or should, and k."""
    width = work.active.shape[0] - 1
    largest, tried, joined = 0.0, 0, False
    while tried < _MOST_ADDED and k < width:
        j = _worst_resting(work.u, work.resting, index_mask)
        excess = abs(work.u[j]) * work.resting[j] - bound
        # atoms after the first must be about as bad: its coming may well mend the others
        if excess <= slack or excess < 0.5 * largest:
            break
        largest = max(largest, excess)
        joined = True
        tried += 1
        k = _join(k, j, excess, strength, start, gram, spreads, work)
    # an atom that could not join now may do so later
    for j in range(work.resting.shape[0]):
        if work.resting[j] == 0.5:
            work.resting[j] = 1.0
    return joined, k


@kernel
def _worst_resting(u, resting, index_mask):
    """Return the resting atom with the largest correlation."""
    best = np.int64(0)
    for j in range(u.shape[0]):
        key = float_key(u[j] * resting[j], j, index_mask)
        best = key if key > best else best
    return key_index(best, index_mask)


@kernel
def _join(k, j, excess, strength, start, gram, spreads, work):
    """Take atom j in, others leaving for it where they depend on each other; return k."""
    sign = 1.0 if work.u[j] > 0.0 else -1.0
    weaken = strength * spreads[j]
    z = 0.0
    for _ in range(4):
        if _border(k, j, gram[j, j] - weaken, gram, work):
            if z == 0.0:
                z = sign * excess / max(1.0 - weaken, 0.2)
                _subtract(work.u, z, gram[j])
            work.resting[j] = 0.0
            _enter(k, j, z, start, spreads, work)
            work.weaken[k] = weaken
            k += 1
            break
        z, k, left = _exchange(k, j, z, sign, gram, work)
        if not left:
            # nobody makes room: not now
            _subtract(work.u, -z, gram[j])
            work.resting[j] = 0.5
            break
    else:
        _subtract(work.u, -z, gram[j])
        work.resting[j] = 0.5
    for q in range(k):
        work.near[q] = work.u[work.active[q]]
    return k


@kernel
def _exchange(k, j, z, sign, gram, work):
    """Grow atom j at the others' cost until one of them vanishes and leaves.

    Return z of atom j, k, and whether one left. Expects work.step as `_border` left it.
    """
    shortest, place = np.inf, -1
    for q in range(k):
        if work.sign[q] * work.step[q] * sign > 0.0:
            length = abs(work.z[q] / work.step[q])
            if length < shortest:
                shortest, place = length, q
    if place < 0:
        return z, k, False
    grown = shortest * sign
    for q in range(k):
        by = -grown * work.step[q]
        work.z[q] += by
        _subtract(work.u, by, gram[work.active[q]])
    _subtract(work.u, grown, gram[j])
    left = work.active[place]
    _subtract(work.u, -work.z[place], gram[left])
    work.resting[left] = 0.5
    _unborder(k, place, work)
    return z + grown, _leave(place, k, work), True


@kernel
def _keep(k, work):
    """Remember the present code as the last good one."""
    for q in range(k):
        work.kept_active[q] = work.active[q]
        work.kept_z[q] = work.z[q]
        work.kept_lift[q] = work.lift[q]


@kernel
def _subtract(vector, factor, other):
    """Subtract factor * other (n,) from vector (n,) in place."""
    for i in range(vector.shape[0]):
        vector[i] -= factor * other[i]
