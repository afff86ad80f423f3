"""Coordinate descent for Gauss-L1: slower than the active set, but sure in every regime.

With ``r_j`` the residual without atom ``j``, the best pair of actual atom and coefficient lies in
the plane of ``d_j`` and ``r_j``. Let ``theta`` be the angle between ``d_j`` and ``+-r_j`` and
``phi`` the angle by which the atom leans; the best coefficient is then
``x = ||r_j|| cos(theta - phi) - h``, and ``phi`` solves

    sin(phi) = v_j x ||r_j|| sin(theta - phi),      0 <= phi <= theta,

a search in one variable. Every visit of an atom lowers the objective or leaves it as it is.
"""

from __future__ import annotations

import numpy as np

from setatoms._compile import kernel
from setatoms.vectors import add, copy, dot, norm


@kernel
def descend(
    atoms, spreads, threshold, max_sweeps, tol, halt, sweeps, value, support, x, members, residual
):
    """Finish a code in place by coordinate descent over all atoms.

    The code: atoms support (width,), padded with -1, coefficients x (width,), actual atoms members
    (width, m), and what they leave, residual (m,). Return sweeps and the objective in units of lam.
    It ends early once halt (1,) is not 0.
    """
    k = 0
    while k < support.shape[0] and support[k] >= 0:
        k += 1
    while sweeps < max_sweeps and halt[0] == 0:
        sweeps += 1
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
            else:
                add(residual, x[q], members[q])
            x[q] = _best_pair(atoms[j], spreads[j], threshold, residual, x[q], members[q])
            if x[q] == 0.0:
                k = _close_gap(q, k, support, x, members)
            else:
                add(residual, -x[q], members[q])
        before = value
        value = objective(k, atoms, spreads, threshold, support, x, members, residual)
        if before - value <= tol * value:
            break
    return sweeps, value


@kernel
def objective(k, atoms, spreads, threshold, support, x, members, residual):
    """Return the objective of a code in units of lam."""
    value = dot(residual, residual)
    for q in range(k):
        distance = _square_distance(members[q], atoms[support[q]])
        value += distance / spreads[support[q]] + 2.0 * threshold * abs(x[q])
    return value


@kernel
def _best_pair(centre, spread, threshold, residual, x, member):
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
        if kept * kept - _square_distance(member, centre) / spread > gain:
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
def _square_distance(left, right):
    """Return ||left - right||^2."""
    total = 0.0
    for i in range(left.shape[0]):
        difference = left[i] - right[i]
        total += difference * difference
    return total


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
