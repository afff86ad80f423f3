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

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import kernel
from setatoms.coding.lanes import LANES, Vector, add_rows, lane_kernel, padded

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

Floats = NDArray[np.float64]
Vectors = list[Vector]

# Rows of the table: what is known of each atom in use, one column a place.
_Z = 0
_LIFT = 1  # 1 / alpha
_NEAR = 2  # u of this atom
_FIRST = 3  # u of this atom at z = 0
_SPREAD = 4
_SIGN = 5
_WEAKEN = 6  # what the matrix lacks on its diagonal
_OWED = 7  # change of z that u does not know yet, negated
_N_KNOWN = 8
# and rows for linear algebra
_RIGHT = 8
_STEP = 9
_LINE = 10


class Work(NamedTuple):
    """Work space of the solver.

    The table has whole vectors of places; those from k on are *clear*: what they hold changes no
    sum, so that loops may run over whole vectors.
    """

    width: int  # most atoms in use
    u: Floats  # (n_padded,)
    z_all: Floats  # (n_padded,)
    resting: Floats  # (n_padded,): 1 if an atom may come in, 0 if it is in use, 0.5 if it must wait
    active: NDArray[np.int64]  # (n_places,): the atoms in use
    table: Floats  # (11, n_places)
    inverse: Floats  # (n_places, n_places)
    places: NDArray[np.int64]  # 0, 1, 2, ...
    kept: Floats  # (2, n_places): z and 1/alpha of the last good code
    kept_active: NDArray[np.int64]  # (n_places,): its atoms


def allocate_work(n_padded: int, width: int) -> Work:
    """Return work space for signals that use at most ``width`` atoms."""
    n_places = padded(width + 1)
    return Work(
        width,
        *np.zeros((3, n_padded)),
        active=np.zeros(n_places, np.int64),
        table=np.zeros((11, n_places)),
        inverse=np.zeros((n_places, n_places)),
        places=np.arange(n_places),
        kept=np.zeros((2, n_places)),
        kept_active=np.zeros(n_places, np.int64),
    )


@kernel
def solve(start, square, dictionary, spreads, threshold, max_sweeps, tol, n_kept, work):
    """Code a signal with correlations start (n,) and squared norm square.

    It starts from the n_kept atoms in work.kept_active with z in work.kept[0], or greedily if there
    are none. Return k, the number of atoms in use, the sweeps spent, the objective, tau, and whether
    the signal has settled. The code is in work.kept_active[:k] and work.kept[:, :k].
    """
    gram, table = dictionary.gram, work.table
    if n_kept > 0:
        k = _start_warm(n_kept, start, gram, spreads, work)
    else:
        k = _start_greedily(start, dictionary, spreads, threshold, work)
    tau, rest = _refresh(k, square, 0.0, table)
    k = _invert(k, rest / (1.0 + tau), gram, work)
    value, kept, kept_tau, sweeps, settled = square, 0, 0.0, 0, False
    while sweeps < min(max_sweeps, _MOST_SWEEPS) and not settled:
        sweeps += 1
        k, tau, calm = _solve_active(k, square, tau, threshold, tol * value, gram, work)
        _propagate(k, gram, work.u, work.active, table)
        tau, rest = _settle(k, square, tau, table)
        now = _objective(k, threshold, tau, rest, table)
        if now > value * (1.0 + 1e-13):
            break
        value, kept, kept_tau = now, k, tau
        _keep(k, work.active, table, work.kept, work.kept_active)
        bound = (1.0 + tau) * threshold
        # an atom that exceeds its bound by eps can lower the objective by about eps^2
        slack = np.sqrt(0.1 * tol * value)
        came, k = _take_in(
            k, bound, slack, rest / (1.0 + tau), start, dictionary, spreads, work
        )
        settled = calm and not came
    return kept, sweeps, value, kept_tau, settled


# ---- the atoms to start with


