r"""What the other columns imply for one of them.

A column is treated as missing: its entry becomes a variable of the same objective, found by coding
the row and replacing the entry by what the code represents, in turn, until it settles. What the
search finds depends on where it starts when a greedy coder chooses the atoms, so it starts from
the best of a few values across the range: multiples of the root mean square of the other entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms.learning.dictionary import FittedDictionary
from setatoms.learning.missing import row_norms

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_STARTS = (0.0, -0.75, 0.75, -1.5, 1.5)
# Numbers that the variants of rows may take at a time, in each of a handful of arrays.
_SLAB_NUMBERS = 1 << 22


class Refilled(NamedTuple):
    """What comes of refilling each column of each row, one at a time.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_features)
        What the other columns imply, in standardised units.
    errors : ndarray of shape (n_samples, n_features)
        The representation error of the row with that value; infinite where nothing was refilled.
    """

    values: Array
    errors: Array


def refill_each(dictionary: FittedDictionary, Z: Array, free: Mask, n_jobs: int | None) -> Refilled:
    """Refill every entry of Z (n, n_features) that is not `free`, each on its own.

    Entries that are `free` (n, n_features) already, such as missing ones, settle along with it.
    """
    values, errors = Z.copy(), np.full(Z.shape, np.inf)
    for rows, columns in _slabs(~free):
        trial, unknown = Z[rows], free[rows]
        unknown[np.arange(len(rows)), columns] = True
        trial = _start(dictionary, trial, columns, unknown, n_jobs)
        trial = settle(dictionary, trial, unknown, n_jobs)
        values[rows, columns] = trial[np.arange(len(rows)), columns]
        errors[rows, columns] = dictionary.errors(trial, n_jobs=n_jobs)
    return Refilled(values, errors)


def settle(dictionary: FittedDictionary, Z: Array, free: Mask, n_jobs: int | None) -> Array:
    """Return Z (n, n_features) with its `free` entries moved until they represent themselves."""
    return dictionary.fill(Z, free, n_jobs=n_jobs).rows


def _start(
    dictionary: FittedDictionary,
    Z: Array,
    columns: NDArray[np.intp],
    free: Mask,
    n_jobs: int | None,
) -> Array:
    """Return Z (n, n_features) with one entry per row set to the best of a few values."""
    each = np.arange(len(Z))
    trial = Z.copy()
    trial[each, columns] = 0.0
    unit = row_norms(trial) / np.sqrt(max(Z.shape[1] - 1, 1))
    best, lowest = np.zeros(len(Z)), np.full(len(Z), np.inf)
    for multiple in _STARTS:
        trial[each, columns] = multiple * unit
        left = row_norms(np.where(free, 0.0, dictionary.code(trial, n_jobs=n_jobs).residuals))
        better = left < lowest
        best[better], lowest[better] = trial[better, columns[better]], left[better]
    trial[each, columns] = best
    return trial


def _slabs(wanted: Mask) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield rows and columns of the `wanted` entries (n, n_features), not too many at a time."""
    rows, columns = np.nonzero(wanted)
    size = max(1, _SLAB_NUMBERS // wanted.shape[1])
    for start in range(0, len(rows), size):
        yield rows[start : start + size], columns[start : start + size]
