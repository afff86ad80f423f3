"""The learned atoms, as many as one can look at, ready for JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setatoms.report.data import AtomTable
from setatoms.report.numbers import number, percent, rounded, score_text

MOST_ATOMS = 60
MOST_COLUMNS = 60


def details_of_atoms(atoms: AtomTable) -> dict[str, Any]:
    """Return the atoms used most, with the columns that weigh most in them.

    ``weights`` are in whole percent of the largest; rows of ``weights`` go with ``atoms``, columns
    with ``columns``.
    """
    chosen = _used_most(atoms)
    columns = _weigh_most(atoms.components[chosen])
    weights = atoms.components[np.ix_(chosen, columns)]
    largest = float(np.abs(weights).max(initial=0.0)) or 1.0
    return {
        "atoms": chosen.tolist(),
        "columns": columns.tolist(),
        "largest": number(largest, 2),
        "weights": np.rint(100 * weights / largest).astype(int).tolist(),
        "radii": _bars(atoms.radii[chosen], score_text) if np.any(atoms.radii > 0) else None,
        "usage": None if atoms.usage is None else _bars(atoms.usage[chosen], percent),
    }


def _used_most(atoms: AtomTable) -> NDArray[np.intp]:
    order = np.arange(len(atoms.components))
    if atoms.usage is not None:
        order = np.argsort(-atoms.usage, kind="stable")
    return order[:MOST_ATOMS]


def _weigh_most(components: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the columns with the largest sums of squares, in their own order."""
    weights = np.einsum("ij,ij->j", components, components)
    return np.sort(np.argsort(-weights, kind="stable")[:MOST_COLUMNS])


def _bars(values: NDArray[np.float64], words: Callable[[float], str]) -> list[list[Any]]:
    """Return each value as a length in percent of the largest, and in words."""
    largest = float(values.max(initial=0.0)) or 1.0
    return [[rounded(100 * value / largest, 3), words(value)] for value in values.tolist()]