@kernel
def _start_greedily(start, dictionary, spreads, threshold, work):
    """Choose the first atoms by greedy coordinate descent on the lasso; return how many."""
    n, mask = start.shape[0], dictionary.index_mask
    u, z = work.u, work.z_all
    j = _begin(n, start, u, z, work.resting, threshold, mask)
    k = 0
    for _ in range(8 * work.width):
        change = u[j] - min(max(u[j] + z[j], -threshold), threshold)
        if abs(change) < _GREEDY_SHARE * threshold:
            break
        if work.resting[j] == 1.0:
            if k == work.width:
                break
            work.resting[j] = 0.0
            work.active[k] = j
            k += 1
        z[j] += change
        j = _change(n, u, dictionary.gram[j], z, change, threshold, mask)
    used = 0
    for q in range(k):
        j = work.active[q]
        if z[j] == 0.0:
            work.resting[j] = 1.0
        else:
            _enter(used, j, z[j], start, u, spreads, work.active, work.table)
            used += 1
    _clear_from(used, work.table)
    return used


def _excess(u: Vector, wish: Vector, threshold: Vector) -> Vector:
    """How much the lasso would change a coefficient."""
    return u - wish.at_most(threshold).at_least(-threshold)


def _begin_body(arrays: Vectors, scalars: Vectors) -> tuple[Vectors, Vectors]:
    start = arrays[0]
    zero, one = start.constant(0.0), start.constant(1.0)
    return [start, zero, one], [_excess(start, start, scalars[0])]


def _change_body(arrays: Vectors, scalars: Vectors) -> tuple[Vectors, Vectors]:
    u, row, z = arrays
    u = u - scalars[0] * row
    return [u], [_excess(u, u + z, scalars[1])]


# start -> u, z, resting; the atom to change most
_begin = lane_kernel(4, 1, _begin_body, writes=(1, 2, 3), reduces=("argmax",))
# u -= change * row; the next atom to change
_change = lane_kernel(3, 2, _change_body, writes=(0,), reduces=("argmax",))


@kernel
def _start_warm(n_kept, start, gram, spreads, work):
    """Start from the code that was kept; return its number of atoms."""
    n = start.shape[0]
    _begin(n, start, work.u, work.z_all, work.resting, 0.0, 0)
    for q in range(n_kept):
        j = work.kept_active[q]
        work.resting[j] = 0.0
        _add(n, work.u, gram[j], -work.kept[0, q])
    for q in range(n_kept):
        j, z = work.kept_active[q], work.kept[0, q]
        _enter(q, j, z, start, work.u, spreads, work.active, work.table)
    _clear_from(n_kept, work.table)
    return n_kept


# ---- places


@kernel
def _enter(q, j, z, start, u, spreads, active, table):
    """Put atom j with coefficient z in place q."""
    active[q] = j
    table[_Z, q] = z
    table[_LIFT, q] = 1.0
    table[_NEAR, q] = u[j]
    table[_FIRST, q] = start[j]
    table[_SPREAD, q] = spreads[j]
    table[_SIGN, q] = 1.0 if z > 0.0 else -1.0
    table[_WEAKEN, q] = 0.0
    table[_OWED, q] = 0.0


@kernel
def _leave(q, k, active, table):
    """Fill place q with what stands in place k - 1, which is cleared; return k - 1."""
    _move_place(k - 1, q, active, table)
    _clear(k - 1, table)
    return k - 1


@kernel
def _move_place(source, target, active, table):
    """Copy place source to place target."""
    active[target] = active[source]
    for known in range(_N_KNOWN):
        table[known, target] = table[known, source]


@kernel
def _clear(q, table):
    """Let place q hold nothing that counts."""
    for known in range(_N_KNOWN):
        table[known, q] = 0.0
    table[_LIFT, q] = 1.0
    table[_SPREAD, q] = 1.0


@kernel
def _clear_from(k, table):
    """Clear the places from k on."""
    for q in range(k, table.shape[1]):
        _clear(q, table)


@kernel
def _look_up(k, u, active, table):
    """Renew u of the atoms in use."""
    for q in range(k):
        table[_NEAR, q] = u[active[q]]


