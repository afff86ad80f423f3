"""Cone-OMP with two atoms and one round of descent, for a block of signals at a time.

Everything that happens to a signal ``y`` with cones ``d1`` and ``d2`` stays in the span of the
three, so each vector is three numbers on the basis (y, d1, d2) and each inner product follows from
the six products of the basis, which the block product and the Gram matrix hold. These numbers are
kept one array a quantity, so that eight signals are handled side by side.

Products of nearly equal vectors lose digits. A signal of which very little is left, or that lies
inside a cone, is declined here and coded vector by vector instead (`setatoms.coding.cone_omp`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import kernel
from setatoms.coding.blocks import Sizes
from setatoms.coding.cone.selection import closest_cone
from setatoms.lanes import Lanes, Vector, aligned_zeros, lane_kernel
from setatoms.vectors import dot

# Left with less than this share of its length, a signal is declined: squares of shares lose half
# of the digits, so what remains is good to 1e-16 / share.
_LEAST_SHARE = 1e-3

Vectors = list[Vector]


class ConePairs(NamedTuple):
    """Work space, and numbers of each signal of a block, all of shape (block_rows,)."""

    work: NDArray[np.float64]  # (n_padded,)
    first: NDArray[np.int64]  # the two atoms; -1 for a signal that is declined
    second: NDArray[np.int64]
    square: NDArray[np.float64]  # ||y||^2
    along1: NDArray[np.float64]  # <y, d1>
    along2: NDArray[np.float64]  # <y, d2>
    between: NDArray[np.float64]  # <d1, d2>
    cosine1: NDArray[np.float64]
    sine1: NDArray[np.float64]
    cosine2: NDArray[np.float64]
    sine2: NDArray[np.float64]
    keep: NDArray[np.float64]  # first actual atom: keep d1 + lean y
    lean: NDArray[np.float64]
    left: NDArray[np.float64]  # length of what it leaves
    outside: NDArray[np.float64]  # least distance outside a cone met on the way; negative: inside
    x1: NDArray[np.float64]
    x2: NDArray[np.float64]
    on_y: NDArray[np.float64]  # the residual on the basis
    on_d1: NDArray[np.float64]
    on_d2: NDArray[np.float64]


def allocate_pairs(sizes: Sizes) -> ConePairs:
    """Return `ConePairs` for blocks of signals coded with a layout of these sizes."""
    first, second = np.zeros((2, sizes.block_rows), np.int64)
    numbers = aligned_zeros((17, sizes.block_rows))
    return ConePairs(aligned_zeros(sizes.n_padded), first, second, *numbers)


@kernel
def code_pairs(n_rows, cones, block, pairs):
    """Choose both atoms of the first n_rows signals of the block and fill pairs."""
    size = block.rows.shape[0]
    for i in range(n_rows):
        pairs.square[i] = dot(block.rows[i], block.rows[i])
        length = np.sqrt(pairs.square[i])
        pairs.first[i] = closest_cone(block.correlations[i], length, cones)
        j = max(pairs.first[i], 0)
        pairs.along1[i] = block.correlations[i, j]
        pairs.cosine1[i] = cones.cosines[j]
        pairs.sine1[i] = cones.sines[j]
    _choose_first(
        size, pairs.square, pairs.along1, pairs.cosine1, pairs.sine1,
        pairs.keep, pairs.lean, pairs.x1, pairs.left,
    )  # fmt: skip
    for i in range(n_rows):
        if pairs.first[i] >= 0:
            _select_second(i, block.correlations[i], cones, pairs)
    _choose_second(
        size, pairs.square, pairs.along1, pairs.along2, pairs.between,
        pairs.cosine1, pairs.sine1, pairs.cosine2, pairs.sine2,
        pairs.keep, pairs.lean, pairs.left,
        pairs.outside, pairs.x1, pairs.x2, pairs.on_y, pairs.on_d1, pairs.on_d2,
    )  # fmt: skip


@kernel
def _select_second(i, correlations, cones, pairs):
    """Select the second atom of signal i with correlations (n,), or decline the signal."""
    j, x, gram = pairs.first[i], pairs.x1[i], cones.layout.gram
    # what the first atom leaves is (1 - x lean) y - x keep d1
    _combine(
        correlations.shape[0], correlations, gram[j], pairs.work,
        1.0 - x * pairs.lean[i], x * pairs.keep[i],
    )  # fmt: skip
    pairs.work[j] = 0.0
    q = closest_cone(pairs.work, pairs.left[i], cones)
    if q == j or q < 0:
        pairs.first[i] = -1
        return
    pairs.second[i] = q
    pairs.along2[i] = correlations[q]
    pairs.between[i] = gram[j, q]
    pairs.cosine2[i] = cones.cosines[q]
    pairs.sine2[i] = cones.sines[q]


@kernel
def finish_pair(i, y, scale, cones, pairs, support, x, residual):
    """Fill support (2,), x (2,) and residual (m,), the last multiplied by scale, for signal i.

    Return the error before that, -1 if the signal is declined.
    """
    atoms = cones.layout.atoms
    j1, j2 = pairs.first[i], pairs.second[i]
    if j1 < 0 or pairs.outside[i] <= 0.0:
        return -1.0
    left = _leave(
        y.shape[0], residual, y, atoms[j1], atoms[j2],
        pairs.on_y[i], pairs.on_d1[i], pairs.on_d2[i], scale,
    )  # fmt: skip
    least = _LEAST_SHARE * _LEAST_SHARE * pairs.square[i]
    if left <= least or pairs.left[i] * pairs.left[i] <= least:
        return -1.0
    support[0], support[1] = j1, j2
    x[0], x[1] = pairs.x1[i], pairs.x2[i]
    return np.sqrt(left)


def _leave_body(
    _residual: Vector, y: Vector, d1: Vector, d2: Vector,
    on_y: Vector, on_d1: Vector, on_d2: Vector, scale: Vector,
) -> Lanes:  # fmt: skip
    left = on_y * y + on_d1 * d1 + on_d2 * d2
    return [left * scale], [left * left]


_leave = lane_kernel(4, 4, _leave_body, writes=(0,), reduces=("sum",), any_length=True)


def _combine_rows(
    start: Vector, row: Vector, _out: Vector, on_start: Vector, on_row: Vector
) -> Lanes:
    return [on_start * start - on_row * row], []


_combine = lane_kernel(3, 2, _combine_rows, writes=(2,))


def _choose(
    product: Vector, length: Vector, cosine: Vector, sine: Vector
) -> tuple[Vector, Vector, Vector, Vector]:
    """Choose the member of a cone closest to a residual of that length and product with the centre.

    Return keep, lean (the member is keep d + lean r), its coefficient, and how far outside the
    cone the residual lies.
    """
    inverse = 1.0 / length
    p = (abs(product) * inverse).at_most(1.0)
    across = (1.0 - p * p).at_least(1e-30).sqrt()
    lean = sine / across
    keep = cosine - lean * p
    signed = lean * inverse
    signed = (-signed).where_negative(product, signed)
    return keep, signed, keep * product + signed * length * length, cosine - p


def _first_body(
    square: Vector, along: Vector, cosine: Vector, sine: Vector, *_written: Vector
) -> Lanes:
    length = square.at_least(1e-300).sqrt()
    keep, lean, x, _ = _choose(along, length, cosine, sine)
    p = (abs(along) / length).at_most(1.0)
    # ||r|| = ||y|| sin(theta - phi)
    left = length * ((1.0 - p * p).at_least(0.0).sqrt() * cosine - p * sine)
    return [keep, lean, x, left], []


_choose_first = lane_kernel(8, 0, _first_body, writes=(4, 5, 6, 7))


def _second_body(*arrays: Vector) -> Lanes:
    square, along1, along2, between, cosine1, sine1, cosine2, sine2 = arrays[:8]
    keep, lean, left, _, x1 = arrays[8:13]

    def products(vector: Vectors) -> Vectors:
        """Inner products of a vector on the basis (y, d1, d2) with the basis."""
        on_y, on_d1, on_d2 = vector
        return [
            on_y * square + on_d1 * along1 + on_d2 * along2,
            on_y * along1 + on_d1 + on_d2 * between,
            on_y * along2 + on_d1 * between + on_d2,
        ]

    def inner(left: Vectors, right: Vectors) -> Vector:
        return left[0] * right[0] + left[1] * right[1] + left[2] * right[2]

    def scaled_sum(vector: Vectors, factor: Vector, other: Vectors) -> Vectors:
        return [a + factor * b for a, b in zip(vector, other, strict=True)]

    zero, one = square.constant(0.0), square.constant(1.0)
    a1 = [lean, keep, zero]
    residual = [1.0 - x1 * lean, -(x1 * keep), zero]

    # the second atom against what the first leaves
    product2 = residual[0] * along2 + residual[1] * between
    keep2, lean2, _, outside2 = _choose(product2, left.at_least(1e-300), cosine2, sine2)
    a2 = [lean2 * residual[0], lean2 * residual[1], keep2]
    outside = outside2

    # least squares on both
    a1_products = products(a1)
    a12 = inner(a2, a1_products)
    a2_on_y = products(a2)[0]
    scale = 1.0 / (1.0 - a12 * a12)
    x1 = (a1_products[0] - a12 * a2_on_y) * scale
    x2 = (a2_on_y - a12 * a1_products[0]) * scale
    residual = scaled_sum([one, zero, zero], -x1, a1)
    residual = scaled_sum(residual, -x2, a2)

    # each chooses again against what the other leaves
    without = scaled_sum(residual, x1, a1)
    with_basis = products(without)
    length = inner(without, with_basis).at_least(1e-300).sqrt()
    keep1, lean1, x1, outside1 = _choose(with_basis[1], length, cosine1, sine1)
    a1 = [lean1 * without[0], lean1 * without[1] + keep1, lean1 * without[2]]
    residual = scaled_sum(without, -x1, a1)
    outside = outside.at_most(outside1)

    without = scaled_sum(residual, x2, a2)
    with_basis = products(without)
    length = inner(without, with_basis).at_least(1e-300).sqrt()
    keep2, lean2, x2, outside2 = _choose(with_basis[2], length, cosine2, sine2)
    a2 = [lean2 * without[0], lean2 * without[1], lean2 * without[2] + keep2]
    residual = scaled_sum(without, -x2, a2)
    outside = outside.at_most(outside2)
    return [outside, x1, x2, *residual], []


_choose_second = lane_kernel(17, 0, _second_body, writes=(11, 12, 13, 14, 15, 16))
