"""Distances to kept rows, and the smallest of them.

Distances of four rows are computed together: each number of a kept row is then loaded once for
four. Terms are added in the order of the columns, so a row has the same distances in any company.

To keep a list of the smallest sorted while going through thousands of numbers costs more than to
compute them, since no processor foresees when a number enters. So a bound is found first that a
few more than those looked for are below: numbers are dealt out to 128 groups, the smallest of each
is found by vectors, and the bound is one that enough of these are below. Only groups of such are
gone through, and what is below the bound there is put in order by counting what comes before it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import kernel
from setatoms.lanes import Lanes, Vector, lane_kernel

Array = NDArray[np.float64]

TOGETHER = 4
_GROUPS = 128
# Of fewer numbers, groups are too small to be worth it.
_LEAST_NUMBERS = 8 * _GROUPS
_HALVINGS, _MOST_HALVINGS = 12, 40
# So many more groups than needed may be gone through.
_SLACK = 3


def _add_squares(n_columns: int, n_rows: int) -> Any:
    """Return a loop that adds squared gaps of columns to the sums of several rows."""

    def body(*numbers: Vector) -> Lanes:
        columns, sums = numbers[:n_columns], list(numbers[n_columns : n_columns + n_rows])
        values = numbers[n_columns + n_rows :]
        for row in range(n_rows):
            for j, column in enumerate(columns):
                gap = column - values[row * n_columns + j]
                sums[row] = sums[row] + gap * gap
        return sums, []

    writes = tuple(range(n_columns, n_columns + n_rows))
    return lane_kernel(n_columns + n_rows, n_columns * n_rows, body, writes=writes, any_length=True)


def _count_body(values: Vector, bound: Vector) -> Lanes:
    return [], [values.constant(1.0).where_negative(values - bound, 0.0)]


def _below_body(values: Vector, bound: Vector) -> Lanes:
    return [], [values.where_negative(values - bound, -1.0)]


_add_column = _add_squares(1, 1)
_add_column_to_four = _add_squares(1, 4)
_add_four_to_four = _add_squares(4, 4)
_take_smaller = lane_kernel(
    2, 0, lambda least, values: ([least.at_most(values)], []), writes=(0,), any_length=True
)
_range = lane_kernel(
    1, 0, lambda values: ([], [values, values]), reduces=("min", "max"), any_length=True
)
_count_below = lane_kernel(1, 1, _count_body, reduces=("sum",), any_length=True)
_largest_below = lane_kernel(1, 1, _below_body, reduces=("max",), any_length=True)


def selection_space(n_rows: int) -> tuple[Array, NDArray[np.int64]]:
    """Return work space for `select`, for so many numbers."""
    return np.empty(_GROUPS), np.empty(n_rows + 1, np.int64)


@kernel
def square_distances(row, columns, work):
    """Fill work (n_rows,) with squared distances of columns (m, n_rows) to row (m,).

    NaN in the row is a gap, which counts nothing; what is left is scaled to full width.
    """
    n_features, n_rows = columns.shape
    for i in range(n_rows):
        work[i] = 0.0
    n_observed = 0
    for j in range(n_features):
        if not np.isnan(row[j]):
            n_observed += 1
            _add_column(n_rows, columns[j], work, row[j])
    if 0 < n_observed < n_features:
        factor = n_features / n_observed
        for i in range(n_rows):
            work[i] *= factor


@kernel
def square_distances_of_four(Z, columns, work):
    """Fill work (4, n_rows) with squared distances of columns (m, n_rows) to rows Z (4, m)."""
    whole = True
    for row in range(4):
        for j in range(Z.shape[1]):
            whole = whole and not np.isnan(Z[row, j])
    if not whole:
        for row in range(4):
            square_distances(Z[row], columns, work[row])
        return
    n_features, n_rows = columns.shape
    for row in range(4):
        for i in range(n_rows):
            work[row, i] = 0.0
    a, b, c, d = Z[0], Z[1], Z[2], Z[3]
    done = n_features // 4 * 4
    for j in range(0, done, 4):
        # fmt: off
        _add_four_to_four(
            n_rows, columns[j], columns[j + 1], columns[j + 2], columns[j + 3],
            work[0], work[1], work[2], work[3],
            a[j], a[j + 1], a[j + 2], a[j + 3], b[j], b[j + 1], b[j + 2], b[j + 3],
            c[j], c[j + 1], c[j + 2], c[j + 3], d[j], d[j + 1], d[j + 2], d[j + 3],
        )
        # fmt: on
    for j in range(done, n_features):
        _add_column_to_four(
            n_rows, columns[j], work[0], work[1], work[2], work[3], a[j], b[j], c[j], d[j]
        )


@kernel
def select(work, least, below, squares, nearest):
    """Find the smallest of work (n_rows,), increasing; ties to the lowest index.

    Fills squares (k,) with them and nearest (k,) with their indices; `least` and `below` are from
    `selection_space`.
    """
    n_rows, n_wanted = work.shape[0], squares.shape[0]
    if n_rows < _LEAST_NUMBERS or n_wanted > _GROUPS // 2:
        _select_one_by_one(work, squares, nearest)
        return
    bound = _find_bound(work, least, n_wanted)
    if _count_below(_GROUPS, least, bound) < n_wanted:  # too many are equal
        _select_one_by_one(work, squares, nearest)
        return
    n_below = 0
    for group in range(_GROUPS):
        if least[group] < bound:
            for i in range(group, n_rows, _GROUPS):
                # without a branch, which no processor would foresee
                below[n_below] = i
                n_below += work[i] < bound
    if n_below > _GROUPS:
        _select_one_by_one(work, squares, nearest)
        return
    for p in range(n_below):
        least[p] = work[below[p]]
    for p in range(n_below):
        rank = 0
        for q in range(n_below):
            rank += (least[q] < least[p]) | ((least[q] == least[p]) & (below[q] < below[p]))
        if rank < n_wanted:
            squares[rank] = least[p]
            nearest[rank] = below[p]


@kernel
def _find_bound(work, least, n_wanted):
    """Fill least (128,) with the smallest of each group; return what enough of these are below."""
    for group in range(_GROUPS):
        least[group] = np.inf
    n_rows = work.shape[0]
    for first in range(0, n_rows, _GROUPS):
        _take_smaller(min(_GROUPS, n_rows - first), least, work[first:])
    low, high = _range(_GROUPS, least)
    for _ in range(_HALVINGS):
        middle = low + (high - low) * 0.5
        n_below = _count_below(_GROUPS, least, middle)
        if n_below < n_wanted:
            low = middle
        else:
            high = middle
            if n_below <= n_wanted + _SLACK:
                break
    return high


@kernel
def _select_one_by_one(work, squares, nearest):
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


def in_fours(rows: Array) -> Array:
    """Return rows (n, m) with zeros behind them, so that their number is a multiple of four."""
    n_more = -len(rows) % TOGETHER
    return np.concatenate([rows, np.zeros((n_more, rows.shape[1]))]) if n_more else rows


def distances_in_place(Z: Array, columns: Array, place: int) -> Array:
    """Return of each row of Z (n, m) the distance that has a place, from 0, among all of its own.

    It is NaN where equal distances hide it. Distances are those to columns (m, n_rows).
    """
    rows = in_fours(Z)
    squares = np.empty(len(rows))
    _squares_in_place(rows, columns, place, np.empty((TOGETHER, columns.shape[1])), squares)
    return np.sqrt(squares[: len(Z)])


@kernel
def _squares_in_place(Z, columns, place, work, squares):
    for row in range(Z.shape[0]):
        if row % TOGETHER == 0:
            square_distances_of_four(Z[row : row + TOGETHER], columns, work)
        squares[row] = _in_place(work[row % TOGETHER], place)


@kernel
def _in_place(work, place):
    """Return the number of work (n_rows,) that so many others are below; NaN if it is not found."""
    n_rows = work.shape[0]
    low, high = _range(n_rows, work)
    for _ in range(_MOST_HALVINGS):
        middle = low + (high - low) * 0.5
        n_below = _count_below(n_rows, work, middle)
        if n_below == place + 1:
            return _largest_below(n_rows, work, middle)
        if n_below <= place:
            low = middle
        else:
            high = middle
    return np.nan
