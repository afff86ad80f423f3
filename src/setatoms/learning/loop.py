"""The learning loop: code all signals, move the atoms, now and then reassign the radii."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms.backends import single_threaded_blas
from setatoms.coding.validation import check_magnitude
from setatoms.learning.aksvd import have_stopped
from setatoms.learning.dictionary import FittedDictionary
from setatoms.learning.history import Recorder
from setatoms.learning.kinds.base import AtomKind
from setatoms.learning.missing import Mask
from setatoms.learning.radii import AdaptiveRadii, FixedRadii

Array = NDArray[np.float64]


class Learned(NamedTuple):
    """What learning returns.

    Attributes
    ----------
    dictionary : FittedDictionary
        What was learned.
    effective_users : ndarray of shape (n_atoms,) or None
        How many signals used each atom in the last pass, see `Statistics`; None if not counted.
    """

    dictionary: FittedDictionary
    effective_users: Array | None = None


# held once for all passes: setting the limit takes as long as coding hundreds of signals
@single_threaded_blas()
def learn(
    X: Array,
    atoms: Array,
    kind: AtomKind,
    schedule: FixedRadii | AdaptiveRadii,
    *,
    n_iter: int,
    rng: np.random.Generator,
    tol: float = 0.0,
    missing: Mask | None = None,
    n_jobs: int | None = -1,
    on_iteration: Callable[[int, float], None] | None = None,
) -> Learned:
    """Learn set-atoms from signals; fill `X` in place where entries are `missing`.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Signals, float64, C-contiguous.
    atoms : ndarray of shape (n_atoms, n_features)
        Unit vectors to start from.
    kind : AtomKind
        How atoms represent signals, and what keeps them apart.
    schedule : FixedRadii or AdaptiveRadii
        Which radii atoms have, and when that changes.
    n_iter : int
        Iterations; with 0 the atoms stay where they are (cones are parted).
    rng : numpy.random.Generator
        Deals out fixed radii; parts coincident cones.
    tol : float, default=0.0
        Once no atom has moved by more than this, iterations are left out until radii adapt.
    missing : ndarray of shape (n_samples, n_features), optional
        Which entries of `X` were not observed. They start as they are and follow the codes.
    n_jobs : int or None, default=-1
        Threads; the result does not depend on it.
    on_iteration : callable, optional
        Called as ``on_iteration(k, mean_error)`` after each iteration; may raise to stop.
    """
    check_magnitude(X)
    radii = schedule.start(rng)
    atoms, _ = kind.separate(atoms, radii, rng)
    memory = kind.remember(X, atoms, radii)
    record = Recorder(len(atoms))
    still, users = False, None
    for k in range(1, n_iter + 1):
        if still and not schedule.adapts_at(k):
            continue
        before = atoms
        statistics = kind.statistics(X, atoms, radii, memory, missing=missing, n_jobs=n_jobs)
        moved, users = kind.recentre(statistics, atoms), statistics.effective_users
        if schedule.adapts_at(k):
            usage = schedule.usage_of(statistics)
            radii = schedule.at(k, usage)
            atoms, overlaps = kind.separate(moved, radii, rng)
            record.adaptation(k, radii, usage)
        else:
            atoms, overlaps = kind.hold_back(moved, atoms, radii)
        record.iteration(statistics, overlaps)
        still = not schedule.adapts_at(k) and have_stopped(before, atoms, tol)
        if on_iteration is not None:
            on_iteration(k, record.errors[-1])
    return Learned(FittedDictionary(kind, atoms, radii, record.history()), users)
