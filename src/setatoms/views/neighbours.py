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
from setatoms.views.nearest import (
    TOGETHER,
    in_fours,
    select,
    selection_space,
    square_distances,
    square_distances_of_four,
)

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
            rows = in_fours(Z[start:stop])
            work, space = np.empty((TOGETHER, len(self.reach))), selection_space(len(self.reach))
            squares, nearest = np.empty(n_near + 1), np.empty(n_near + 1, np.int64)
            answers = np.empty((2, len(rows)))
            near = min(_FOR_DISTANCE, n_near)
            # fmt: off
            _measure(
                rows, self.columns, self.reach, self.density, near, work, *space, squares, nearest,
                answers,
            )
            # fmt: on
            measured[:, start:stop] = answers[:, : stop - start]

        run_chunks(task, len(Z), n_jobs=n_jobs, chunk_rows=_CHUNK_ROWS)
        return measured

    def distances(self, Z: Array, place: int) -> Array:
        """Return the distance (n,) of rows `Z` (n, n_features) to the neighbour in a place from 1.

        A row at distance 0 is the row itself and has no place.
        """
        found = np.empty(len(Z))
        n_near = min(place, len(self.reach) - 1)
        work, space = np.empty(len(self.reach)), selection_space(len(self.reach))
        squares, nearest = np.empty(n_near + 1), np.empty(n_near + 1, np.int64)
        for i, row in enumerate(Z):
            square_distances(row, self.columns, work)
            select(work, *space, squares, nearest)
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
            space = selection_space(len(self.reach))
            rows, answers = Z[start:stop], implied[start:stop]
            _imply(rows, self.columns, work, trial, *space, squares, nearest, answers)

        run_chunks(task, len(Z), n_jobs=n_jobs, chunk_rows=_CHUNK_ROWS)
        return implied


@kernel
def _search_chunk(Z, columns, first, work, least, below, squares, nearest):
    """Find the nearest other rows of those from `first` on, one for each line of squares."""
    for q in range(squares.shape[0]):
        square_distances(Z[first + q], columns, work)
        work[first + q] = np.inf
        select(work, least, below, squares[q], nearest[q])


def _search_others(
    Z: Array, columns: Array, first: int, squares: Array, nearest: NDArray[np.int64]
) -> None:
    work, space = np.empty(columns.shape[1]), selection_space(columns.shape[1])
    _search_chunk(Z, columns, first, work, *space, squares, nearest)


@kernel
def _measure(
    Z, columns, reach, density, for_distance, work, least, below, squares, nearest, measured
):
    """Fill measured (2, n) with distance and local outlier factor of the rows of Z (n, m).

    `work` (4, n_rows) holds distances of four rows; n is a multiple of four.
    """
    n_near = squares.shape[0] - 1
    for row in range(Z.shape[0]):
        if row % TOGETHER == 0:
            square_distances_of_four(Z[row : row + TOGETHER], columns, work)
        select(work[row % TOGETHER], least, below, squares, nearest)
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
def _imply(Z, columns, work, trial, least, below, squares, nearest, implied):
    """Fill implied (n, m) with the mean of each column over rows near in all others."""
    n_features, n_rows = columns.shape
    n_near = squares.shape[0]
    for row in range(Z.shape[0]):
        square_distances(Z[row], columns, work)
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
            select(trial, least, below, squares, nearest)
            total = 0.0
            for q in range(n_near):
                total += columns[j, nearest[q]]
            implied[row, j] = total / n_near
