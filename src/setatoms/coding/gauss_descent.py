"""Coordinate descent for Gauss-L1: slower than the active set, but sure in every regime.

With ``r_j`` the residual without atom ``j``, the best pair of actual atom and coefficient lies in the
plane of ``d_j`` and ``r_j``. Let ``theta`` be the angle between ``d_j`` and ``+-r_j`` and ``phi`` the angle by
which the atom leans; the best coefficient is then ``x = ||r_j|| cos(theta - phi) - h``, and ``phi`` solves

    sin(phi) = v_j x ||r_j|| sin(theta - phi),      0 <= phi <= theta,

a search in one variable. Every visit of an atom lowers the objective or leaves it.
"""

from __future__ import annotations

import numpy as np

from setatoms._compile import kernel
from setatoms.coding.blocks import dot, norm


@kernel
def descend(
    atoms, spreads, threshold, max_sweeps, tol, k, sweeps, value, active, x, members, residual
):
    """Finish a code in place by coordinate descent over all atoms.

    The code: atoms active[:k] with coefficients x[:k], actual atoms members[:k] (k, m) and what they
    leave, residual (m,). Return k, sweeps and the objective in units of lam.
    """
    width = x.shape[0]
    while sweeps < max_sweeps:
        sweeps += 1
        for j in range(atoms.shape[0]):
            q = _place(active, k, j)
            if q < 0:
                # an atom at rest moves only if it correlates with the residual
                if k == width or abs(dot(atoms[j], residual)) <= threshold:
                    continue
                q = k
                active[q] = j
                x[q] = 0.0
                k += 1
            else:
                _add(residual, x[q], members[q])
            x[q] = _best_pair(atoms[j], spreads[j], threshold, residual, members[q])
            if x[q] == 0.0:
                k = _close_gap(q, k, active, x, members)
            else:
                _add(residual, -x[q], members[q])
        before = value
        value = objective(k, atoms, spreads, threshold, active, x, members, residual)
        if before - value <= tol * value:
            break
    return k, sweeps, value


@kernel
def objective(k, atoms, spreads, threshold, active, x, members, residual):
    """Return the objective of a code in units of lam."""
    value = dot(residual, residual)
    for q in range(k):
        distance = 0.0
        for i in range(residual.shape[0]):
            difference = members[q, i] - atoms[active[q], i]
            distance += difference * difference
        value += distance / spreads[active[q]] + 2.0 * threshold * abs(x[q])
    return value


@kernel
def _best_pair(centre, spread, threshold, residual, member):
    """Fill member (m,) with the best actual atom against residual (m,); return its coefficient."""
    length = norm(residual)
    along = dot(centre, residual)
    sign = 1.0 if along >= 0.0 else -1.0
    if length <= threshold:
        return 0.0
    cosine = min(abs(along) / length, 1.0)
    theta = np.arccos(cosine)
    lean = _best_lean(theta, length, spread, threshold)
    x = length * np.cos(theta - lean) - threshold
    if x <= 0.0:
        return 0.0
    sine = np.sin(theta)
    if sine < 1e-8:
        member[:] = centre
        return sign * x
    # rotate the centre towards +-residual by the lean
    on_centre = np.sin(theta - lean) / sine
    on_residual = sign * np.sin(lean) / (sine * length)
    for i in range(member.shape[0]):
        member[i] = on_centre * centre[i] + on_residual * residual[i]
    return sign * x


@kernel
def _best_lean(theta, length, spread, threshold):
    """Return the angle phi in [0, theta] where the pair's objective has its (first) minimum."""
    low, high = 0.0, theta
    # below this lean the coefficient would be zero
    if threshold < length:
        low = max(0.0, theta - np.arccos(threshold / length))
    phi = min(max(low, spread * (length * np.cos(theta) - threshold) * length * np.sin(theta)), high)
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
def _place(active, k, j):
    """Return the place of atom j among active[:k], or -1."""
    for q in range(k):
        if active[q] == j:
            return q
    return -1


@kernel
def _close_gap(q, k, active, x, members):
    """Remove place q and keep the order of the others; return k - 1."""
    for p in range(q, k - 1):
        active[p] = active[p + 1]
        x[p] = x[p + 1]
        members[p] = members[p + 1]
    return k - 1


@kernel
def _add(vector, factor, other):
    """Add factor * other (m,) to vector (m,) in place."""
    for i in range(vector.shape[0]):
        vector[i] += factor * other[i]
