"""Sums, largest and smallest numbers over the vectors of a loop, while it is generated."""

from __future__ import annotations

from math import inf

from llvmlite import ir
from numba.core import cgutils

from setatoms.lanes.instructions import INT, INT32, Shape, call, spread


class Total:
    """A reduction in progress."""

    start = 0.0

    def __init__(
        self, builder: ir.IRBuilder, shape: Shape, _index_mask: ir.Value | None = None
    ) -> None:
        self.builder, self.shape = builder, shape
        self.slot = cgutils.alloca_once_value(builder, shape.constant(self.start))

    def take(
        self, value: ir.Value, at: ir.Value | None = None, mask: ir.Value | None = None
    ) -> None:
        """Take in a vector, the numbers at ``at`` of an array, except outside the mask."""
        value = self.masked(value, mask)
        self.builder.store(self.combine(self.builder.load(self.slot), value), self.slot)

    def masked(self, value: ir.Value, mask: ir.Value | None) -> ir.Value:
        """Return numbers that change nothing in the lanes that do not count."""
        if mask is None:
            return value
        return self.builder.select(mask, value, self.shape.constant(self.start))

    def combine(self, left: ir.Value, right: ir.Value) -> ir.Value:
        """Return what becomes of two vectors, lane by lane."""
        raise NotImplementedError

    def result(self) -> ir.Value:
        """Combine halves until one number is left."""
        b, total, width = self.builder, self.builder.load(self.slot), self.shape.lanes
        while width > 1:
            width //= 2
            undefined = ir.Constant(total.type, ir.Undefined)
            low, high = (
                ir.Constant(ir.VectorType(INT32, width), list(range(first, first + width)))
                for first in (0, width)
            )
            total = self.combine(
                b.shuffle_vector(total, undefined, low), b.shuffle_vector(total, undefined, high)
            )
        return b.extract_element(total, INT32(0))


class Sum(Total):
    """A sum, whose order depends on the number of terms alone."""

    def combine(self, left: ir.Value, right: ir.Value) -> ir.Value:
        """Return sums."""
        return self.builder.fadd(left, right)


class _Max(Total):
    start = -inf
    order = "<"

    def combine(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return self.builder.select(self.builder.fcmp_ordered(self.order, left, right), right, left)


class _Min(_Max):
    start = inf
    order = ">"


class _ArgMax(Total):
    """Keeps integers: the bits of a number with its reversed index in the low ones."""

    def __init__(self, builder: ir.IRBuilder, shape: Shape, index_mask: ir.Value) -> None:
        self.builder, self.shape = builder, shape
        self.mask = builder.trunc(index_mask, shape.int) if shape.int != INT else index_mask
        all_but_sign = shape.int((1 << shape.int.width - 1) - 1)
        number_bits = builder.and_(builder.not_(self.mask), all_but_sign)
        self.number_bits = spread(builder, number_bits, shape.ints)
        lane = shape.int_constant(list(range(shape.lanes)))
        self.reversed = builder.sub(spread(builder, self.mask, shape.ints), lane)
        self.slot = cgutils.alloca_once_value(builder, shape.int_constant([0] * shape.lanes))

    def take(
        self, value: ir.Value, at: ir.Value | None = None, mask: ir.Value | None = None
    ) -> None:
        b, shape = self.builder, self.shape
        value = self.masked(value, mask)
        at = b.trunc(at, shape.int) if shape.int != INT else at
        index = b.sub(self.reversed, spread(b, at, shape.ints))
        self.keep(b.or_(b.and_(b.bitcast(value, shape.ints), self.number_bits), index))

    def keep(self, key: ir.Value) -> None:
        """Take in the integers of a vector."""
        b, best = self.builder, self.builder.load(self.slot)
        b.store(b.select(b.icmp_signed(">", key, best), key, best), self.slot)

    def largest(self, keys: ir.Value) -> ir.Value:
        """Return the largest of all lanes."""
        name = f"llvm.vector.reduce.smax.{self.shape.ints_name}"
        return call(self.builder, name, self.shape.int, [keys])

    def result(self) -> ir.Value:
        b, shape = self.builder, self.shape
        best = self.largest(b.load(self.slot))
        index = b.sub(self.mask, b.and_(best, self.mask))
        return b.zext(index, INT) if shape.int != INT else index


class _Second(_ArgMax):
    """Keeps the two largest keys of each lane, for a bound on all numbers but the largest."""

    def __init__(self, builder: ir.IRBuilder, shape: Shape, index_mask: ir.Value) -> None:
        super().__init__(builder, shape, index_mask)
        self.second = cgutils.alloca_once_value(builder, shape.int_constant([0] * shape.lanes))

    def keep(self, key: ir.Value) -> None:
        b = self.builder
        best, second = b.load(self.slot), b.load(self.second)
        smaller = b.select(b.icmp_signed(">", key, best), best, key)
        b.store(b.select(b.icmp_signed(">", smaller, second), smaller, second), self.second)
        super().keep(key)

    def result(self) -> ir.Value:
        b, shape = self.builder, self.shape
        best = b.load(self.slot)
        largest = spread(b, self.largest(best), shape.ints)
        others = b.select(b.icmp_signed("==", best, largest), b.load(self.second), best)
        # the bits that hold the index are those of a number no smaller
        bits = b.or_(self.largest(others), self.mask)
        return b.bitcast(bits, shape.number)


TOTALS = {"sum": Sum, "max": _Max, "min": _Min, "argmax": _ArgMax, "second": _Second}
