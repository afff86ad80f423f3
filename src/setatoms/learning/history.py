"""How learning went, iteration by iteration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
        Iterations after which radii were reassigned.
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


def history_of_errors(errors: list[float], n_atoms: int) -> History:
    """Return a history of errors alone; the rest is empty."""
    nothing, never = np.empty(0), np.empty(0, dtype=np.int64)
    no_radii = np.empty((0, n_atoms))
    return History(np.array(errors), nothing, never, never, never, no_radii, no_radii)


@dataclass
class Recorder:
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
        """Take down what a pass found, and how many pairs had to be kept apart."""
        self.errors.append(statistics.error / statistics.n_rows)
        self.objectives.append(statistics.objective / statistics.n_rows)
        self.unused.append(int(np.sum(statistics.n_users == 0)))
        self.overlaps.append(overlaps)

    def adaptation(self, k: int, radii: Array, usage: Array) -> None:
        """Take down the radii that were assigned after iteration k, and by what use."""
        self.adapted_at.append(k)
        self.radii.append(radii)
        self.usage.append(usage)

    @classmethod
    def of(cls, n_atoms: int, history: History) -> Recorder:
        """Go on from a history."""
        return cls(n_atoms, *map(list, history))

    def history(self) -> History:
        """Return all of it."""
        return History(
            error=np.array(self.errors),
            objective=np.array(self.objectives),
            unused=np.array(self.unused, dtype=np.int64),
            overlaps=np.array(self.overlaps, dtype=np.int64),
            adapted_at=np.array(self.adapted_at, dtype=np.int64),
            radii=np.array(self.radii).reshape(-1, self.n_atoms),
            usage=np.array(self.usage).reshape(-1, self.n_atoms),
        )
