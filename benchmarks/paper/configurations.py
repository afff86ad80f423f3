"""The paper's grid of parameters, and the short names under which results are stored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

DISTRIBUTIONS = ("linear", "50-50", "80-20")
RADII = ((0.01, 0.1), (0.04, 0.12))
# A seed has room for so many starts before they meet those of the next one.
_STARTS_PER_SEED = 1_000


@dataclass(frozen=True)
class AtomConfiguration:
    """How many atoms, and for set-atoms how wide.

    Parameters
    ----------
    atoms_per_feature : float
        The paper's ``n/m``.
    radii : (float, float), optional
        The smallest and the largest radius; None for plain vectors.
    distribution : {"linear", "50-50", "80-20"}, optional
        How radii lie between the two.
    start : int, default=1
        Which of several random starts on the same table.

    Examples
    --------
    >>> AtomConfiguration(2.5, (0.04, 0.12), "80-20").name
    'n2.5 r0.04-0.12 80-20'
    """

    atoms_per_feature: float
    radii: tuple[float, float] | None = None
    distribution: str | None = None
    start: int = 1

    @property
    def name(self) -> str:
        """The name under which results are stored."""
        words = [f"n{self.atoms_per_feature:g}"]
        if self.radii is not None:
            words += ["r{:g}-{:g}".format(*self.radii), f"{self.distribution}"]
        if self.start > 1:
            words.append(f"start{self.start}")
        return " ".join(words)

    @property
    def arguments(self) -> dict[str, Any]:
        """What the constructor of a detector is given."""
        arguments: dict[str, Any] = {"n_atoms": float(self.atoms_per_feature)}
        if self.radii is not None:
            arguments |= {"radii": self.radii, "radii_distribution": self.distribution}
        return arguments

    def random_state(self, seed: int) -> int:
        """Return the seed of the initialisation; of the first start it is `seed` itself."""
        return seed + _STARTS_PER_SEED * (self.start - 1)

    def starts(self, n_starts: int) -> list[AtomConfiguration]:
        """Return this configuration from the second random start to the last."""
        return [replace(self, start=start) for start in range(2, n_starts + 1)]


Grid = dict[str, AtomConfiguration]


def by_name(configurations: list[AtomConfiguration]) -> Grid:
    """Return the configurations under their names."""
    return {configuration.name: configuration for configuration in configurations}


def set_atom_grid(sizes: tuple[float, ...]) -> list[AtomConfiguration]:
    """Return the grid of all sizes, radii and distributions."""
    return [AtomConfiguration(*point) for point in product(sizes, RADII, DISTRIBUTIONS)]


VECTOR_GRID = [AtomConfiguration(size) for size in (2.0, 2.5, 3.0, 4.0)]
GAUSSIAN_GRID = set_atom_grid((2.0, 2.5, 3.0))
CONE_GRID = set_atom_grid((2.0, 3.0, 4.0))

# The paper's neighbour study: arguments of COF and LOF beside their defaults.
NEIGHBOURS = {f"k{k}": {"n_neighbors": k} for k in (10, 15, 18, 20, 22, 25)}
LEAVES = {f"leaf{size}": {"leaf_size": size} for size in (10, 50)}
