"""Explicit vectors, for loops too short for the compiler's own vectorisation.

The compiler's vector loops handle dozens of numbers at a time and the rest one by one; the arrays
here have 8 to 100 numbers, so the rest is most of it. `lane_kernel` builds a loop that takes
exactly one vector of 64 bytes at a time, eight numbers in double precision or sixteen in single,
from an expression written with ordinary operators:

>>> import numba, numpy as np
>>> def body(left, right, factor):
...     total = left + factor * right
...     return [total], [total * total]
>>> add_scaled = lane_kernel(2, 1, body, writes=(0,), reduces=("sum",))
>>> @numba.njit
... def example(left, right):
...     return add_scaled(8, left, right, 2.0)
>>> example(np.ones(8), np.ones(8))
72.0

Arrays are contiguous and all of float64 or all of float32, which the compiler checks, with whole
vectors of numbers where ``any_length`` is not asked for, which nothing checks.

The order of every sum and the fusing of every product with a sum are spelled out, never left to
the optimiser: it decides anew wherever a kernel is inlined, and results would depend on whether a
kernel was just compiled or loaded from disk.

With ``NUMBA_DISABLE_JIT=1`` the same functions are made of NumPy (`setatoms.lanes.plain`), so that
kernels can be debugged. Products are then not fused with sums, so last digits may differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from setatoms._compile import JIT_DISABLED
from setatoms.lanes import plain
from setatoms.lanes.aligned import aligned_zeros, empty_arrays
from setatoms.lanes.compiled import compile_loop
from setatoms.lanes.packed import entry
from setatoms.lanes.products import multiply_chosen as _multiply_chosen
from setatoms.lanes.products import multiply_rows as _multiply_rows
from setatoms.lanes.rows import largest_left as _largest_left
from setatoms.lanes.rows import subtract_rows as _subtract_rows
from setatoms.lanes.triangles import factor_column as _factor_column
from setatoms.lanes.triangles import solve_lower as _solve_lower
from setatoms.lanes.triangles import solve_upper as _solve_upper
from setatoms.lanes.triangles import subtract_symmetric as _subtract_symmetric
from setatoms.lanes.vector import LANES, Lanes, Loop, Vector, count_lanes, count_sides, padded

__all__ = [
    "LANES",
    "Lanes",
    "Vector",
    "aligned_zeros",
    "count_lanes",
    "count_sides",
    "empty_arrays",
    "entry",
    "factor_column",
    "lane_kernel",
    "largest_left",
    "multiply_chosen",
    "multiply_rows",
    "padded",
    "pair_kernel",
    "solve_lower",
    "solve_upper",
    "subtract_rows",
    "subtract_symmetric",
]


def lane_kernel(
    n_arrays: int,
    n_scalars: int,
    body: Callable[..., Lanes],
    *,
    writes: Sequence[int] = (),
    reduces: Sequence[str] = (),
    pairs: Sequence[int] = (),
    any_length: bool = False,
) -> Any:
    """Make a function ``f(length, *arrays, *scalars)`` for use in compiled code.

    It calls ``body(*arrays, *scalars)`` on a vector of each array at a time, which returns the new
    numbers of the arrays listed in ``writes`` and the numbers to reduce, each by "sum", "max",
    "min" (floats) or "argmax" (the index of the largest in absolute value, ties to the lowest; it
    takes one more argument, the mask of bits that hold an index, see `setatoms.coding.blocks`) or
    "second" (which no other number exceeds in absolute value, up to the bits of the mask). The
    function returns the reduced values: nothing, one, or a tuple.

    Arrays listed in ``pairs`` are single pairs of vectors, the same in every step; what is written
    to one is what the next step finds there, and no other argument may overlap it. Lengths are then
    those of whole pairs.

    With ``any_length`` the last vector may be a part of one: the body then sees zeros in the other
    lanes, which are neither written nor reduced.
    """
    if pairs and any_length:
        raise ValueError("with single pairs, a loop is over whole pairs: leave out any_length")
    return _make(Loop(n_arrays, n_scalars, body, writes, reduces, pairs, any_length=any_length))


def pair_kernel(
    n_arrays: int,
    n_scalars: int,
    body: Callable[..., Lanes],
    *,
    writes: Sequence[int] = (),
    reduces: Sequence[str] = (),
) -> Any:
    """Make a function ``f(*arrays, *scalars)`` like that of `lane_kernel`, for single pairs."""
    return _make(Loop(n_arrays, n_scalars, body, writes, reduces, one_pair=True))


def _make(loop: Loop) -> Any:
    return plain.make_loop(loop) if JIT_DISABLED else compile_loop(loop)


largest_left = plain.largest_left if JIT_DISABLED else _largest_left
subtract_rows = plain.subtract_rows if JIT_DISABLED else _subtract_rows
multiply_rows = plain.multiply_rows if JIT_DISABLED else _multiply_rows
multiply_chosen = plain.multiply_chosen if JIT_DISABLED else _multiply_chosen
solve_lower = plain.solve_lower if JIT_DISABLED else _solve_lower
solve_upper = plain.solve_upper if JIT_DISABLED else _solve_upper
subtract_symmetric = plain.subtract_symmetric if JIT_DISABLED else _subtract_symmetric
factor_column = plain.factor_column if JIT_DISABLED else _factor_column
