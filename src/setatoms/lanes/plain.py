"""The same functions in NumPy, for kernels that are not compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setatoms.lanes.vector import Loop, Vector, count_lanes, count_sides, padded

Floats = NDArray[Any]
Ints = NDArray[Any]


class PlainVector(Vector):
    """All numbers that a loop runs over, computed at once."""

    def __init__(self, values: Floats | float) -> None:
        self.values = values

    def constant(self, number: float) -> PlainVector:
        """Return a vector of this number."""
        return PlainVector(np.full_like(self.values, number))

    def __add__(self, other: Vector | float) -> PlainVector:
        return PlainVector(self.values + _values(other))

    def __sub__(self, other: Vector | float) -> PlainVector:
        return PlainVector(self.values - _values(other))

    def __mul__(self, other: Vector | float) -> PlainVector:
        return PlainVector(self.values * _values(other))

    def __truediv__(self, other: Vector | float) -> PlainVector:
        return PlainVector(self.values / _values(other))

    def __neg__(self) -> PlainVector:
        return PlainVector(-self.values)

    def __abs__(self) -> PlainVector:
        return PlainVector(np.abs(self.values))

    def sqrt(self) -> PlainVector:
        """Return the square roots."""
        return PlainVector(np.sqrt(self.values))

    def at_most(self, other: Vector | float) -> PlainVector:
        """Return the smaller of each pair."""
        limit = _values(other)
        return PlainVector(np.where(self.values < limit, self.values, limit))

    def at_least(self, other: Vector | float) -> PlainVector:
        """Return the larger of each pair."""
        limit = _values(other)
        return PlainVector(np.where(self.values < limit, limit, self.values))

    def where_negative(self, test: Vector, otherwise: Vector | float) -> PlainVector:
        """Return these numbers where ``test < 0`` and others elsewhere."""
        return PlainVector(np.where(_values(test) < 0.0, self.values, _values(otherwise)))


def _values(other: Any) -> Any:
    return other.values if isinstance(other, PlainVector) else other


def make_loop(loop: Loop) -> Callable[..., Any]:
    """Make the function that `setatoms.lanes.lane_kernel` describes."""

    def run(length: int, *arguments: Any) -> Any:
        arrays = _check(arguments[: loop.n_arrays])
        numbers = [array.reshape(-1) for array in arrays]
        scalars = arguments[loop.n_arrays : loop.n_arrays + loop.n_scalars]
        # with single pairs step by step, as each finds there what the last one has written
        size = count_sides(arrays[0].dtype) if loop.pairs else max(length, 1)
        reduced: list[list[Floats]] = [[] for _ in loop.reduces]
        with np.errstate(all="ignore"):
            for at in range(0, length if loop.pairs else max(length, 1), size):
                parts = [
                    array[:size] if k in loop.pairs else array[at : min(at + size, length)]
                    for k, array in enumerate(numbers)
                ]
                n = len(parts[0])
                # copies: what a body returns must not change while it is written
                written, given = loop.body(
                    *(PlainVector(part.copy()) for part in parts),
                    *(PlainVector(np.full(n, scalar, arrays[0].dtype)) for scalar in scalars),
                )
                for target, vector in zip(loop.writes, written, strict=True):
                    parts[target][:] = _values(vector)
                for values, vector in zip(reduced, given, strict=True):
                    values.append(np.broadcast_to(_values(vector), n))
            results = [
                _REDUCTIONS[kind](np.concatenate(values or [np.empty(0)]), arguments[-1])
                for kind, values in zip(loop.reduces, reduced, strict=True)
            ]
        return (results[0] if len(results) == 1 else tuple(results)) if results else None

    def run_one(*arguments: Any) -> Any:
        return run(count_sides(arguments[0].dtype), *arguments)

    return run_one if loop.one_pair else run


def _check(arrays: tuple[Floats, ...]) -> tuple[Floats, ...]:
    """Return the arrays, if they can be taken by vectors."""
    for array in arrays:
        known = array.dtype in (np.float64, np.float32) and array.dtype == arrays[0].dtype
        if not known or not array.flags.c_contiguous:
            kinds = [
                f"{each.dtype}{'' if each.flags.c_contiguous else ' (gaps)'}" for each in arrays
            ]
            raise TypeError(
                "lanes are of contiguous arrays, all of float64 or all of float32, not of "
                + ", ".join(kinds)
            )
    return arrays


def _sum(values: Floats, _mask: object = None) -> Any:
    """Add vectors, then halves of what is left, as compiled code does."""
    lanes = np.zeros(padded(max(len(values), 1), values.dtype), values.dtype)
    lanes[: len(values)] = values
    total = np.add.accumulate(lanes.reshape(-1, count_lanes(values.dtype)), axis=0)[-1]
    while len(total) > 1:
        half = len(total) // 2
        total = total[:half] + total[half:]
    return total[0]


def _max(values: Floats, _mask: object) -> Any:
    return np.fmax.reduce(values, initial=-np.inf)


def _min(values: Floats, _mask: object) -> Any:
    return np.fmin.reduce(values, initial=np.inf)


def _argmax(values: Floats, mask: int) -> int:
    """Compare the bits of numbers, with the reversed index in the low ones."""
    n_bits = 8 * values.dtype.itemsize
    bits = values.view(f"i{values.dtype.itemsize}").astype(np.int64)
    keys = (bits & ((1 << n_bits - 1) - 1) & ~mask) | (mask - np.arange(len(values)))
    return int(mask - (int(keys.max(initial=0)) & mask))


def _second(values: Floats, mask: int) -> Any:
    """Return the second largest absolute value, with bits that hold an index set."""
    rest = np.abs(values)
    rest[_argmax(values, mask)] = 0.0
    bits = rest.view(f"i{values.dtype.itemsize}") | mask
    return bits.view(values.dtype).max(initial=0.0)


_REDUCTIONS: dict[str, Callable[[Floats, Any], Any]] = {
    "sum": _sum,
    "max": _max,
    "min": _min,
    "argmax": _argmax,
    "second": _second,
}


def subtract_rows(
    length: int,
    out: Floats,
    start: Floats,
    rows: Floats,
    chosen: Ints,
    factors: Floats,
    count: int,
    scale: float,
) -> Any:
    """Fill out[:length] with ``start - sum_q factors[q] rows[chosen[q]]`` over ``q < count``.

    What is written is multiplied by scale; the squared norm before that is returned.
    """
    left = start[:length].copy()
    # as compiled code does not either, NumPy does not warn of numbers beyond a precision
    with np.errstate(over="ignore", invalid="ignore"):
        for q in range(count):
            left -= factors[q].astype(left.dtype) * rows[chosen[q], :length]
        out[:length] = left * left.dtype.type(scale)
        return _sum(left * left)


def largest_left(
    length: int,
    out: Floats,
    start: Floats,
    rows: Floats,
    chosen: Ints,
    factors: Floats,
    count: int,
    mask: int,
) -> tuple[int, Any]:
    """Fill out[:length] as `subtract_rows` does; return its "argmax" and "second"."""
    subtract_rows(length, out, start, rows, chosen, factors, count, 1.0)
    return _argmax(out[:length], mask), _second(out[:length], mask)


def solve_lower(lower: Floats, vectors: Floats, n_places: int) -> None:
    """Replace vectors by the solution of ``L x = vectors``; the diagonal of L counts as ones."""
    for q in range(n_places):
        for p in range(q):
            vectors[q] -= lower[_entry(q, p)] * vectors[p]


def solve_upper(lower: Floats, vectors: Floats, n_places: int) -> None:
    """Replace vectors by the solution of ``L^T x = vectors``; the diagonal of L counts as ones."""
    for q in range(n_places - 1, 0, -1):
        for p in range(q):
            vectors[p] -= lower[_entry(q, p)] * vectors[q]


def subtract_symmetric(out: Floats, lower: Floats, vectors: Floats, n_places: int) -> None:
    """Subtract the product of a symmetric matrix and vectors from out, in place."""
    for q in range(n_places):
        for p in range(n_places):
            out[q] -= lower[_entry(max(q, p), min(q, p))] * vectors[p]


def factor_column(
    lower: Floats,
    products: Floats,
    inverses: Floats,
    column: int,
    n_places: int,
    least_pivot: float,
) -> None:
    """Make a column of the factor L, and inverses[column], of a matrix ``L D L^T`` in lower.

    The columns before it are those of L already. The pivot, an entry of D, is raised to the least
    one and to the square of every entry below it; one over it goes to inverses. Entries before they
    are divided by the pivot go to products.
    """
    least = np.full_like(lower[0], least_pivot)
    for q in range(column, n_places):
        entry = lower[_entry(q, column)]
        for c in range(column):
            entry -= lower[_entry(q, c)] * products[_entry(column, c)]
        if q > column:
            least = np.where(least < entry * entry, entry * entry, least)
    pivot = lower[_entry(column, column)]
    inverses[column] = 1 / np.where(pivot < least, least, pivot)
    for q in range(column + 1, n_places):
        at = _entry(q, column)
        products[at] = lower[at]
        lower[at] *= inverses[column]


def _entry(q: int, p: int) -> int:
    """Return where row q and column p <= q stand, of a matrix of which the lower half is kept."""
    return q * (q + 1) // 2 + p


def multiply_rows(left: Floats, right: Floats, out: Floats) -> None:
    """Fill out (n, p) with left (n, m) times right (m, p)."""
    left = left.astype(right.dtype, copy=False)
    out[:] = 0.0
    for k in range(len(right)):
        out += left[:, k : k + 1] * right[k]


def multiply_chosen(left: Floats, right: Floats, chosen: Ints, out: Floats) -> None:
    """Fill out (n,) with the products of rows of left (n, m) and rows chosen of right (p, m)."""
    out[:] = 0.0
    for k in range(left.shape[1]):
        out += left[:, k] * right[chosen, k]
