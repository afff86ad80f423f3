"""Products of matrices whose sums are always added up in the same order.

A library for linear algebra chooses by the processor how it adds up, and so the last bits of its
products differ from machine to machine, as do models that are learned from them. Here every entry
is a sum over the columns of the left matrix from the first to the last, each product fused with
the sum. How many entries are worked on at a time depends on the processor, what comes out does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from setatoms.lanes.instructions import (
    INT,
    Shape,
    call,
    load,
    multiply_add,
    place,
    shape_of,
    spread,
    store,
)

# Rows and vectors of a tile whose sums fit into registers: of 64 bytes, and of half as many.
_ROWS = 4
_VECTORS_IF_WIDE, _VECTORS_ELSE = 4, 1
# Single products that are added up side by side.
_SIDE = 8


def has_wide_registers() -> bool:
    """Tell whether the processor that is compiled for has registers for whole vectors."""
    given: Any = getattr(config, "CPU_FEATURES", None)
    features = get_host_cpu_features().flatten() if given is None else given
    return "+avx512f" in features.split(",")


def _multiply_rows(_context, left, right, out):
    """Fill out (n, p) with left (n, m) times right (m, p); p is a multiple of whole vectors.

    Numbers of left are rounded to the precision of the others, if that is another one.
    """
    shape, given = shape_of(right, out), shape_of(left)

    def generate(context, builder, signature, values):
        a, b, c = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, values, strict=True)
        )
        n_rows, length = cgutils.unpack_tuple(builder, a.shape, 2)
        width = builder.extract_value(b.shape, 1)

        def number_of_left(at):
            number = builder.load(place(builder, a.data, at, given.number), typ=given.number)
            if given is shape:
                return number
            return context.cast(builder, number, left.dtype, out.dtype)

        tile = _Tile(builder, shape, number_of_left, b.data, c.data, length, width)
        n_whole = builder.and_(n_rows, INT(~(_ROWS - 1)))
        at, size = INT(0), _VECTORS_IF_WIDE if has_wide_registers() else _VECTORS_ELSE
        # panels of four vectors, then at most one of two and one of one
        while size:
            step = INT(size * shape.lanes)
            stop = builder.sub(width, builder.srem(builder.sub(width, at), step))
            with cgutils.for_range_slice(builder, at, stop, step, INT) as (column, _):
                with cgutils.for_range_slice(builder, INT(0), n_whole, INT(_ROWS), INT) as (row, _):
                    tile.fill(row, column, _ROWS, size)
                with cgutils.for_range_slice(builder, n_whole, n_rows, INT(1), INT) as (row, _):
                    tile.fill(row, column, 1, size)
            at, size = stop, size // 2
        return context.get_dummy_value()

    return types.void(left, right, out), generate


class _Tile:
    """Entries of a product that are worked on together.

    Parameters
    ----------
    builder : ir.IRBuilder
        Where instructions go.
    shape : Shape
        Of vectors.
    number_of_left : callable
        From a place in the left matrix to its number.
    right, out : ir.Value
        Where the other matrices begin.
    length, width : ir.Value
        Columns of the left matrix, and of the other two.
    """

    def __init__(
        self,
        builder: ir.IRBuilder,
        shape: Shape,
        number_of_left: Callable[[ir.Value], ir.Value],
        right: ir.Value,
        out: ir.Value,
        length: ir.Value,
        width: ir.Value,
    ) -> None:
        self.builder, self.shape = builder, shape
        self.number_of_left, self.right, self.out = number_of_left, right, out
        self.length, self.width = length, width

    def fill(self, row: ir.Value, column: ir.Value, n_rows: int, n_vectors: int) -> None:
        """Fill the entries of some rows and vectors of columns."""
        b, shape = self.builder, self.shape
        rows = [b.add(row, INT(i)) for i in range(n_rows)]
        columns = [b.add(column, INT(i * shape.lanes)) for i in range(n_vectors)]
        sums = [[cgutils.alloca_once(b, shape.vector) for _ in columns] for _ in rows]
        for slot in (slot for of_row in sums for slot in of_row):
            b.store(shape.constant(0.0), slot)
        begins = [b.mul(each, self.length) for each in rows]
        with cgutils.for_range(b, self.length, intp=INT) as loop:
            begin = b.mul(loop.index, self.width)
            vectors = [load(b, shape, self.right, b.add(begin, at)) for at in columns]
            for of_row, first in zip(sums, begins, strict=True):
                factor = spread(b, self.number_of_left(b.add(first, loop.index)), shape.vector)
                for slot, vector in zip(of_row, vectors, strict=True):
                    b.store(multiply_add(b, shape, factor, vector, b.load(slot)), slot)
        for each, of_row in zip(rows, sums, strict=True):
            begin = b.mul(each, self.width)
            for at, slot in zip(columns, of_row, strict=True):
                store(b, shape, b.load(slot), self.out, b.add(begin, at))


def _multiply_chosen(_context, left, right, chosen, out):
    """Fill out (n,) with the products of rows of left (n, m) and rows chosen of right (p, m).

    They are the entries that `multiply_rows` would give, bit for bit; n is a multiple of eight.
    """
    shape = shape_of(left, right, out)

    def generate(context, builder, signature, values):
        a, b, indices, c = (
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, values, strict=True)
        )
        n_rows, length = cgutils.unpack_tuple(builder, a.shape, 2)

        def number(pointer, at):
            return builder.load(place(builder, pointer, at, shape.number), typ=shape.number)

        # a sum waits for its own last result, so several are added up side by side
        with cgutils.for_range_slice(builder, INT(0), n_rows, INT(_SIDE), INT) as (first, _):
            rows = [builder.add(first, INT(i)) for i in range(_SIDE)]
            own = [builder.mul(row, length) for row in rows]
            others = [
                builder.mul(builder.load(place(builder, indices.data, row, INT), typ=INT), length)
                for row in rows
            ]
            zero = shape.number(0.0)
            sums = [cgutils.alloca_once_value(builder, zero) for _ in rows]
            for slot in sums:
                builder.store(zero, slot)
            with cgutils.for_range(builder, length, intp=INT) as loop:
                for slot, begin, other in zip(sums, own, others, strict=True):
                    factors = (
                        number(a.data, builder.add(begin, loop.index)),
                        number(b.data, builder.add(other, loop.index)),
                    )
                    terms = [*factors, builder.load(slot)]
                    name = f"llvm.fmuladd.f{8 * shape.n_bytes}"
                    builder.store(call(builder, name, shape.number, terms), slot)
            for slot, row in zip(sums, rows, strict=True):
                builder.store(builder.load(slot), place(builder, c.data, row, shape.number))
        return context.get_dummy_value()

    return types.void(left, right, chosen, out), generate


# The compiler passes the context itself, so callers see one argument less than the definition.
multiply_rows: Any = intrinsic(_multiply_rows)
multiply_chosen: Any = intrinsic(_multiply_chosen)
