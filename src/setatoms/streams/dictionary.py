"""One dictionary that follows a stream: its atoms move with every block, its radii now and then."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from setatoms.coding.validation import check_magnitude
from setatoms.learning.dictionary import FittedDictionary
from setatoms.learning.missing import Mask
from setatoms.streams.sums import RunningSums

Array = NDArray[np.float64]


def learn_rows(
    dictionary: FittedDictionary,
    sums: RunningSums | None,
    rows: Array,
    missing: Mask | None,
    *,
    past: float,
    fade: float,
    n_jobs: int | None,
) -> tuple[FittedDictionary, RunningSums]:
    """Return the dictionary after one pass over further rows, and the sums it has come to.

    Parameters
    ----------
    dictionary : FittedDictionary
        What was learned so far.
    sums : RunningSums or None
        Those of all rows so far; None if these are the first after a fit.
    rows : ndarray of shape (n, n_features)
        Signals; filled in place where `missing`.
    missing : ndarray of shape (n, n_features) or None
        Which entries were not observed.
    past : float
        How many rows the fit counts for; read where there are no sums.
    fade : float
        What is left of the weight of the past.
    n_jobs : int or None
        Threads; the result does not depend on it.
    """
    check_magnitude(rows)
    kind, atoms, radii = dictionary.kind, dictionary.atoms, dictionary.radii
    memory = kind.remember(rows, atoms, radii)
    found = kind.statistics(rows, atoms, radii, memory, missing=missing, n_jobs=n_jobs)
    sums = (RunningSums.begin(found, past) if sums is None else sums).added(found, fade)
    # as far as there is any pull: a stream passes once, and small steps would come too late
    stiffness = kind.stiffness(sums.statistics(), radii)
    wanted = kind.recentre(replace(sums.statistics(), weight=stiffness), atoms)
    moved, _ = kind.hold_back(wanted, atoms, radii)
    return _with(dictionary, moved, radii), sums.moved(atoms, moved, stiffness)


def reassign_radii(
    dictionary: FittedDictionary, used: Array, rng: np.random.Generator
) -> FittedDictionary:
    """Return the dictionary with its radii reassigned, the largest to the atoms `used` most."""
    radii = np.empty_like(dictionary.radii)
    radii[np.argsort(-used, kind="stable")] = np.sort(dictionary.radii)[::-1]
    atoms, _ = dictionary.kind.separate(dictionary.atoms, radii, rng)
    return _with(dictionary, atoms, radii)


def rescale_atoms(
    dictionary: FittedDictionary, ratio: Array, rng: np.random.Generator
) -> FittedDictionary:
    """Return the dictionary for features that are multiplied by a `ratio` (n_features,)."""
    atoms = dictionary.atoms * ratio
    if dictionary.kind.has_unit_atoms:
        atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    atoms, _ = dictionary.kind.separate(atoms, dictionary.radii, rng)
    return _with(dictionary, atoms, dictionary.radii)


def _with(dictionary: FittedDictionary, atoms: Array, radii: Array) -> FittedDictionary:
    return FittedDictionary(dictionary.kind, atoms, radii, dictionary.history)
