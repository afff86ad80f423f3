"""How wide each set-atom is: the distribution of radii, and the schedule that assigns them."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import NoReturn, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def _in_two(share_at_largest: float) -> Callable[[float, float, int], Array]:
    """Return a distribution with that share of the atoms at the largest radius."""

    def spread(largest: float, smallest: float, n_atoms: int) -> Array:
        n_largest = math.floor(share_at_largest * n_atoms + 0.5)
        return np.repeat([largest, smallest], [n_largest, n_atoms - n_largest])

    return spread


# From the largest radius, the smallest and the number of atoms to radii, the largest first.
DISTRIBUTIONS: dict[str, Callable[[float, float, int], Array]] = {
    "linear": np.linspace,
    "50-50": _in_two(0.5),
    "80-20": _in_two(0.2),
}
NORMS = ("l1", "l0")


class Usage(Protocol):
    """What a pass over the signals tells about the use of atoms."""

    @property
    def n_users(self) -> Array:
        """Signals that use each atom, (n_atoms,)."""

    @property
    def abs_sum(self) -> Array:
        """Sum of the absolute coefficients of each atom, (n_atoms,)."""


def count_atoms(n_atoms: float, n_features: int) -> int:
    """Return the number of atoms: an int is a count, a float is atoms per feature.

    The count of a float is ``floor(n_atoms*n_features + 1/2)``.

    Parameters
    ----------
    n_atoms : float or int
        How many atoms are asked for.
    n_features : int
        Columns of the table.
    """
    if not _is_number(n_atoms):
        raise ValueError(
            f"n_atoms={n_atoms!r} is not a finite number; "
            "give a count of atoms (int) or atoms per feature (float)"
        )
    scale = 1 if isinstance(n_atoms, Integral) else n_features
    count = math.floor(n_atoms * scale + 0.5)
    if count < 1:
        raise ValueError(
            f"n_atoms={n_atoms} gives {count} atoms for {n_features} features, "
            "but at least 1 is needed; raise n_atoms"
        )
    return count


def distribute(
    distribution: str | ArrayLike, n_atoms: int, radii: tuple[float, float] = (0.04, 0.12)
) -> Array:
    """Return the radii to reach, from the largest to the smallest.

    Parameters
    ----------
    distribution : "linear", "50-50", "80-20" or (n_atoms,) array
        An even grid between the two `radii`; that share (in per cent) at the smallest and the rest,
        ``floor(0.5*n_atoms + 1/2)`` or ``floor(0.2*n_atoms + 1/2)``, at the largest; or the radii
        themselves in any order.
    n_atoms : int
        Number of atoms.
    radii : (min, max)
        The smallest and the largest radius, ``0 < min <= max < sqrt(2)``. An array as
        `distribution` says all, then they are not looked at.

    Returns
    -------
    (n_atoms,) array, sorted decreasingly.
    """
    if not isinstance(distribution, str):
        return _check_given(distribution, n_atoms)
    if distribution not in DISTRIBUTIONS:
        raise ValueError(
            f"radii_distribution={distribution!r} is not known; choose one of "
            f"{tuple(DISTRIBUTIONS)} or give an array with one radius per atom"
        )
    smallest, largest = _check_range(radii)
    return DISTRIBUTIONS[distribution](largest, smallest, n_atoms)


class FixedRadii:
    """Radii that are given to the atoms at random once and never change.

    Parameters
    ----------
    rho_bar : (n_atoms,)
        The radii.
    """

    def __init__(self, rho_bar: ArrayLike) -> None:
        self.rho_bar = _decreasing(rho_bar)

    def start(self, rng: np.random.Generator) -> Array:
        """Return the radii in random order, (n_atoms,)."""
        return rng.permutation(self.rho_bar)

    def adapts_at(self, k: int) -> bool:
        """Tell that no iteration changes the radii."""
        return False

    def usage_of(self, statistics: Usage) -> Array:
        """Return the total weight of each atom, (n_atoms,)."""
        return statistics.abs_sum

    def at(self, k: int, usage: ArrayLike) -> NoReturn:
        """Refuse: fixed radii have no steps."""
        raise RuntimeError(f"fixed radii do not adapt at iteration {k}; ask adapts_at first")


class AdaptiveRadii:
    """Radii that start equal and move to a distribution, the larger to the atoms used more.

    At the iterations ``k = every, 2*every, ...`` (from 1) the radii are

    ``mu + (k/every) * (rho_bar - mu) / floor(n_iter/every)``

    where ``mu`` is the mean of ``rho_bar``, which the last step reaches exactly.

    Parameters
    ----------
    rho_bar : (n_atoms,)
        The radii to reach.
    n_iter : int
        Iterations of learning.
    every : int
        Iterations between two adaptations (`adapt_every` of the estimators).
    norm : "l1" or "l0"
        Use of an atom: its sum of absolute coefficients, or the number of signals that use it.
    """

    def __init__(self, rho_bar: ArrayLike, n_iter: int, every: int, norm: str = "l1") -> None:
        if norm not in NORMS:
            raise ValueError(f"adapt={norm!r} is not known; choose one of {NORMS}, or None")
        if every < 1:
            raise ValueError(f"adapt_every={every} must be at least 1; raise adapt_every")
        if n_iter < every:
            raise ValueError(
                f"n_iter={n_iter} is below adapt_every={every}, so radii could never adapt; "
                "raise n_iter or lower adapt_every"
            )
        self.rho_bar = _decreasing(rho_bar)
        self.every = every
        self.n_steps = n_iter // every
        self.norm = norm

    def start(self, rng: np.random.Generator) -> Array:
        """Return the mean radius for every atom, (n_atoms,)."""
        return np.full_like(self.rho_bar, self.rho_bar.mean())

    def adapts_at(self, k: int) -> bool:
        """Tell whether iteration k (from 1) ends with an adaptation."""
        return k % self.every == 0

    def usage_of(self, statistics: Usage) -> Array:
        """Return the use of each atom in the norm of this schedule, (n_atoms,)."""
        return statistics.abs_sum if self.norm == "l1" else statistics.n_users

    def at(self, k: int, usage: ArrayLike) -> Array:
        """Return the radii of iteration k, (n_atoms,), the largest for the most used atom.

        Atoms used equally are served by increasing index.
        """
        by_use = np.argsort(-np.asarray(usage, dtype=np.float64), kind="stable")
        radii = np.empty_like(self.rho_bar)
        radii[by_use] = self._step(k // self.every)
        return radii

    def _step(self, step: int) -> Array:
        # The formula would miss rho_bar by rounding at the last step.
        if step == self.n_steps:
            return self.rho_bar
        mean = self.rho_bar.mean()
        return np.asarray(mean + step * (self.rho_bar - mean) / self.n_steps)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _as_floats(name: str, values: ArrayLike) -> Array:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}={values!r} is not made of numbers; give numbers") from error


def _decreasing(radii: ArrayLike) -> Array:
    return np.sort(np.asarray(radii, dtype=np.float64))[::-1].copy()


def _check_range(radii: tuple[float, float]) -> tuple[float, float]:
    """Return the smallest and the largest radius, or say what is wrong with them."""
    pair = _as_floats("radii", radii)
    if pair.shape != (2,):
        raise ValueError(
            f"radii={radii!r} must be two numbers, the smallest and the largest radius, "
            "for example (0.04, 0.12)"
        )
    _check_values("radii", pair)
    smallest, largest = float(pair[0]), float(pair[1])
    if smallest > largest:
        raise ValueError(
            f"radii=({smallest:g}, {largest:g}) has its min above its max; "
            f"give ({largest:g}, {smallest:g})"
        )
    return smallest, largest


def _check_given(distribution: ArrayLike, n_atoms: int) -> Array:
    """Return the user's radii sorted decreasingly, or say what is wrong with them."""
    given = _as_floats("radii_distribution", distribution)
    if given.shape != (n_atoms,):
        raise ValueError(
            f"radii_distribution has shape {given.shape}, but there are n_atoms={n_atoms} atoms; "
            f"give one radius per atom, shape ({n_atoms},)"
        )
    _check_values("radii_distribution", given)
    return _decreasing(given)


def _check_values(name: str, values: Array) -> None:
    # Written so that NaN, which compares false with everything, is wrong too.
    wrong = values[~((values > 0.0) & (values < math.sqrt(2.0)))]
    if wrong.size == 0:
        return
    rule = "above 0 and below sqrt(2)" if np.all(np.isfinite(wrong)) else "finite"
    raise ValueError(f"{name} contains {wrong[0]:g}, but radii must be {rule}; change that value")
