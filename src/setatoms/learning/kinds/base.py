"""What a kind of atoms declares: how it codes, sums up, keeps apart, joins others, is explained."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from setatoms.coding import Codes
from setatoms.coding.batch import Coder
from setatoms.coding.blocks import Layout
from setatoms.learning.missing import GREEDY, Gaps, Mask
from setatoms.learning.passes import Memory, sum_over_codes
from setatoms.learning.statistics import Statistics

Array = NDArray[np.float64]


class AtomKind(ABC):
    """A kind of atoms, a frozen dataclass: its fields are how rows are coded, and are saved.

    Only `name` and `coder` have to be given. The rest says by default that atoms are unit vectors
    with radii, which may overlap, move to where their rows pull them, and have no boundary.

    Attributes
    ----------
    name : str
        What it is called, in parameters and on the command line.
    has_radii : bool
        Whether its atoms have radii; they are 0 otherwise.
    has_boundary : bool
        Whether an actual atom can sit on the boundary of its set.
    has_unit_atoms : bool
        Whether its centres are unit vectors.
    distributions : tuple of str
        The distributions of radii that members of an ensemble take turns in, the best first; none
        if it cannot join one.
    """

    name: ClassVar[str]
    has_radii: ClassVar[bool] = True
    has_boundary: ClassVar[bool] = False
    has_unit_atoms: ClassVar[bool] = True
    distributions: ClassVar[tuple[str, ...]] = ("linear", "50-50", "80-20")

    @abstractmethod
    def coder(self, atoms: Array | Layout, radii: Array) -> Coder:
        """Return atoms (n_atoms, n_features) with radii (n_atoms,) made ready to code."""

    @property
    def gaps(self) -> Gaps:
        """What missing entries cost: a greedy code has no price on coefficients to hold them."""
        return GREEDY

    @classmethod
    def for_member(cls, parameters: Mapping[str, Any]) -> Self:  # noqa: ARG003
        """Return the kind as a member of an ensemble with these parameters has it."""
        return cls()

    def check(self) -> None:  # noqa: B027
        """Raise a ValueError on a field that rows cannot be coded with; asked before any use."""

    def resized(self, n_atoms: int, n_features: int) -> Self:
        """Return the kind as it can be with so few atoms and features."""
        return self

    def leans(self, codes: Codes, atoms: Array, radii: Array) -> Array:
        """Return how far actual atoms are from their centres, in radii; 0 where there is none.

        The codes must hold the actual atoms.
        """
        centres, reach = atoms[codes.support], radii[codes.support]
        chords = np.linalg.norm(np.asarray(codes.actual_atoms) - centres, axis=2)
        if self.has_unit_atoms:
            # a set-atom and its mirror image are the same
            mirrored = np.linalg.norm(np.asarray(codes.actual_atoms) + centres, axis=2)
            chords = np.minimum(chords, mirrored)
        return np.where(reach > 0, chords / np.where(reach > 0, reach, 1.0), 0.0)

    def remember(self, X: Array, atoms: Array, radii: Array) -> Memory | None:
        """Return what is kept from one pass over the rows of X to the next."""
        return None

    def statistics(
        self,
        X: Array,
        atoms: Array,
        radii: Array,
        memory: Any,
        *,
        missing: Mask | None = None,
        n_jobs: int | None,
    ) -> Statistics:
        """Code the rows of X, fill them in place where `missing`, and sum what moves the atoms."""
        return sum_over_codes(self.coder(atoms, radii), X, self.gaps, missing, n_jobs)

    def recentre(self, statistics: Statistics, atoms: Array) -> Array:
        """Return the atoms (n_atoms, n_features) where a pass has moved them."""
        return statistics.apply(atoms)

    def stiffness(self, statistics: Statistics, radii: Array) -> Array:
        """Return by how much the pull on each atom falls (n_atoms,) as it moves, per distance.

        By default rows want their actual atoms where these are, whatever the centre does.
        """
        return statistics.weight

    def separate(self, atoms: Array, radii: Array, rng: np.random.Generator) -> tuple[Array, int]:
        """Part atoms that must not overlap; return the atoms and how many pairs did."""
        return atoms, 0

    def hold_back(self, moved: Array, atoms: Array, radii: Array) -> tuple[Array, int]:
        """Undo as much of a move from ``atoms`` as makes them overlap; return how many did."""
        return moved, 0
