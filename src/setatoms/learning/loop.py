"""The learning loop: code all signals, move the atoms, now and then hand out the radii anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms.backends import single_threaded_blas
from setatoms.coding.validation import check_magnitude
from setatoms.learning.aksvd import have_stopped
from setatoms.learning.atoms import ConeAtoms, GaussianAtoms
from setatoms.learning.missing import Mask
from setatoms.learning.radii import AdaptiveRadii, FixedRadii
from setatoms.learning.statistics import Statistics

Array = NDArray[np.float64]


class History(NamedTuple):
    """How learning went.

    Attributes
    ----------
    error : ndarray of shape (n_passes,)
        Mean error of the signals, of their observed entries, at each iteration not left out.
    objective : ndarray of shape (n_passes,)
        Mean of what the coder minimises.
    unused : ndarray of shape (n_passes,)
        Atoms that no signal used.
    overlaps : ndarray of shape (n_passes,)
        Pairs of cones that had to be parted or held back.
    adapted_at : ndarray of shape (n_adaptations,)
        Iterations after which radii were handed out anew.
    radii : ndarray of shape (n_adaptations, n_atoms)
        Radii from then on.
    usage : ndarray of shape (n_adaptations, n_atoms)
        Use of the atoms that decided on them.
    """

    error: Array
    objective: Array
    unused: NDArray[np.int64]
    overlaps: NDArray[np.int64]
    adapted_at: NDArray[np.int64]
    radii: Array
    usage: Array


class Learned(NamedTuple):
    """A learned dictionary, and how it came.

    Attributes
    ----------
    atoms : ndarray of shape (n_atoms, n_features)
        Unit vectors.
    radii : ndarray of shape (n_atoms,)
        The radius of each.
    history : History
        How learning went.
    users : ndarray of shape (n_atoms,) or None
        How many signals used each atom in the last pass, see `Statistics`; None if not counted.
    """

    atoms: Array
    radii: Array
    history: History
    users: Array | None = None


# held once for all passes: setting the limit takes as long as coding hundreds of signals
@single_threaded_blas()
def learn(
    X: Array,
    atoms: Array,
    kind: GaussianAtoms | ConeAtoms,
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
    kind : GaussianAtoms or ConeAtoms
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
    record = _Record(len(atoms))
    still, users = False, None
    for k in range(1, n_iter + 1):
        if still and not schedule.adapts_at(k):
            continue
        before = atoms
        statistics = kind.statistics(X, atoms, radii, memory, missing=missing, n_jobs=n_jobs)
        moved, users = statistics.apply(atoms), statistics.users
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
    return Learned(atoms, radii, record.history(), users)


@dataclass
class _Record:
    """Collects the history while learning runs."""

    n_atoms: int
    errors: list[float] = field(default_factory=list)
    objectives: list[float] = field(default_factory=list)
    unused: list[int] = field(default_factory=list)
    overlaps: list[int] = field(default_factory=list)
    adapted_at: list[int] = field(default_factory=list)
    radii: list[Array] = field(default_factory=list)
    usage: list[Array] = field(default_factory=list)

    def iteration(self, statistics: Statistics, overlaps: int) -> None:
        self.errors.append(statistics.error / statistics.n_rows)
        self.objectives.append(statistics.objective / statistics.n_rows)
        self.unused.append(int(np.sum(statistics.u0 == 0)))
        self.overlaps.append(overlaps)

    def adaptation(self, k: int, radii: Array, usage: Array) -> None:
        self.adapted_at.append(k)
        self.radii.append(radii)
        self.usage.append(usage)

    def history(self) -> History:
        return History(
            error=np.array(self.errors),
            objective=np.array(self.objectives),
            unused=np.array(self.unused, dtype=np.int64),
            overlaps=np.array(self.overlaps, dtype=np.int64),
            adapted_at=np.array(self.adapted_at, dtype=np.int64),
            radii=np.array(self.radii).reshape(-1, self.n_atoms),
            usage=np.array(self.usage).reshape(-1, self.n_atoms),
        )
