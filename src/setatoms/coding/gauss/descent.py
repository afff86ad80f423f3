"""Coordinate descent for Gauss-L1: slower than the active set, but sure in every regime.

With ``r_j`` the residual without atom ``j``, the best pair of actual atom and coefficient lies in
the plane of ``d_j`` and ``r_j``. Let ``theta`` be the angle between ``d_j`` and ``+-r_j`` and
``phi`` the angle by which the atom leans; the best coefficient is then
``x = ||r_j|| cos(theta - phi) - h``, and ``phi`` solves

    sin(phi) = v_j x ||r_j|| sin(theta - phi),      0 <= phi <= theta,

a search in one variable. Every visit of an atom lowers the objective or leaves it as it is.

Where atoms may lean far, they replace each other in thousands of tiny steps. So after each sweep
the code is *stretched*: coefficients and actual atoms go on the way they went, further each time,
as long as that lowers the objective.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import kernel
from setatoms.lanes import lane_kernel
from setatoms.vectors import add, copy, dot, multiply, norm

# How many times as far as the last sweep a code may be stretched.
_MOST_STRETCH = 1e4


class Past(NamedTuple):
    """The code before a sweep, and then what it is stretched to."""

    x: NDArray[np.float64]  # (width,)
    members: NDArray[np.float64]  # (width, n_features)
    residual: NDArray[np.float64]  # (n_features,)


def allocate_past(width: int, n_features: int) -> Past:
    """Return room for codes of up to ``width`` atoms."""
    return Past(np.empty(width), np.empty((width, n_features)), np.empty(n_features))


@kernel
def descend(
    atoms, spreads, threshold, max_sweeps, tol, halt, sweeps, value, support, x, members, residual,
    past,
):  # fmt: skip
    """Finish a code in place by coordinate descent over all atoms.

    The code: atoms support (width,), padded with -1, coefficients x (width,), actual atoms members
    (width, m), and what they leave, residual (m,). Return sweeps and the objective in units of lam.
    It ends early once halt (1,) is not 0.
    """
    k = 0
    while k < support.shape[0] and support[k] >= 0:
        k += 1
    stretch = 1.0
    while sweeps < max_sweeps and halt[0] == 0:
        sweeps += 1
        same = True
        for q in range(k):
            past.x[q] = x[q]
            copy(members[q], past.members[q])
        for j in range(atoms.shape[0]):
            q = _place(support, k, j)
            if q < 0:
                # an atom at rest moves only if it correlates with the residual
                if k == support.shape[0] or abs(dot(atoms[j], residual)) <= threshold:
                    continue
                q = k
                support[q] = j
                x[q] = 0.0
                k += 1
                same = False
            else:
                add(residual, x[q], members[q])
            x[q] = best_pair(atoms[j], spreads[j], threshold, residual, x[q], members[q])
            if x[q] == 0.0:
                k = _close_gap(q, k, support, x, members)
                same = False
            else:
                add(residual, -x[q], members[q])
        before = value
        value = objective(k, atoms, spreads, threshold, support, x, members, residual)
        if same:
            k, value, stretch = _try_to_stretch(
                k, stretch, value, atoms, spreads, threshold, support, x, members, residual, past
            )
        if before - value <= tol * value:
            break
    return sweeps, value


@kernel
def _try_to_stretch(
    k, stretch, value, atoms, spreads, threshold, support, x, members, residual, past
):
    """Go on from the last code to the present one and beyond, if that lowers the objective.

    Return the number of atoms, the objective, and how far to go the next time.
    """
    vanishing, length = -1, stretch
    for q in range(k):
        # a coefficient that shrinks may vanish, but not change its sign
        ratio = (past.x[q] - x[q]) / x[q]
        if ratio * length >= 1.0:
            vanishing, length = q, 1.0 / ratio
    copy(residual, past.residual)
    for q in range(k):
        add(past.residual, x[q], members[q])
        past.x[q] = 0.0 if q == vanishing else x[q] + length * (x[q] - past.x[q])
        for i in range(members.shape[1]):
            past.members[q, i] = members[q, i] + length * (members[q, i] - past.members[q, i])
        multiply(past.members[q], 1.0 / norm(past.members[q]))
        add(past.residual, -past.x[q], past.members[q])
    if vanishing >= 0:
        copy(atoms[support[vanishing]], past.members[vanishing])
    stretched = objective(
        k, atoms, spreads, threshold, support, past.x, past.members, past.residual
    )
    if not stretched < value:
        return k, value, max(0.25 * stretch, 1.0)
    copy(past.residual, residual)
    for q in range(k):
        x[q] = past.x[q]
        copy(past.members[q], members[q])
    if vanishing >= 0:
        k = _close_gap(vanishing, k, support, x, members)
    return k, stretched, min(2.0 * stretch, _MOST_STRETCH)


@kernel
def objective(k, atoms, spreads, threshold, support, x, members, residual):
    """Return the objective of a code in units of lam."""
    value = dot(residual, residual)
    for q in range(k):
        distance = square_distance(members.shape[1], members[q], atoms[support[q]])
        value += distance / spreads[support[q]] + 2.0 * threshold * abs(x[q])
    return value


@kernel
def best_pair(centre, spread, threshold, residual, x, member):
    """Improve the pair of coefficient x and actual atom member (m,) against residual (m,).

    member is replaced if a better one is found. Return the coefficient.
    """
    length = norm(residual)
    if length <= threshold:
        return 0.0
    along = dot(centre, residual)
    theta = np.arccos(min(abs(along) / length, 1.0))
    lean = _best_lean(theta, length, spread, threshold)
    fresh = length * np.cos(theta - lean) - threshold
    gain = max(_gain(lean, theta, length, spread, threshold), 0.0)
    if x != 0.0:
        product = dot(member, residual)
        kept = np.sign(product) * max(abs(product) - threshold, 0.0)
        if kept * kept - square_distance(member.shape[0], member, centre) / spread > gain:
            return kept
    if gain == 0.0 or fresh <= 0.0:
        return 0.0
    sign = 1.0 if along >= 0.0 else -1.0
    sine = np.sin(theta)
    if sine < 1e-8:
        copy(centre, member)
        return sign * fresh
    # rotate the centre towards +-residual by the lean
    on_centre = np.sin(theta - lean) / sine
    on_residual = sign * np.sin(lean) / (sine * length)
    for i in range(member.shape[0]):
        member[i] = on_centre * centre[i] + on_residual * residual[i]
    return sign * fresh


@kernel
def _gain(lean, theta, length, spread, threshold):
    """Return by how much a pair with that lean lowers the objective."""
    x = max(length * np.cos(theta - lean) - threshold, 0.0)
    half = np.sin(0.5 * lean)
    return x * x - 4.0 * half * half / spread


# The gain may have two peaks; a grid finds the higher one before the search begins.
_GRID = 16


@kernel
def _best_lean(theta, length, spread, threshold):
    """Return the lean in [0, theta] with the largest gain."""
    step = theta / _GRID
    best, most = 0, _gain(0.0, theta, length, spread, threshold)
    for i in range(1, _GRID + 1):
        gain = _gain(i * step, theta, length, spread, threshold)
        if gain > most:
            best, most = i, gain
    low, high = max(best - 1, 0) * step, min(best + 1, _GRID) * step
    phi = best * step
    for _ in range(100):
        cosine, sine = np.cos(theta - phi), np.sin(theta - phi)
        x = length * cosine - threshold
        slope = np.sin(phi) - spread * x * length * sine
        if slope > 0.0:
            high = phi
        else:
            low = phi
        bend = np.cos(phi) + spread * length * (x * cosine - length * sine * sine)
        newton = phi - slope / bend if bend > 0.0 else low - 1.0
        before = phi
        phi = newton if low < newton < high else 0.5 * (low + high)
        if abs(phi - before) <= 1e-15 * theta:
            break
    return phi


@kernel
def _place(support, k, j):
    """Return the place of atom j among support[:k], or -1."""
    for q in range(k):
        if support[q] == j:
            return q
    return -1


@kernel
def _close_gap(q, k, support, x, members):
    """Remove place q and keep the order of the others; return k - 1."""
    for p in range(q, k - 1):
        support[p] = support[p + 1]
        x[p] = x[p + 1]
        copy(members[p + 1], members[p])
    support[k - 1] = -1
    x[k - 1] = 0.0
    return k - 1


# ||left - right||^2
square_distance = lane_kernel(
    2, 0, lambda left, right: ([], [(left - right) * (left - right)]),
    reduces=("sum",), any_length=True,
)  # fmt: skip
