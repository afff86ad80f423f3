"""One or several dictionaries that judge the same rows, and how they come to one opinion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from setatoms.learning.dictionary import FittedDictionary

Array = NDArray[np.float64]


class Combines(Protocol):
    """From the errors of dictionaries to one number per row."""

    def combine(self, errors: Array) -> Array:
        """Return one number per row (n,) from the errors (n_dictionaries, n)."""

    def shares(self, errors: Array) -> Array:
        """Return the share of each dictionary in it (n_dictionaries, n), which sum to one."""


@dataclass(frozen=True)
class Panel:
    """Dictionaries in the same standardised units.

    Parameters
    ----------
    dictionaries : tuple of FittedDictionary
        At least one.
    combination : object with `combine` and `shares`
        How their errors become one number.
    in_own_units : callable
        From standardised rows (n_samples, n_features) to finite rows in the columns' own units.
    names : tuple of str
        What the features are called.
    n_jobs : int or None
        Threads; results do not depend on it.
    """

    dictionaries: tuple[FittedDictionary, ...]
    combination: Combines
    in_own_units: Callable[[Array], Array]
    names: tuple[str, ...]
    n_jobs: int | None


def mean_rows(tables: Sequence[Array]) -> Array:
    """Return the mean of tables of the same shape.

    Parameters
    ----------
    tables : sequence of ndarray
        One for each dictionary.
    """
    return sum((table / len(tables) for table in tables[1:]), start=tables[0] / len(tables))


def weighted_rows(tables: Sequence[Array], weights: Array) -> Array:
    """Return the mean of `tables`, each (n, n_features), by weights (n_tables, n) of their rows."""
    total = np.zeros_like(tables[0])
    for table, weight in zip(tables, weights, strict=True):
        total += weight[:, None] * table
    return total