@kernel
def _whole(k):
    """Return k rounded up to whole vectors."""
    return (k + LANES - 1) // LANES * LANES


# ---- tau, alpha and the objective


@kernel
def _refresh(k, square, tau, table):
    """Renew 1/alpha and tau for the present z, once; return tau and ||e||^2."""
    whole = _whole(k)
    rest = max(square - _explained(whole, table[_Z], table[_FIRST], table[_NEAR]), 0.0)
    inverse = 1.0 / (1.0 + tau)
    tau = _renew(
        whole, table[_Z], table[_NEAR], table[_SPREAD], table[_LIFT],
        inverse, rest * inverse * inverse,
    )  # fmt: skip
    return tau, rest


def _explained_body(arrays: Vectors, scalars: Vectors) -> tuple[Vectors, Vectors]:
    z, first, near = arrays
    return [], [z * (first + near)]


def _renew_body(arrays: Vectors, scalars: Vectors) -> tuple[Vectors, Vectors]:
    z, near, spread, _ = arrays
    inverse, square = scalars
    beta = spread * z
    lean = beta * near * inverse
    alpha = (1.0 - beta * beta * square + lean * lean).at_least(1e-12).sqrt() - lean
    lift = 1.0 / alpha
    return [lift], [beta * z * lift]


_explained = lane_kernel(3, 0, _explained_body, reduces=("sum",))
_renew = lane_kernel(4, 2, _renew_body, writes=(3,), reduces=("sum",))


@kernel
def _settle(k, square, tau, table):
    """Renew 1/alpha and tau until they agree with each other."""
    for _ in range(60):
        before = tau
        tau, rest = _refresh(k, square, tau, table)
        if abs(tau - before) <= 1e-15 * (1.0 + tau):
            break
    return tau, rest


@kernel
def _objective(k, threshold, tau, rest, table):
    """Return the objective (in units of lam) of a settled code."""
    inverse = 1.0 / (1.0 + tau)
    square = rest * inverse * inverse
    return square + _price(
        _whole(k), table[_Z], table[_LIFT], table[_NEAR], table[_SPREAD], table[_SIGN],
        inverse, square, 2.0 * threshold,
    )  # fmt: skip


def _price_body(arrays: Vectors, scalars: Vectors) -> tuple[Vectors, Vectors]:
    z, lift, near, spread, sign = arrays
    inverse, square, threshold = scalars
    # a - d = (alpha - 1) d + beta r; its norm without the cancellation in alpha - 1
    beta = spread * z
    lean = beta * near * inverse
    bent = beta * beta * square
    across = lean * lean - bent
    dip = across / ((across + 1.0).at_least(1e-12).sqrt() + 1.0) - lean
    distance = dip * (dip + lean + lean) + bent
    return [], [distance / spread + threshold * sign * z * lift]


_price = lane_kernel(5, 3, _price_body, reduces=("sum",))


# ---- the inverse of (G - diag q) on the atoms in use


@kernel
def _invert(k, strength, gram, work):
    """Build the inverse atom by atom; one that does not fit is put to rest. Return k."""
    active, table = work.active, work.table
    built = 0
    for q in range(k):
        j, weaken = active[q], strength * table[_SPREAD, q]
        if _border(built, j, gram[j, j] - weaken, gram, active, table, work.inverse, work.places):
            _move_place(q, built, active, table)
            table[_WEAKEN, built] = weaken
            built += 1
        else:
            work.resting[j] = 1.0
            _add(gram.shape[0], work.u, gram[j], table[_Z, q])
    if built < k:
        for q in range(built, k):
            _clear(q, table)
        _look_up(built, work.u, active, table)
    return built


@kernel
def _border(k, j, diagonal, gram, active, table, inverse, places):
    """Extend the inverse of order k by atom j in place; False if it depends on the others.

    Leaves the product of the inverse and the row of G in the table's step.
    """
    whole = _whole(k + 1)
    row, product = table[_LINE], table[_STEP]
    for q in range(whole):
        row[q] = gram[j, active[q]] if q < k else 0.0
    if k % LANES == 0:
        _clear_margin(k, inverse)
    _zero(whole, product)
    add_rows(whole, product, inverse, places, row, k)
    pivot = diagonal - _dot(whole, row, product)
    if pivot < _LEAST_PIVOT:
        return False
    product[k] = -1.0
    for q in range(k + 1):
        _add(whole, inverse[q], product, product[q] / pivot)
    return True


