"""The sums that move atoms, over a stream: old rows fade, and the atoms they were for move on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from setatoms.learning.statistics import Statistics

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RunningSums:
    """Sums over the rows of a stream, as `setatoms.learning.statistics.Statistics` has them.

    Parameters
    ----------
    pull : ndarray of shape (n_atoms, n_features)
        Where rows pull the atoms, from where these are now.
    weight, n_users, abs_sum, sq_sum : ndarray of shape (n_atoms,)
        How much they hold them; the use of each atom.
    """

    pull: Array
    weight: Array
    n_users: Array
    abs_sum: Array
    sq_sum: Array

    @classmethod
    def begin(cls, statistics: Statistics, past: float) -> RunningSums:
        """Return the sums of so many rows of the `past`, used as those of `statistics` are.

        They left the atoms where they wanted them, so they pull nowhere.
        """
        share = past / max(statistics.n_rows, 1)
        used = (statistics.weight, statistics.n_users, statistics.abs_sum, statistics.sq_sum)
        return cls(np.zeros_like(statistics.pull), *(share * each for each in used))

    def added(self, statistics: Statistics, fade: float) -> RunningSums:
        """Return the sums with those of further rows, and the past times `fade`."""
        return RunningSums(
            fade * self.pull + statistics.pull,
            fade * self.weight + statistics.weight,
            fade * self.n_users + statistics.n_users,
            fade * self.abs_sum + statistics.abs_sum,
            fade * self.sq_sum + statistics.sq_sum,
        )

    def moved(self, before: Array, after: Array, stiffness: Array) -> RunningSums:
        """Return the sums as they would be for atoms (n_atoms, n_features) after a move.

        Parameters
        ----------
        before, after : ndarray of shape (n_atoms, n_features)
            Where atoms were and are.
        stiffness : ndarray of shape (n_atoms,)
            By how much the pull falls per distance.
        """
        return replace(self, pull=self.pull + stiffness[:, None] * (before - after))

    def rescaled(self, before: Array, after: Array, ratio: Array) -> RunningSums:
        """Return the sums after features were multiplied by a `ratio` (n_features,).

        Sums of actual atoms turn as atoms do and keep their length.
        """
        centres = self.weight[:, None] * before + self.pull
        turned = centres * ratio
        lengths, new = np.linalg.norm(centres, axis=1), np.linalg.norm(turned, axis=1)
        turned *= (lengths / np.where(new > 0, new, 1.0))[:, None]
        return replace(self, pull=turned - self.weight[:, None] * after)

    def statistics(self) -> Statistics:
        """Return the sums in the form that kinds of atoms take."""
        return Statistics(
            self.pull, self.weight, self.n_users, self.abs_sum, self.sq_sum, 0.0, 0.0, 1
        )
