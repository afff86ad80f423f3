"""Cones ready for the kernels, and which of them is closest to a residual."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import kernel
from setatoms.coding.blocks import Layout, prepare
from setatoms.lanes import Lanes, Vector, aligned_zeros, lane_kernel
from setatoms.vectors import largest


class Cones(NamedTuple):
    """Cones; cosines and sines of their half-angles have shape (n_padded,)."""

    layout: Layout
    cosines: NDArray[np.float64]
    sines: NDArray[np.float64]
    least_cosine: float  # of the widest cone


def prepare_cones(atoms: NDArray[Any] | Layout, radii: NDArray[np.float64]) -> Cones:
    """Lay out cones with centres atoms (n_atoms, n_features) and radii (n_atoms,)."""
    layout = prepare(atoms)
    # a cone that only pads has an impossible cosine: it contains nothing and is close to nothing
    cosines, sines = aligned_zeros((2, layout.columns.shape[1]))
    cosines[len(radii) :] = 2.0
    cosines[: len(radii)] = 1 - radii**2 / 2
    # sqrt(1 - cosine^2) without cancellation for narrow cones
    sines[: len(radii)] = radii * np.sqrt(1 - radii**2 / 4)
    return Cones(layout, cosines, sines, float(cosines.min()))


@kernel
def closest_cone(correlations, length, cones):
    """Return the cone at the smallest angle from a residual of that length.

    correlations (n,) are those of the residual. Return -1 if it may lie inside a cone, where the
    angle alone does not decide.
    """
    n, index_mask = correlations.shape[0], cones.layout.index_mask
    j = largest(n, correlations, index_mask)
    if abs(correlations[j]) >= cones.least_cosine * length * (1.0 - 1e-12):
        return -1
    for _ in range(20):
        guess = abs(correlations[j])
        across = np.sqrt(length * length - guess * guess)
        best = _bound(
            n, correlations, cones.cosines, cones.sines,
            guess / across, length * length / across, index_mask,
        )  # fmt: skip
        # where the bound is largest it is exact, so no other cone is closer
        if best == j:
            return j
        j = best
    return -1


def _closeness_bound(
    correlation: Vector, cosine: Vector, sine: Vector, slope: Vector, height: Vector
) -> Lanes:
    """Bound ``length * cos(angle to the cone)``, exactly where |correlation| is as guessed.

    The root in ``|c| cos + sqrt(length^2 - c^2) sin`` lies below its tangent at the guess, and a
    tangent is much cheaper than a root.
    """
    return [], [abs(correlation) * (cosine - sine * slope) + sine * height]


_bound = lane_kernel(3, 2, _closeness_bound, reduces=("argmax",))


@kernel
def closest_cone_with_care(correlations, length, cones, support, k):
    """Return the cone, not in support[:k], closest to a residual of that length.

    A cone that contains the residual beats any that does not; among several the centre counts.
    """
    cosines, sines = cones.cosines, cones.sines
    best, closest = -1, -1.0
    for j in range(correlations.shape[0]):
        taken = cosines[j] > 1.0
        for q in range(k):
            taken = taken or support[q] == j
        if taken:
            continue
        p = min(abs(correlations[j]) / length, 1.0)
        closeness = cosines[j] * p + sines[j] * np.sqrt(1.0 - p * p)
        if p >= cosines[j]:
            closeness = 1.0 + p
        if closeness > closest:
            best, closest = j, closeness
    return best
