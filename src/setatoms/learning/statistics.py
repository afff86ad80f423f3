"""What one pass over the signals must remember to move the atoms.

By default, learning moves the centre of an atom to

    d_j <- unit(weight_j d_j + pull_j)

with sums over the signals that use it: ``weight = sum alpha``, ``pull = sum beta r`` for Gaussian
atoms, whose actual atoms are ``alpha d + beta r``; ``weight = sum x^2``, ``pull = sum x r`` for
cones. Sums over parts of the data add up to the sums over all of it, so parts can be coded
anywhere. They are always added up in the same order, so that the last bits do not depend on where.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Parts are added up in groups of so many, and then the groups.
GROUP_PARTS = 64


@dataclass(frozen=True)
class Statistics:
    """Sums over a part of the signals.

    Attributes
    ----------
    pull : ndarray of shape (n_atoms, n_features)
    weight : ndarray of shape (n_atoms,)
    n_users : ndarray of shape (n_atoms,)
        Signals that use each atom.
    abs_sum : ndarray of shape (n_atoms,)
        Sum of the absolute coefficients of each atom.
    sq_sum : ndarray of shape (n_atoms,)
        Sum of the squared coefficients of each atom.
    error : float
        Sum of the signals' errors.
    objective : float
        Sum of what the coder minimises.
    n_rows : int
        Number of signals.
    """

    pull: Array
    weight: Array
    n_users: Array
    abs_sum: Array
    sq_sum: Array
    error: float
    objective: float
    n_rows: int

    @classmethod
    def total(cls, parts: Sequence[Self]) -> Self:
        """Return the sums over the signals of all parts, in their order; one part as it is."""
        if len(parts) == 1:
            return parts[0]
        sums: Any = {
            each.name: add_groups(np.array([getattr(part, each.name) for part in parts]))
            for each in fields(cls)
        }
        for name, kind in (("error", float), ("objective", float), ("n_rows", int)):
            sums[name] = kind(sums[name])
        return cls(**sums)

    @property
    def effective_users(self) -> Array:
        """How many signals use each atom, each counted by its share of the coefficients.

        An atom of one signal alone has one; if others use it a little, hardly more.
        """
        return self.abs_sum**2 / np.where(self.sq_sum > 0, self.sq_sum, 1.0)

    def apply(self, atoms: Array) -> Array:
        """Return the re-centred atoms (n_atoms, n_features); one that nothing used stays."""
        centres = self.weight[:, None] * atoms + self.pull
        lengths = np.linalg.norm(centres, axis=1)
        moved = (self.n_users > 0) & (lengths > 0)
        return np.where(moved[:, None], centres / np.where(moved, lengths, 1)[:, None], atoms)


def add_groups(sums: NDArray[Any]) -> NDArray[Any]:
    """Return the sum over the first axis of sums (n_parts, ...), group by group.

    Examples
    --------
    >>> import numpy as np
    >>> int(add_groups(np.arange(100)))
    4950
    """
    groups = [sums[i : i + GROUP_PARTS].sum(axis=0) for i in range(0, len(sums), GROUP_PARTS)]
    return np.asarray(groups[0] if len(groups) == 1 else np.sum(groups, axis=0))
