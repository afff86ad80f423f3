r"""A sample of the rows of a stream, of bounded size.

Every row gets a random key, an exponential variable divided by its weight; those with the smallest
keys stay (Efraimidis, Spirakis, 2006). The weight of row :math:`i` is :math:`2^{i/h}` with the
half-life :math:`h`, or 1 if nothing is forgotten, when the sample is uniform over the whole stream.
Kept is the logarithm of the key, which stays in range however long the stream is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setatoms.streams.chance import uniforms

Array = NDArray[np.float64]

_PURPOSE = 1


@dataclass(frozen=True)
class Reservoir:
    """Rows drawn from a stream.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        The rows, in the order in which they came.
    keys : ndarray of shape (n_rows,)
        The logarithm of the key of each.
    capacity : int
        How many there may be.
    """

    rows: Array
    keys: Array
    capacity: int

    @classmethod
    def begin(cls, rows: Array, stands_for: float, capacity: int, seed: int) -> Reservoir:
        """Return a sample that begins with rows (n, n_features) drawn from so many of the past."""
        n_rows = len(rows)
        chance = uniforms(seed, _PURPOSE, -1 - np.arange(n_rows))
        # the smallest of as many exponential variables as there were rows, one after the other
        left = np.maximum(stands_for - np.arange(n_rows), 1.0)
        keys = np.log(np.cumsum(-np.log(chance) / left))
        return cls(rows, keys, capacity)._cut()

    def added(self, rows: Array, first: int, half_life: float | None, seed: int) -> Reservoir:
        """Return the sample after rows (n, n_features) whose numbers count from `first`."""
        numbers = first + np.arange(len(rows))
        keys = np.log(-np.log(uniforms(seed, _PURPOSE, numbers)))
        if half_life is not None:
            keys -= numbers * (math.log(2.0) / half_life)
        both = np.concatenate([self.rows, rows]), np.concatenate([self.keys, keys])
        return Reservoir(*both, self.capacity)._cut()

    def _cut(self) -> Reservoir:
        if len(self.rows) <= self.capacity:
            return self
        kept = np.sort(np.argsort(self.keys, kind="stable")[: self.capacity])
        return Reservoir(self.rows[kept], self.keys[kept], self.capacity)
