r"""How alone a row is, and what its neighbours imply for each of its columns.

Kept is a sample of at most 2,000 training rows. Two measures of a row use its distances to them:

- *distance*: to the 10th nearest;
- *density*: the local outlier factor (Breunig et al., 2000) with 20 neighbours, which compares how
  dense the rows are around the row and around its neighbours.

A row at distance 0 is taken for the row itself and left out once, so that training rows are
measured like all others. Gaps of a row count nothing, and its distances are scaled to full width.

What the other columns *imply* for one is the mean of that column over the 10 rows that are
nearest when that column is left out: a faulty value has no say in what was expected in its place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import kernel
from setatoms.backends import run_chunks

Array = NDArray[np.float64]

MOST_ROWS = 2_000
_FOR_DISTANCE, _FOR_DENSITY = 10, 20
_CHUNK_ROWS = 128
_LEAST = 1e-12


@dataclass(frozen=True)
class Neighbours:
    """Training rows to compare with.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n_rows)
        The rows in standardised units, column by column.
    reach : ndarray of shape (n_rows,)
        The distance of each to the last of its neighbours.
    density : ndarray of shape (n_rows,)
        One over the mean reachability distance of each from its neighbours.
    """

    columns: Array
    reach: Array
    density: Array

    @classmethod
    def learn(cls, Z: Array, rng: np.random.Generator, n_jobs: int | None) -> Neighbours:
        """Keep rows of `Z` (n_samples, n_features), which has no gaps."""
        if len(Z) == 1:
            Z = np.repeat(Z, 2, axis=0)  # its own neighbour
        if len(Z) > MOST_ROWS:
            Z = Z[np.sort(rng.choice(len(Z), MOST_ROWS, replace=False))]
        columns = np.ascontiguousarray(Z.T)
        n_rows = len(Z)
        n_near = min(_FOR_DENSITY, n_rows - 1)
        nearest = np.empty((n_rows, n_near), np.int64)
        squares = np.empty((n_rows, n_near))

        def search(start: int, stop: int) -> None:
            _search_others(Z, columns, start, squares[start:stop], nearest[start:stop])

        run_chunks(search, n_rows, n_jobs=n_jobs, chunk_rows=_CHUNK_ROWS)
        distances = np.sqrt(squares)
        reach = distances[:, -1].copy()
        mean_reach = np.maximum(distances, reach[nearest]).mean(axis=1)
        return cls(columns, reach, 1.0 / np.maximum(mean_reach, _LEAST))

    def measure(self, Z: Array, n_jobs: int | None) -> Array:
        """Return distance and density (2, n) of rows `Z` (n, n_features); NaN is a gap."""
        n_near = min(_FOR_DENSITY, len(self.reach) - 1)
        measured = np.empty((2, len(Z)))

        def task(start: int, stop: int) -> None:
            work = np.empty(len(self.reach))
            squares, nearest = np.empty(n_near + 1), np.empty(n_near + 1, np.int64)
            _measure(
                Z[start:stop],
                self.columns,
                self.reach,
                self.density,
                min(_FOR_DISTANCE, n_near),
                work,
                squares,
                nearest,
                measured[:, start:stop],
            )

        run_chunks(task, len(Z), n_jobs=n_jobs, chunk_rows=_CHUNK_ROWS)
        return measured

    def distances(self, Z: Array, place: int) -> Array:
        """Return the distance (n,) of rows `Z` (n, n_features) to the neighbour in a place from 1.

        A row at distance 0 is the row itself and has no place.
        """
        found = np.empty(len(Z))
        n_near = min(place, len(self.reach) - 1)
        for i, row in enumerate(Z):
            work, squares = np.empty(len(self.reach)), np.empty(n_near + 1)
            _square_distances(row, self.columns, work)
            _select(work, squares, np.empty(n_near + 1, np.int64))
            found[i] = np.sqrt(squares[n_near if squares[0] == 0 else n_near - 1])
        return found

    def close(self, Z: Array, n_jobs: int | None) -> Array:
        """Return `Z` (n, n_features) with what the others imply in place of NaN."""
        return np.where(np.isnan(Z), self.imply(np.ascontiguousarray(Z), n_jobs), Z)

    def imply(self, Z: Array, n_jobs: int | None) -> Array:
        """Return what the others imply for each entry of `Z` (n, n_features); NaN is a gap."""
        n_near = min(_FOR_DISTANCE, len(self.reach))
        implied = np.empty_like(Z)

        def task(start: int, stop: int) -> None:
            work, trial = np.empty(len(self.reach)), np.empty(len(self.reach))
            squares, nearest = np.empty(n_near), np.empty(n_near, np.int64)
            rows, answers = Z[start:stop], implied[start:stop]
            _imply(rows, self.columns, work, trial, squares, nearest, answers)

        run_chunks(task, len(Z), n_jobs=n_jobs, chunk_rows=_CHUNK_ROWS)
        return implied


@kernel
def _square_distances(row, columns, work):
    """Fill work (n_rows,) with squared distances to row (m,), scaled to full width.

    Four columns are read at a time, which takes half the time; terms are added in their order.
    """
    n_features, n_rows = columns.shape
    for i in range(n_rows):
        work[i] = 0.0
    n_observed = 0
    for first in range(0, n_features, 4):
        stop = min(first + 4, n_features)
        n_here = 0
        for j in range(first, stop):
            if not np.isnan(row[j]):
                n_here += 1
        n_observed += n_here
        if n_here == 4:
            _add_four(row[first:stop], columns[first:stop], work)
        else:
            _add_observed(row[first:stop], columns[first:stop], work)
    if 0 < n_observed < n_features:
        factor = n_features / n_observed
        for i in range(n_rows):
            work[i] *= factor


@kernel
def _add_four(values, columns, work):
    """Add to work (n_rows,) the squared differences of columns (4, n_rows) from values (4,)."""
    value0, value1, value2, value3 = values[0], values[1], values[2], values[3]
    for i in range(work.shape[0]):
        gap0, gap1 = columns[0, i] - value0, columns[1, i] - value1
        gap2, gap3 = columns[2, i] - value2, columns[3, i] - value3
        work[i] = work[i] + gap0 * gap0 + gap1 * gap1 + gap2 * gap2 + gap3 * gap3


@kernel
def _add_observed(values, columns, work):
    """Add to work (n_rows,) the squared differences of columns (q, n_rows) from values (q,)."""
    for j in range(values.shape[0]):
        value = values[j]
        if np.isnan(value):
            continue
        for i in range(work.shape[0]):
            gap = columns[j, i] - value
            work[i] += gap * gap


@kernel
def _select(work, squares, nearest):
    """Find the smallest of work (n_rows,), increasing; ties to the lowest index."""
    last = squares.shape[0] - 1
    for q in range(last + 1):
        squares[q] = np.inf
        nearest[q] = 0
    for i in range(work.shape[0]):
        value = work[i]
        if value < squares[last]:
            q = last
            while q > 0 and squares[q - 1] > value:
                squares[q] = squares[q - 1]
                nearest[q] = nearest[q - 1]
                q -= 1
            squares[q] = value
            nearest[q] = i


@kernel
def _search_chunk(Z, columns, first, work, squares, nearest):
    """Find the nearest other rows of those from `first` on, one for each line of squares."""
    for q in range(squares.shape[0]):
        _square_distances(Z[first + q], columns, work)
        work[first + q] = np.inf
        _select(work, squares[q], nearest[q])


def _search_others(
    Z: Array, columns: Array, first: int, squares: Array, nearest: NDArray[np.int64]
) -> None:
    _search_chunk(Z, columns, first, np.empty(columns.shape[1]), squares, nearest)


@kernel
def _measure(Z, columns, reach, density, for_distance, work, squares, nearest, measured):
    """Fill measured (2, n) with distance and local outlier factor of the rows of Z (n, m)."""
    n_near = squares.shape[0] - 1
    for row in range(Z.shape[0]):
        _square_distances(Z[row], columns, work)
        _select(work, squares, nearest)
        # a row of the sample is no neighbour of itself
        first = 1 if squares[0] == 0.0 else 0
        total = 0.0
        around = 0.0
        for q in range(first, first + n_near):
            total += max(np.sqrt(squares[q]), reach[nearest[q]])
            around += density[nearest[q]]
        measured[0, row] = np.sqrt(squares[first + for_distance - 1])
        measured[1, row] = around / n_near * (total / n_near)


@kernel
def _imply(Z, columns, work, trial, squares, nearest, implied):
    """Fill implied (n, m) with the mean of each column over rows near in all others."""
    n_features, n_rows = columns.shape
    n_near = squares.shape[0]
    for row in range(Z.shape[0]):
        _square_distances(Z[row], columns, work)
        n_observed = 0
        for j in range(n_features):
            if not np.isnan(Z[row, j]):
                n_observed += 1
        if n_observed == 0:
            # the mean row
            for j in range(n_features):
                implied[row, j] = 0.0
            continue
        scale = n_features / n_observed
        for i in range(n_rows):
            # the row itself, or one just like it, would imply what it says
            if work[i] == 0.0:
                work[i] = np.inf
        for j in range(n_features):
            value = Z[row, j]
            for i in range(n_rows):
                if np.isnan(value):
                    trial[i] = work[i]
                else:
                    gap = columns[j, i] - value
                    trial[i] = work[i] - gap * gap * scale
            _select(trial, squares, nearest)
            total = 0.0
            for q in range(n_near):
                total += columns[j, nearest[q]]
            implied[row, j] = total / n_near
