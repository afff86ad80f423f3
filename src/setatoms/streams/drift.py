"""How far a model has moved from what it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms.learning.dictionary import FittedDictionary

Array = NDArray[np.float64]


class Drift(NamedTuple):
    """How far a model has moved since a reference, and whether rows have changed since.

    Attributes
    ----------
    since : int
        The number of rows that had been seen when the reference was taken.
    n_rows : int
        The number of rows seen since.
    atoms : float
        Mean distance of an atom to the nearest atom of the reference or its mirror image, weighted
        by use: 0 for none, 1.41 for a right angle.
    use : float
        Share of the use of atoms that went over to others, from 0 to 1. An atom counts for the one
        of the reference that is nearest to it.
    radii : float
        Mean change of an atom's radius, as a share of the mean radius.
    evidence : float
        Evidence for a change of the rows; the alarm is raised where it reaches `limit`.
    limit : float
        Without a change it takes at least so many tests on average to reach it.
    alarm : bool
        Whether the alarm has been raised.
    alarm_row : int or None
        The number of the row that raised it, counted from 1 with the first row seen.
    """

    since: int
    n_rows: int
    atoms: float
    use: float
    radii: float
    evidence: float
    limit: float
    alarm: bool
    alarm_row: int | None


def measure_moves(
    before: Sequence[FittedDictionary],
    after: Sequence[FittedDictionary],
    used_before: Sequence[Array],
    used_after: Sequence[Array],
) -> tuple[float, float, float]:
    """Return how far atoms, use and radii moved, in the mean over dictionaries.

    Parameters
    ----------
    before, after : sequence of FittedDictionary
        The dictionaries, one by one.
    used_before, used_after : sequence of ndarray of shape (n_atoms,)
        The use of the atoms of each.
    """
    moves = [_compare(*each) for each in zip(before, after, used_before, used_after, strict=True)]
    atoms, use, radii = np.mean(moves, axis=0)
    return float(atoms), float(use), float(radii)


def _compare(
    before: FittedDictionary, after: FittedDictionary, used_before: Array, used_after: Array
) -> tuple[float, float, float]:
    old, new = _shares(used_before), _shares(used_after)
    away = _distances(after.atoms, before.atoms)
    if after.kind.has_unit_atoms:
        away = np.minimum(away, _distances(after.atoms, -before.atoms))
    nearest = away.argmin(axis=1)
    gone_over = np.bincount(nearest, new, len(old))
    largest = before.radii.mean()
    radii = np.abs(after.radii - before.radii[nearest]).mean() / largest if largest > 0 else 0.0
    atoms = float(np.sum(new * away[np.arange(len(away)), nearest]))
    return atoms, float(np.abs(gone_over - old).sum() / 2), float(radii)


def _shares(used: Array) -> Array:
    total = used.sum()
    return used / total if total > 0 else np.full(len(used), 1.0 / len(used))


def _distances(some: Array, others: Array) -> Array:
    # not by BLAS, whose sums depend on its threads; an atom at its own place has distance 0
    return np.array([np.sqrt(((others - each) ** 2).sum(axis=1)) for each in some])
