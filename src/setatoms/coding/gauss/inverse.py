"""The inverse of ``G - diag q`` on the atoms in use, kept up as atoms come and go.

An atom comes in by bordering, the block formula for a matrix with one more row and column, and
leaves by undoing it: either costs a product of rank one.
"""

from __future__ import annotations

from setatoms._compile import kernel
from setatoms.coding.gauss.quantities import LINE, SPREAD, STEP, WEAKEN, Z
from setatoms.coding.gauss.table import clear, look_up, move_place, whole_vectors
from setatoms.lanes import LANES, add_rows, lane_kernel

# Smallest pivot with which an atom may join: the equations stay well conditioned.
_LEAST_PIVOT = 1e-3


@kernel
def invert(k, strength, gram, work):
    """Build the inverse atom by atom; one that does not fit is put to rest. Return k."""
    active, table = work.active, work.table
    built = 0
    for q in range(k):
        j, weaken = active[q], strength * table[SPREAD, q]
        if border(built, j, gram[j, j] - weaken, gram, active, table, work.inverse, work.places):
            move_place(q, built, active, table)
            table[WEAKEN, built] = weaken
            built += 1
        else:
            work.resting[j] = 1.0
            add_multiple(gram.shape[0], work.u, gram[j], table[Z, q])
    if built < k:
        for q in range(built, k):
            clear(q, table)
        look_up(built, work.u, active, table)
    return built


@kernel
def border(k, j, diagonal, gram, active, table, inverse, places):
    """Extend the inverse of order k by atom j in place; False if it depends on the others.

    Leaves the product of the inverse and the row of G in the table's step.
    """
    whole = whole_vectors(k + 1)
    row, product = table[LINE], table[STEP]
    for q in range(whole):
        row[q] = gram[j, active[q]] if q < k else 0.0
    if k % LANES == 0:
        _clear_margin(k, inverse)
    set_zero(whole, product)
    add_rows(whole, product, inverse, places, row, k)
    pivot = diagonal - _dot(whole, row, product)
    if pivot < _LEAST_PIVOT:
        return False
    product[k] = -1.0
    scale = 1.0 / pivot
    for q in range(k + 1):
        add_multiple(whole, inverse[q], product, scale * product[q])
    return True


@kernel
def _clear_margin(k, inverse):
    """Set rows and columns k to k + 7 of the inverse to zero."""
    for q in range(k):
        for p in range(k, k + LANES):
            inverse[q, p] = 0.0
    for q in range(k, k + LANES):
        set_zero(k + LANES, inverse[q])


@kernel
def unborder(k, q, column, inverse):
    """Shrink the inverse of order k by place q, which place k - 1 then fills.

    column is work space.
    """
    whole, last = whole_vectors(k), k - 1
    _copy(whole, inverse[q], column)
    scale = -1.0 / column[q]
    for p in range(k):
        add_multiple(whole, inverse[p], column, scale * column[p])
    corner = inverse[last, last]
    _copy(whole, inverse[last], inverse[q])
    inverse[q, q] = corner
    inverse[q, last] = 0.0
    for p in range(k):
        inverse[p, q] = inverse[q, p]
        inverse[p, last] = 0.0
    set_zero(whole, inverse[last])


# whole vectors: target += factor * vector; target = 0
add_multiple = lane_kernel(
    2, 1, lambda target, vector, factor: ([target + factor * vector], []), writes=(0,)
)
set_zero = lane_kernel(1, 0, lambda target: ([target.constant(0.0)], []), writes=(0,))
_dot = lane_kernel(2, 0, lambda left, right: ([], [left * right]), reduces=("sum",))
_copy = lane_kernel(2, 0, lambda source, _target: ([source], []), writes=(1,))