@kernel
def _clear_margin(k, inverse):
    """Set rows and columns k to k + 7 of the inverse to zero."""
    for q in range(k):
        for p in range(k, k + LANES):
            inverse[q, p] = 0.0
    for q in range(k, k + LANES):
        _zero(k + LANES, inverse[q])


@kernel
def _unborder(k, q, column, inverse):
    """Shrink the inverse of order k by place q, which place k - 1 then fills; column is work space."""
    whole, last = _whole(k), k - 1
    _copy(whole, inverse[q], column)
    scale = -1.0 / column[q]
    for p in range(k):
        _add(whole, inverse[p], column, scale * column[p])
    corner = inverse[last, last]
    _copy(whole, inverse[last], inverse[q])
    inverse[q, q] = corner
    inverse[q, last] = 0.0
    for p in range(k):
        inverse[p, q] = inverse[q, p]
        inverse[p, last] = 0.0
    _zero(whole, inverse[last])


def _add_body(arrays: Vectors, scalars: Vectors) -> tuple[Vectors, Vectors]:
    return [arrays[0] + scalars[0] * arrays[1]], []


def _zero_body(arrays: Vectors, scalars: Vectors) -> tuple[Vectors, Vectors]:
    return [arrays[0].constant(0.0)], []


_add = lane_kernel(2, 1, _add_body, writes=(0,))
_dot = lane_kernel(2, 0, lambda arrays, scalars: ([], [arrays[0] * arrays[1]]), reduces=("sum",))
_copy = lane_kernel(2, 0, lambda arrays, scalars: ([arrays[0]], []), writes=(1,))
_zero = lane_kernel(1, 0, _zero_body, writes=(0,))


# ---- Newton steps on the atoms in use


