"""A kind of atoms that the library does not know: balls.

An atom is every point within a distance of its centre, which need not have unit length. A row is
represented by one point of the nearest ball. There is no radius for turning and no coefficient to
choose, and nothing is compiled: the least that a kind can be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setatoms.coding.plain import PlainCoder, RowCodes
from setatoms.learning import AtomKind


class BallCoder(PlainCoder):
    """Balls made ready to represent rows."""

    def __init__(self, atoms, radii, reach):
        super().__init__(atoms, width=1)
        self.radii = reach * radii

    def code_rows(self, rows):
        """Take the nearest point of the nearest ball."""
        away = rows[:, None] - self.atoms
        distances = np.sqrt(np.einsum("nam,nam->na", away, away))
        nearest = np.argmin(distances - self.radii, axis=1)
        each = np.arange(len(rows))
        left = np.maximum(distances[each, nearest] - self.radii[nearest], 0.0)
        share = left / np.maximum(distances[each, nearest], 1e-300)
        points = rows - share[:, None] * away[each, nearest]
        return RowCodes(nearest[:, None], np.ones((len(rows), 1)), points[:, None])


@dataclass(frozen=True)
class BallAtoms(AtomKind):
    """Balls; `reach` is how many standard deviations the radius 1 stands for."""

    name = "ball"
    has_boundary = True
    has_unit_atoms = False

    reach: float = 5.0

    def coder(self, atoms, radii):
        """Return the balls made ready to represent rows."""
        return BallCoder(atoms, radii, self.reach)

    def leans(self, codes, atoms, radii):
        """Return how far actual atoms are from their centres, in radii of the balls."""
        return super().leans(codes, atoms, self.reach * radii)

    def check(self):
        """Refuse what is no reach."""
        if not (isinstance(self.reach, float) and self.reach > 0):
            raise ValueError(f"reach={self.reach!r} must be a positive float")

    def recentre(self, statistics, atoms):
        """Move centres to where what is left of their rows pulls them."""
        return atoms + statistics.pull / np.maximum(statistics.weight, 1.0)[:, None]
