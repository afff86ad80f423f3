"""Cones on the unit sphere: when two overlap, how to part them, how to take a step back.

A cone is the set of unit vectors within chord distance ``rho`` of its central atom, that is within
the angle ``2*arcsin(rho/2)``. Coefficients may be negative, so ``d`` and ``-d`` are the same cone
and the distance of two atoms is ``min(||d1 - d2||, ||d1 + d2||)``, at most ``sqrt(2)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc

from setatoms._compile import allocating_kernel
from setatoms.vectors import dot

Array = NDArray[np.float64]
Pairs = NDArray[np.int64]

ROTATIONS = ("symmetric", "by-radius")

# Two cones overlap when their atoms are closer than required by more than this chord distance.
TOLERANCE = 1e-9

# Rotations that end the effort beside `max_rounds`: about a second for 200 atoms in 50 features.
_MAX_ROTATIONS = 1_000_000

# Rounds that rotate pairs exactly as far as needed; later ones go further (see `_relaxation`).
_EXACT_ROUNDS = 20

# Halvings of the way back to the previous place: resolves it to 1e-12, far below TOLERANCE.
_HALVINGS = 40


class InfeasibleConesError(ValueError):
    """Cones that are too many or too wide to be disjoint in the given number of features."""


def min_distances(radii: ArrayLike, min_separation: float = 0.01) -> Array:
    """Return the chord distance that every pair of atoms needs for its cones to be disjoint.

    ``dmin = rho1*sqrt(1 - rho2^2/4) + rho2*sqrt(1 - rho1^2/4) + delta0``

    Parameters
    ----------
    radii : (n_atoms,)
        Chord radii of the cones.
    min_separation : float
        The gap ``delta0`` to leave between two cones.

    Returns
    -------
    (n_atoms, n_atoms) array, symmetric. Its diagonal has no meaning.
    """
    rho = np.asarray(radii, dtype=np.float64)
    return _Cones(rho, min_separation).needed(rho[:, None], rho)


def count_overlaps(
    atoms: ArrayLike, radii: ArrayLike, min_separation: float = 0.01, tol: float = TOLERANCE
) -> int:
    """Count the pairs of cones that are closer than `min_separation`, whatever the atoms' signs.

    Parameters
    ----------
    atoms : (n_atoms, n_features)
        Central atoms, unit rows.
    radii : (n_atoms,)
        Chord radii of the cones.
    min_separation : float
        The gap to leave between two cones.
    tol : float
        How much closer (chord distance) still counts as disjoint.
    """
    return len(_cones(radii, min_separation).overlapping(_copy(atoms), tol))


def separate(
    atoms: ArrayLike,
    radii: ArrayLike,
    *,
    min_separation: float = 0.01,
    rotation: str = "symmetric",
    rng: np.random.Generator,
    max_rounds: int = 1000,
) -> tuple[Array, int]:
    """Rotate overlapping cones away from each other until all are disjoint.

    Two overlapping atoms at chord distance ``dist`` turn apart in their plane, each by
    ``arcsin(dmin/2) - arcsin(dist/2)``, so that they end at distance ``dmin`` exactly. Rounds over
    all pairs repeat until none overlaps. In crowded places exact rotations push an overlap to
    and fro, so from round 20 on they go further, up to 1.9 times as far.

    Parameters
    ----------
    atoms : (n_atoms, n_features)
        Central atoms, unit rows. Not modified.
    radii : (n_atoms,)
        Chord radii of the cones.
    min_separation : float
        The gap to leave between two cones.
    rotation : "symmetric" or "by-radius"
        Turn both atoms by the same angle, or split the same total inversely to their radii, which
        spares the wider cone.
    rng : numpy.random.Generator
        Gives the directions in which coincident atoms part. Not used when nothing overlaps.
    max_rounds : int
        Bound on the rounds; the total number of rotations is bounded as well.

    Returns
    -------
    atoms : (n_atoms, n_features)
        Unit rows; an atom that never overlaps another is the one given, bit for bit.
    n_resolved : int
        Pairs that overlapped in the atoms given.

    Raises
    ------
    InfeasibleConesError
        When the cones provably cannot be disjoint, or are not after the bounded effort.
    """
    if rotation not in ROTATIONS:
        raise ValueError(f"rotation={rotation!r} is not known; choose one of {ROTATIONS}")
    cones, atoms = _cones(radii, min_separation), _copy(atoms)
    n_resolved = len(cones.overlapping(atoms))
    if n_resolved == 0:
        return atoms, 0
    if cones.cannot_fit(atoms.shape[1]):
        raise cones.infeasible(atoms.shape[1], "cannot be disjoint")
    # Shares are inverse to these weights; the floor splits evenly between two zero radii.
    by_radius = rotation == "by-radius"
    weights = np.maximum(cones.radii, 1e-12) if by_radius else np.ones(len(atoms))
    directions = rng.standard_normal(atoms.shape)
    _rotate_until_disjoint(atoms, cones, weights, directions, max_rounds)
    return atoms, n_resolved


def pull_back(
    atoms: ArrayLike,
    previous: ArrayLike,
    radii: ArrayLike,
    *,
    min_separation: float = 0.01,
    rounds: int = 10,
) -> tuple[Array, int]:
    """Undo as much of a move as needed for the cones to be disjoint again.

    Both atoms of an overlapping pair go back along the arcs to their previous places, by the same
    fraction of their way, until the pair is at distance ``dmin``. This may cause another overlap,
    so it repeats; atoms still in conflict after `rounds` return to their previous places, which
    are disjoint.

    Parameters
    ----------
    atoms : (n_atoms, n_features)
        Central atoms after the move, unit rows. Not modified.
    previous : (n_atoms, n_features)
        Central atoms before the move, disjoint. Not modified.
    radii : (n_atoms,)
        Chord radii of the cones, before and after.
    min_separation : float
        The gap to leave between two cones.
    rounds : int
        Rounds of partial steps before whole steps are undone.

    Returns
    -------
    atoms : (n_atoms, n_features)
        Unit rows on the arcs, with the sign of `previous` where an atom was pulled.
    n_resolved : int
        Pairs that overlapped in the atoms given.
    """
    cones = _cones(radii, min_separation)
    atoms, previous = _copy(atoms), _copy(previous)
    overlapping = cones.overlapping(atoms)
    n_resolved = len(overlapping)
    if n_resolved == 0:
        return atoms, 0
    signs = np.where(np.sum(atoms * previous, axis=1) < 0.0, -1.0, 1.0)
    targets = atoms * signs[:, None]
    # How far along its arc an atom is. One that did not move is at home already.
    fractions = np.any(atoms != previous, axis=1).astype(np.float64)
    for _ in range(rounds):
        required = cones.required(overlapping)
        _step_back(atoms, previous, targets, fractions, overlapping, required)
        overlapping = cones.overlapping(atoms)
        if len(overlapping) == 0:
            return atoms, n_resolved
    _return_home(atoms, previous, fractions, cones)
    return atoms, n_resolved


@dataclass(frozen=True)
class _Cones:
    """The sizes of cones, wherever their atoms are: radii (n_atoms,) and the gap to leave."""

    radii: Array
    min_separation: float

    def needed(self, rho1: Array, rho2: Array) -> Array:
        """Return the distance that cones of these radii need."""
        chords: Array = rho1 * np.sqrt(1.0 - rho2**2 / 4.0) + rho2 * np.sqrt(1.0 - rho1**2 / 4.0)
        return chords + self.min_separation

    def required(self, pairs: Pairs) -> Array:
        """Return the distance that each of `pairs` (n_pairs, 2) needs, (n_pairs,)."""
        return self.needed(self.radii[pairs[:, 0]], self.radii[pairs[:, 1]])

    def close(self, atoms: Array) -> Pairs:
        """List pairs i < j that may overlap: those too close for the widest two cones."""
        widest = np.max(self.radii, keepdims=True)
        cosine = 1.0 - self.needed(widest, widest)[0] ** 2 / 2.0
        # The slack outweighs the rounding of a product: no overlap is missed.
        return _list_close(atoms, cosine - 1e-12)

    def overlapping(self, atoms: Array, tol: float = TOLERANCE) -> Pairs:
        """List pairs i < j that are closer than they need to be by more than `tol`."""
        pairs = self.close(atoms)
        return pairs[_distances(atoms, pairs) < self.required(pairs) - tol]

    def cannot_fit(self, n_features: int) -> bool:
        """Tell whether one of two bounds on packings of lines rules the cones out."""
        return self._overfill(n_features) or self._are_too_coherent(n_features)

    def _overfill(self, n_features: int) -> bool:
        """Compare the area of the cones, half the gap around each, with the half sphere."""
        half_angles = 2.0 * np.arcsin(self.radii / 2.0) + self.min_separation / 2.0
        sines = np.sin(np.minimum(half_angles, np.pi / 2.0))
        # On a line (one feature) there is no area to compare.
        filled = np.sum(betainc(max(n_features - 1, 1) / 2.0, 0.5, sines**2))
        return n_features > 1 and bool(filled > 1.0 + TOLERANCE)

    def _are_too_coherent(self, n_features: int) -> bool:
        """Compare the k widest cones, for each k, with Welch's bound.

        Among k lines in m features some pair has |cos| >= sqrt((k - m)/(m(k - 1))), and each pair
        of the k widest needs at least the distance of the last two. For k = 2: dmin <= sqrt(2).
        """
        widest = np.sort(self.radii)[::-1]
        cosines = 1.0 - self.needed(widest[:-1], widest[1:]) ** 2 / 2.0
        k = np.arange(2, len(widest) + 1)
        coherence = np.sqrt(np.maximum(k - n_features, 0) / (n_features * (k - 1)))
        return bool(np.any(cosines < coherence - TOLERANCE))

    def infeasible(self, n_features: int, verdict: str) -> InfeasibleConesError:
        """Return the error that says what to lower."""
        return InfeasibleConesError(
            f"n_atoms={len(self.radii)} cones with radii from {np.min(self.radii):.4g} to "
            f"{np.max(self.radii):.4g} and min_separation={self.min_separation:.4g} {verdict} in "
            f"{n_features} features; lower n_atoms, radii or min_separation"
        )


def _cones(radii: ArrayLike, min_separation: float) -> _Cones:
    return _Cones(np.asarray(radii, dtype=np.float64), float(min_separation))


def _copy(atoms: ArrayLike) -> Array:
    return np.array(atoms, dtype=np.float64, order="C")


def _rotate_until_disjoint(
    atoms: Array, cones: _Cones, weights: Array, directions: Array, max_rounds: int
) -> None:
    """Rotate pairs of `atoms` apart, in place, until none overlaps."""
    budget = _MAX_ROTATIONS + len(atoms) ** 2
    n_rounds = 0
    while n_rounds < max_rounds and budget > 0:
        pairs = cones.close(atoms)
        turn = _relaxation(n_rounds)
        n_turned = _rotate(atoms, pairs, cones.required(pairs), weights, directions, turn)
        if n_turned == 0:
            return
        budget -= n_turned
        n_rounds += 1
    raise cones.infeasible(
        atoms.shape[1], f"are still not disjoint after {n_rounds} rounds of rotation"
    )


def _relaxation(n_rounds: int) -> float:
    """Return how many times the angle needed a pair turns, from 1 up to 1.9."""
    return 1.0 + 0.9 * (1.0 - _EXACT_ROUNDS / max(n_rounds, _EXACT_ROUNDS))


def _return_home(atoms: Array, previous: Array, fractions: Array, cones: _Cones) -> None:
    """Put atoms in conflict back to `previous`, in place, until none is left."""
    while len(overlapping := cones.overlapping(atoms)) > 0:
        stuck = np.unique(overlapping)
        if not np.any(fractions[stuck]):
            raise ValueError(
                f"previous has {len(overlapping)} overlapping pairs of cones, but pulling back "
                "needs disjoint ones; separate them first"
            )
        atoms[stuck] = previous[stuck]
        fractions[stuck] = 0.0


@allocating_kernel
def _list_close(atoms: Array, cosine: float) -> Pairs:
    """List pairs i < j with |<d_i, d_j>| > cosine, (n_pairs, 2)."""
    n_atoms = atoms.shape[0]
    pairs = np.empty((n_atoms * (n_atoms - 1) // 2, 2), dtype=np.int64)
    n_pairs = 0
    for i in range(n_atoms):
        for j in range(i + 1, n_atoms):
            if abs(dot(atoms[i], atoms[j])) > cosine:
                pairs[n_pairs, 0] = i
                pairs[n_pairs, 1] = j
                n_pairs += 1
    return pairs[:n_pairs].copy()


@allocating_kernel
def _unit(u: Array) -> Array:
    return u / math.sqrt(dot(u, u))


@allocating_kernel
def _sign(u: Array, v: Array) -> float:
    """Return the sign that brings v to the side of u."""
    return -1.0 if dot(u, v) < 0.0 else 1.0


@allocating_kernel
def _distance(u: Array, v: Array) -> float:
    """Return the chord distance of u to the nearer of v and -v."""
    # Not sqrt(2 - 2<u,v>), which loses half the digits when u and v are close.
    apart = u - _sign(u, v) * v
    return math.sqrt(dot(apart, apart))


@allocating_kernel
def _distances(atoms: Array, pairs: Pairs) -> Array:
    """Return the distance of each of `pairs` (n_pairs, 2)."""
    distances = np.empty(pairs.shape[0])
    for p in range(pairs.shape[0]):
        distances[p] = _distance(atoms[pairs[p, 0]], atoms[pairs[p, 1]])
    return distances


@allocating_kernel
def _rotate(
    atoms: Array,
    pairs: Pairs,
    required: Array,
    weights: Array,
    directions: Array,
    relaxation: float,
) -> int:
    """Turn overlapping `pairs` apart, modifying `atoms`; return how many turned.

    Each needs its `required` distance (n_pairs,).
    """
    n_turned = 0
    for p in range(pairs.shape[0]):
        i, j = pairs[p]
        distance = _distance(atoms[i], atoms[j])
        if distance >= required[p] - TOLERANCE:
            continue
        n_turned += 1
        sign = _sign(atoms[i], atoms[j])
        # Coincident atoms span no plane: part in a random one.
        toward = sign * atoms[j] if distance > TOLERANCE else directions[j]
        toward = _unit(toward - dot(toward, atoms[i]) * atoms[i])
        angle = 2.0 * np.arcsin(distance / 2.0)
        turn = relaxation * (2.0 * np.arcsin(required[p] / 2.0) - angle)
        turn_i = turn * weights[j] / (weights[i] + weights[j])
        angle_j = angle + turn - turn_i
        atoms[j] = sign * _unit(np.cos(angle_j) * atoms[i] + np.sin(angle_j) * toward)
        atoms[i] = _unit(np.cos(turn_i) * atoms[i] - np.sin(turn_i) * toward)
    return n_turned


@allocating_kernel
def _on_arc(start: Array, end: Array, fraction: float) -> Array:
    """Return the point of the arc above that fraction of the chord from start to end."""
    if fraction == 0.0:
        return start.copy()
    return _unit(start + fraction * (end - start))


@allocating_kernel
def _step_back(
    atoms: Array,
    previous: Array,
    targets: Array,
    fractions: Array,
    pairs: Pairs,
    required: Array,
) -> None:
    """Pull overlapping pairs back until they touch, modifying `atoms` and `fractions`."""
    for p in range(pairs.shape[0]):
        i, j = pairs[p]
        if _distance(atoms[i], atoms[j]) >= required[p] - TOLERANCE:
            continue
        kept, step = 0.0, 1.0
        for _ in range(_HALVINGS):
            step /= 2.0
            first = _on_arc(previous[i], targets[i], (kept + step) * fractions[i])
            second = _on_arc(previous[j], targets[j], (kept + step) * fractions[j])
            if _distance(first, second) >= required[p]:
                kept += step
        fractions[i] *= kept
        fractions[j] *= kept
        atoms[i] = _on_arc(previous[i], targets[i], fractions[i])
        atoms[j] = _on_arc(previous[j], targets[j], fractions[j])
