"""The same functions in NumPy, for kernels that are not compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setatoms.lanes.vector import Loop, Vector, count_lanes, padded

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
        numbers = [array.reshape(-1)[:length] for array in arrays]
        scalars = arguments[loop.n_arrays : loop.n_arrays + loop.n_scalars]
        with np.errstate(all="ignore"):
            # copies: what a body returns must not change while it is written
            written, reduced = loop.body(
                *(PlainVector(array.copy()) for array in numbers),
                *(PlainVector(np.full(length, scalar, arrays[0].dtype)) for scalar in scalars),
            )
            for target, vector in zip(loop.writes, written, strict=True):
                numbers[target][:] = _values(vector)
            results = [
                _REDUCTIONS[kind](_values(vector), arguments[-1])
                for kind, vector in zip(loop.reduces, reduced, strict=True)
            ]
        return (results[0] if len(results) == 1 else tuple(results)) if results else None

    def run_one(*arguments: Any) -> Any:
        return run(count_lanes(arguments[0].dtype), *arguments)

    return run_one if loop.one_vector else run


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


_REDUCTIONS: dict[str, Callable[[Floats, Any], Any]] = {
    "sum": _sum,
    "max": _max,
    "min": _min,
    "argmax": _argmax,
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
    for q in range(count):
        left -= factors[q].astype(left.dtype) * rows[chosen[q], :length]
    with np.errstate(over="ignore"):
        out[:length] = left * left.dtype.type(scale)
        return _sum(left * left)


def subtract_products(out: Floats, left: Floats, right: Floats, count: int) -> None:
    """Subtract ``sum_q left[q] * right[q]`` over ``q < count`` from out."""
    for q in range(count):
        out -= left[q] * right[q]


def subtract_multiples(out: Floats, rows: Floats, factor: Floats, count: int) -> None:
    """Subtract ``factor * rows[q]`` from out[q] for q < count."""
    out[:count] -= factor * rows[:count]


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
