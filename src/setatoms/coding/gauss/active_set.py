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

one at rest has ``|u_j| <= (1 + tau) h``. All of this lives in the Gram domain: ``u`` follows from
the correlations ``D y`` and the Gram matrix, ``||e||^2`` from both.

A signal is coded in *sweeps*. A greedy lasso gives the atoms to start with (`start`). Each
sweep solves the equations above on the atoms in use by Newton steps with a fixed matrix
``(G - diag q)^-1`` (`inverse`), dropping an atom whose coefficient reaches zero, then takes
in atoms at rest that violate their bound. A sweep that fails to lower the objective is undone and
left to coordinate descent (`descent`).
"""

from __future__ import annotations

import numpy as np

from setatoms._compile import kernel
from setatoms.coding.gauss.inverse import add_multiple, border, invert, set_zero, unborder
from setatoms.coding.gauss.objective import objective, refresh, settle
from setatoms.coding.gauss.quantities import LIFT, LINE, NEAR, RIGHT, SIGN, SPREAD, STEP, WEAKEN, Z
from setatoms.coding.gauss.start import start_greedily, start_warm
from setatoms.coding.gauss.table import OWED, enter, keep, leave, look_up, whole_vectors
from setatoms.lanes import Lanes, Vector, add_rows, lane_kernel

# Newton steps with a fixed matrix converge fast or not at all.
_NEWTON_STEPS = 12
# Atoms taken in after one look at all atoms.
_MOST_ADDED = 3
# Sweeps after which the active set is deemed to cycle.
_MOST_SWEEPS = 40


@kernel
def solve(start, square, layout, spreads, threshold, max_sweeps, tol, n_kept, work):
    """Code a signal with correlations start (n,) and squared norm square.

    It starts from the n_kept atoms in work.kept_active with z in work.kept[0], or greedily if there
    are none. Return k, the number of atoms in use, the sweeps spent, the objective, tau, and
    whether the signal has settled. The code is in work.kept_active[:k] and work.kept[:, :k].
    """
    gram, table = layout.gram, work.table
    if n_kept > 0:
        k = start_warm(n_kept, start, gram, spreads, work)
    else:
        k = start_greedily(start, layout, spreads, threshold, work)
    tau, rest = refresh(k, square, 0.0, table)
    k = invert(k, rest / (1.0 + tau), gram, work)
    value, kept, kept_tau, sweeps, settled = square, 0, 0.0, 0, False
    while sweeps < min(max_sweeps, _MOST_SWEEPS) and not settled:
        sweeps += 1
        k, tau, calm = _solve_active(k, square, tau, threshold, tol * value, gram, work)
        _propagate(k, gram, work.u, work.active, table)
        tau, rest = settle(k, square, tau, table)
        now = objective(k, threshold, tau, rest, table)
        if now > value * (1.0 + 1e-13):
            break
        value, kept, kept_tau = now, k, tau
        keep(k, work.active, table, work.kept, work.kept_active)
        bound = (1.0 + tau) * threshold
        # an atom that exceeds its bound by eps can lower the objective by about eps^2
        slack = np.sqrt(0.1 * tol * value)
        came, k = _take_in(k, bound, slack, rest / (1.0 + tau), start, layout, spreads, work)
        settled = calm and not came
    return kept, sweeps, value, kept_tau, settled


# ---- Newton steps on the atoms in use


@kernel
def _solve_active(k, square, tau, threshold, enough, gram, work):
    """Solve for the atoms in use; atoms whose coefficient reaches zero are dropped.

    Return k, tau, and whether the last step could lower the objective by less than ``enough``.
    """
    table = work.table
    damping, before = 1.0, np.inf
    for _ in range(_NEWTON_STEPS):
        tau, rest = refresh(k, square, tau, table)
        largest, vanishing = _newton_step(k, tau, rest, threshold, table, work.inverse, work.places)
        if largest > 0.5 * before and damping > 0.3:
            damping *= 0.6
        before = largest
        length, q = damping, -1
        if vanishing < damping:
            length, q = _first_to_vanish(k, damping, table)
        _move(
            whole_vectors(k), table[Z], table[OWED], table[NEAR],
            table[STEP], table[RIGHT], table[WEAKEN], length,
        )  # fmt: skip
        if q >= 0:
            k = _drop(k, q, gram, work)
            before = np.inf
        elif k * largest * largest <= enough:
            return k, tau, True
    return k, tau, False


@kernel
def _newton_step(k, tau, rest, threshold, table, inverse, places):
    """Fill the table's right-hand side and step, its solution.

    Return the largest entry of the step and the share of it at which a coefficient vanishes.
    """
    whole = whole_vectors(k)
    _set_right(
        whole, table[NEAR], table[LIFT], table[SPREAD], table[Z], table[SIGN], table[RIGHT],
        rest / (1.0 + tau), (1.0 + tau) * threshold,
    )  # fmt: skip
    set_zero(whole, table[STEP])
    add_rows(whole, table[STEP], inverse, places, table[RIGHT], k)
    return _measure(whole, table[STEP], table[Z], table[SIGN])


def _right_body(
    near: Vector, lift: Vector, spread: Vector, z: Vector, sign: Vector, _right: Vector,
    strength: Vector, bound: Vector,
) -> Lanes:  # fmt: skip
    return [near + lift * (strength * spread * z - bound * sign)], []


def _measure_body(step: Vector, z: Vector, sign: Vector) -> Lanes:
    return [], [abs(step), (-(z / step)).where_negative((z + step) * sign, 1e300)]


def _move_body(
    z: Vector, owed: Vector, near: Vector, step: Vector, right: Vector, weaken: Vector,
    length: Vector,
) -> Lanes:  # fmt: skip
    by = length * step
    # u changes by G step = right + diag(q) step
    return [z + by, owed - by, near - length * right - weaken * by], []


_set_right = lane_kernel(6, 2, _right_body, writes=(5,))
_measure = lane_kernel(3, 0, _measure_body, reduces=("max", "min"))
_move = lane_kernel(6, 1, _move_body, writes=(0, 1, 2))


@kernel
def _first_to_vanish(k, damping, table):
    """Return how far to go along the step, and the place whose coefficient is zero there or -1."""
    length, place = damping, -1
    for q in range(k):
        if (table[Z, q] + length * table[STEP, q]) * table[SIGN, q] < 0.0:
            length = -table[Z, q] / table[STEP, q]
            place = q
    return length, place


@kernel
def _drop(k, q, gram, work):
    """Let the atom in place q rest; return k - 1."""
    j, table = work.active[q], work.table
    # u knows z + owed of this atom, and all of it goes
    add_multiple(gram.shape[0], work.u, gram[j], table[Z, q] + table[OWED, q])
    work.resting[j] = 1.0
    unborder(k, q, table[LINE], work.inverse)
    return leave(q, k, work.active, table)


@kernel
def _propagate(k, gram, u, active, table):
    """Tell u of the changes of z since it was last right."""
    add_rows(gram.shape[0], u, gram, active, table[OWED], k)
    set_zero(whole_vectors(k), table[OWED])
    look_up(k, u, active, table)


# ---- atoms that come in


@kernel
def _take_in(k, bound, slack, strength, start, layout, spreads, work):
    """Let atoms that exceed their bound join; return whether any did or should, and k."""
    n, u, resting = start.shape[0], work.u, work.resting
    largest, came, waiting = 0.0, 0, False
    while came < _MOST_ADDED and k < work.width:
        j = _worst(n, u, resting, layout.index_mask)
        excess = abs(u[j]) * resting[j] - bound
        # atoms after the first must be about as bad: its coming may well mend the others
        if excess <= slack or excess < 0.5 * largest:
            break
        largest = max(largest, excess)
        came += 1
        k, exchanged = _join(k, j, excess, strength, start, layout.gram, spreads, work)
        waiting = waiting or exchanged
    if waiting:
        for j in range(n):
            if resting[j] == 0.5:
                resting[j] = 1.0
    if came > 0:
        look_up(k, u, work.active, work.table)
    return came > 0, k


_worst = lane_kernel(2, 0, lambda u, resting: ([], [u * resting]), reduces=("argmax",))


@kernel
def _join(k, j, excess, strength, start, gram, spreads, work):
    """Take atom j in, others leaving for it where they depend on each other.

    Return k and whether atoms now wait that may come in at the next sweep.
    """
    n, u, active, table = start.shape[0], work.u, work.active, work.table
    sign = 1.0 if u[j] > 0.0 else -1.0
    weaken = strength * spreads[j]
    z, waiting = 0.0, False
    for _ in range(4):
        if border(k, j, gram[j, j] - weaken, gram, active, table, work.inverse, work.places):
            if z == 0.0:
                z = sign * excess / max(1.0 - weaken, 0.2)
                add_multiple(n, u, gram[j], -z)
            work.resting[j] = 0.0
            enter(k, j, z, start, u, spreads, active, table)
            table[WEAKEN, k] = weaken
            return k + 1, waiting
        waiting = True
        grown, k = _exchange(k, j, sign, gram, work)
        if grown == 0.0:
            break
        z += grown
    # nobody makes room now
    add_multiple(n, u, gram[j], z)
    work.resting[j] = 0.5
    return k, waiting


@kernel
def _exchange(k, j, sign, gram, work):
    """Grow atom j at the others' cost until one of them vanishes and leaves.

    Return by how much it grew, zero if nobody leaves, and k. Expects the step that `border` left.
    """
    n, u, active, table = gram.shape[0], work.u, work.active, work.table
    shortest, place = np.inf, -1
    for q in range(k):
        if table[SIGN, q] * table[STEP, q] * sign > 0.0:
            length = abs(table[Z, q] / table[STEP, q])
            if length < shortest:
                shortest, place = length, q
    if place < 0:
        return 0.0, k
    grown = shortest * sign
    for q in range(k):
        by = -grown * table[STEP, q]
        table[Z, q] += by
        add_multiple(n, u, gram[active[q]], -by)
    add_multiple(n, u, gram[j], -grown)
    add_multiple(n, u, gram[active[place]], table[Z, place])
    work.resting[active[place]] = 0.5
    unborder(k, place, table[LINE], work.inverse)
    return grown, leave(place, k, active, table)