@kernel
def _solve_active(k, square, tau, threshold, enough, gram, work):
    """Solve for the atoms in use; atoms whose coefficient reaches zero are dropped.

    Return k, tau, and whether the last step could lower the objective by less than ``enough``.
    """
    table = work.table
    damping, before = 1.0, np.inf
    for _ in range(_NEWTON_STEPS):
        tau, rest = _refresh(k, square, tau, table)
        largest, vanishing = _newton_step(k, tau, rest, threshold, table, work.inverse, work.places)
        if largest > 0.5 * before and damping > 0.3:
            damping *= 0.6
        before = largest
        length, q = damping, -1
        if vanishing < damping:
            length, q = _first_to_vanish(k, damping, table)
        _move(
            _whole(k), table[_Z], table[_OWED], table[_NEAR],
            table[_STEP], table[_RIGHT], table[_WEAKEN], length,
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
    whole = _whole(k)
    _set_right(
        whole, table[_NEAR], table[_LIFT], table[_SPREAD], table[_Z], table[_SIGN], table[_RIGHT],
        rest / (1.0 + tau), (1.0 + tau) * threshold,
    )  # fmt: skip
    _zero(whole, table[_STEP])
    add_rows(whole, table[_STEP], inverse, places, table[_RIGHT], k)
    return _measure(whole, table[_STEP], table[_Z], table[_SIGN])


def _right_body(arrays: Vectors, scalars: Vectors) -> tuple[Vectors, Vectors]:
    near, lift, spread, z, sign, _ = arrays
    strength, bound = scalars
    return [near + lift * (strength * spread * z - bound * sign)], []


def _measure_body(arrays: Vectors, scalars: Vectors) -> tuple[Vectors, Vectors]:
    step, z, sign = arrays
    return [], [abs(step), (-(z / step)).where_negative((z + step) * sign, 1e300)]


def _move_body(arrays: Vectors, scalars: Vectors) -> tuple[Vectors, Vectors]:
    z, owed, near, step, right, weaken = arrays
    length = scalars[0]
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
        if (table[_Z, q] + length * table[_STEP, q]) * table[_SIGN, q] < 0.0:
            length = -table[_Z, q] / table[_STEP, q]
            place = q
    return length, place


@kernel
def _drop(k, q, gram, work):
    """Let the atom in place q rest; return k - 1."""
    j, table = work.active[q], work.table
    # u knows z + owed of this atom, and all of it goes
    _add(gram.shape[0], work.u, gram[j], table[_Z, q] + table[_OWED, q])
    work.resting[j] = 1.0
    _unborder(k, q, table[_LINE], work.inverse)
    return _leave(q, k, work.active, table)


@kernel
def _propagate(k, gram, u, active, table):
    """Tell u of the changes of z since it was last right."""
    add_rows(gram.shape[0], u, gram, active, table[_OWED], k)
    _zero(_whole(k), table[_OWED])
    _look_up(k, u, active, table)


# ---- atoms that come in


@kernel
def _take_in(k, bound, slack, strength, start, dictionary, spreads, work):
    """Let atoms that exceed their bound join; return whether any did or should, and k."""
    n, u, resting = start.shape[0], work.u, work.resting
    largest, came, waiting = 0.0, 0, False
    while came < _MOST_ADDED and k < work.width:
        j = _worst(n, u, resting, dictionary.index_mask)
        excess = abs(u[j]) * resting[j] - bound
        # atoms after the first must be about as bad: its coming may well mend the others
        if excess <= slack or excess < 0.5 * largest:
            break
        largest = max(largest, excess)
        came += 1
        k, exchanged = _join(k, j, excess, strength, start, dictionary.gram, spreads, work)
        waiting = waiting or exchanged
    if waiting:
        for j in range(n):
            if resting[j] == 0.5:
                resting[j] = 1.0
    if came > 0:
        _look_up(k, u, work.active, work.table)
    return came > 0, k


_worst = lane_kernel(
    2, 0, lambda arrays, scalars: ([], [arrays[0] * arrays[1]]), reduces=("argmax",)
)


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
        if _border(k, j, gram[j, j] - weaken, gram, active, table, work.inverse, work.places):
            if z == 0.0:
                z = sign * excess / max(1.0 - weaken, 0.2)
                _add(n, u, gram[j], -z)
            work.resting[j] = 0.0
            _enter(k, j, z, start, u, spreads, active, table)
            table[_WEAKEN, k] = weaken
            return k + 1, waiting
        waiting = True
        grown, k = _exchange(k, j, sign, gram, work)
        if grown == 0.0:
            break
        z += grown
    # nobody makes room now
    _add(n, u, gram[j], z)
    work.resting[j] = 0.5
    return k, waiting


@kernel
def _exchange(k, j, sign, gram, work):
    """Grow atom j at the others' cost until one of them vanishes and leaves.

    Return by how much it grew, zero if nobody leaves, and k. Expects the step that `_border` left.
    """
    n, u, active, table = gram.shape[0], work.u, work.active, work.table
    shortest, place = np.inf, -1
    for q in range(k):
        if table[_SIGN, q] * table[_STEP, q] * sign > 0.0:
            length = abs(table[_Z, q] / table[_STEP, q])
            if length < shortest:
                shortest, place = length, q
    if place < 0:
        return 0.0, k
    grown = shortest * sign
    for q in range(k):
        by = -grown * table[_STEP, q]
        table[_Z, q] += by
        _add(n, u, gram[active[q]], -by)
    _add(n, u, gram[j], -grown)
    _add(n, u, gram[active[place]], table[_Z, place])
    work.resting[active[place]] = 0.5
    _unborder(k, place, table[_LINE], work.inverse)
    return grown, _leave(place, k, active, table)


@kernel
def _keep(k, active, table, kept, kept_active):
    """Remember the present code as the last good one."""
    for q in range(k):
        kept_active[q] = active[q]
        kept[0, q] = table[_Z, q]
        kept[1, q] = table[_LIFT, q]
