"""The same functions in NumPy, for kernels that are not compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setatoms.lanes.vector import ALL_BUT_SIGN, LANES, Loop, Vector, padded

Floats = NDArray[np.float64]
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
        arrays = [_first(length, array) for array in arguments[: loop.n_arrays]]
        scalars = arguments[loop.n_arrays : loop.n_arrays + loop.n_scalars]
        with np.errstate(all="ignore"):
            # copies: what a body returns must not change while it is written
            written, reduced = loop.body(
                *(PlainVector(array.copy()) for array in arrays),
                *(PlainVector(np.full(length, scalar)) for scalar in scalars),
            )
            for target, vector in zip(loop.writes, written, strict=True):
                arrays[target][:] = _values(vector)
            results = [
                _REDUCTIONS[kind](_values(vector), arguments[-1])
                for kind, vector in zip(loop.reduces, reduced, strict=True)
            ]
        return (results[0] if len(results) == 1 else tuple(results)) if results else None

    return run


def _first(length: int, array: Floats) -> Floats:
    if array.dtype != np.float64 or not array.flags.c_contiguous:
        layout = "" if array.flags.c_contiguous else "not contiguous, "
        raise TypeError(f"lanes are of contiguous float64 arrays, not of {layout}{array.dtype}")
    return array.reshape(-1)[:length]


def _sum(values: Floats, _mask: object = None) -> float:
    """Add vectors of eight numbers, then halves of what is left, as compiled code does."""
    lanes = np.zeros(padded(max(len(values), 1)))
    lanes[: len(values)] = values
    total = np.add.accumulate(lanes.reshape(-1, LANES), axis=0)[-1]
    while len(total) > 1:
        half = len(total) // 2
        total = total[:half] + total[half:]
    return float(total[0])


def _max(values: Floats, _mask: object) -> float:
    return float(np.fmax.reduce(values, initial=-1.7e308))


def _min(values: Floats, _mask: object) -> float:
    return float(np.fmin.reduce(values, initial=1.7e308))


def _argmax(values: Floats, mask: int) -> int:
    """Compare the bits of numbers, with the reversed index in the low ones."""
    bits = values.view(np.int64) & np.int64(ALL_BUT_SIGN & ~mask)
    keys = bits | (mask - np.arange(len(values)))
    return int(mask - (int(keys.max(initial=0)) & mask))


_REDUCTIONS: dict[str, Callable[[Floats, Any], Any]] = {
    "sum": _sum,
    "max": _max,
    "min": _min,
    "argmax": _argmax,
}


def add_rows(
    length: int, out: Floats, rows: Floats, chosen: Ints, factors: Floats, count: int
) -> None:
    """Add ``sum_q factors[q] rows[chosen[q], :length]`` over ``q < count`` to out[:length]."""
    for q in range(count):
        out[:length] += factors[q] * rows[chosen[q], :length]


def subtract_rows(
    length: int,
    out: Floats,
    start: Floats,
    rows: Floats,
    chosen: Ints,
    factors: Floats,
    count: int,
    scale: float,
) -> float:
    """Fill out[:length] with ``start - sum_q factors[q] rows[chosen[q]]`` over ``q < count``.

    What is written is multiplied by scale; the squared norm before that is returned.
    """
    left = start[:length].copy()
    add_rows(length, left, rows, chosen, -factors, count)
    with np.errstate(over="ignore"):
        out[:length] = left * scale
        return _sum(left * left)


def subtract_products(length: int, out: Floats, left: Floats, right: Floats, count: int) -> None:
    """Subtract ``sum_q left[q, :length] * right[q, :length]`` over ``q < count`` from out."""
    for q in range(count):
        out[:length] -= left[q, :length] * right[q, :length]


def subtract_multiples(out: Floats, rows: Floats, factor: Floats, count: int) -> None:
    """Subtract ``factor * rows[q]`` from out[q] for q < count."""
    out[:count] -= factor * rows[:count]
