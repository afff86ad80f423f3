"""One or several dictionaries that judge the same rows, and how they come to one opinion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from setatoms.explain.dictionary import Dictionary

Array = NDArray[np.float64]


class Combines(Protocol):
    """From the errors of dictionaries to one number a row."""

    def combine(self, errors: Array) -> Array:
        """Return one number a row (n,) from the errors (n_dictionaries, n)."""

    def shares(self, errors: Array) -> Array:
        """Return the share of each dictionary in it (n_dictionaries, n), which sum to one."""


@dataclass(frozen=True)
class Panel:
    """Dictionaries in the same standardised units.

    Parameters
    ----------
    dictionaries : tuple of Dictionary
        At least one.
    combination : object with `combine` and `shares`
        How their errors become one number.
    """

    dictionaries: tuple[Dictionary, ...]
    combination: Combines

    @property
    def names(self) -> tuple[str, ...]:
        """What the features are called."""
        return self.dictionaries[0].names

    def in_own_units(self, Z: Array) -> Array:
        """Return standardised rows Z (n, n_features) in the units of their columns, finite."""
        return self.dictionaries[0].in_own_units(Z)


def mean_rows(tables: Sequence[Array]) -> Array:
    """Return the mean of tables of the same shape."""
    return sum((table / len(tables) for table in tables[1:]), start=tables[0] / len(tables))


def weighted_rows(tables: Sequence[Array], weights: Array) -> Array:
    """Return the mean of `tables`, each (n, n_features), by weights (n_tables, n) of their rows."""
    total = np.zeros_like(tables[0])
    for table, weight in zip(tables, weights, strict=True):
        total += weight[:, None] * table
    return total
