"""Sums, largest and smallest numbers over the vectors of a loop, while it is generated."""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils

from setatoms.lanes.instructions import FLOAT, FLOATS, INT, INT32, INTS, call, spread
from setatoms.lanes.vector import ALL_BUT_SIGN, LANES


class Total:
    """A reduction in progress."""

    start = 0.0

    def __init__(self, builder: ir.IRBuilder, _index_mask: ir.Value | None = None) -> None:
        self.builder = builder
        self.slot = cgutils.alloca_once_value(builder, ir.Constant(FLOATS, [self.start] * LANES))

    def take(
        self, value: ir.Value, at: ir.Value | None = None, mask: ir.Value | None = None
    ) -> None:
        """Take in eight numbers, those at ``at`` of an array, except outside the mask."""
        value = self.masked(value, mask)
        self.builder.store(self.combine(self.builder.load(self.slot), value), self.slot)

    def masked(self, value: ir.Value, mask: ir.Value | None) -> ir.Value:
        """Return numbers that change nothing in the lanes that do not count."""
        if mask is None:
            return value
        return self.builder.select(mask, value, ir.Constant(FLOATS, [self.start] * LANES))

    def combine(self, left: ir.Value, right: ir.Value) -> ir.Value:
        """Return what becomes of two vectors, lane by lane."""
        raise NotImplementedError

    def result(self) -> ir.Value:
        """Return the one number that the lanes come to."""
        raise NotImplementedError


class Sum(Total):
    """A sum, whose order depends on the number of terms alone."""

    def combine(self, left: ir.Value, right: ir.Value) -> ir.Value:
        """Return sums."""
        return self.builder.fadd(left, right)

    def result(self) -> ir.Value:
        """Add halves until one number is left."""
        b, total, width = self.builder, self.builder.load(self.slot), LANES
        while width > 1:
            width //= 2
            low, high = (
                ir.Constant(ir.VectorType(INT32, width), list(range(first, first + width)))
                for first in (0, width)
            )
            undefined = ir.Constant(total.type, ir.Undefined)
            total = b.fadd(
                b.shuffle_vector(total, undefined, low), b.shuffle_vector(total, undefined, high)
            )
        return b.extract_element(total, INT32(0))


class _Max(Total):
    start = -1.7e308
    order = "<"
    name = "llvm.vector.reduce.fmax.v8f64"

    def combine(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return self.builder.select(self.builder.fcmp_ordered(self.order, left, right), right, left)

    def result(self) -> ir.Value:
        return call(self.builder, self.name, FLOAT, [self.builder.load(self.slot)])


class _Min(_Max):
    start = 1.7e308
    order = ">"
    name = "llvm.vector.reduce.fmin.v8f64"


class _ArgMax(Total):
    """Keeps integers: the bits of a number with its reversed index in the low ones."""

    def __init__(self, builder: ir.IRBuilder, index_mask: ir.Value) -> None:
        self.builder = builder
        self.mask = index_mask
        number_bits = builder.and_(builder.not_(index_mask), INT(ALL_BUT_SIGN))
        self.number_bits = spread(builder, number_bits, INTS)
        lane = ir.Constant(INTS, list(range(LANES)))
        self.reversed = builder.sub(spread(builder, index_mask, INTS), lane)
        self.slot = cgutils.alloca_once_value(builder, ir.Constant(INTS, [0] * LANES))

    def take(
        self, value: ir.Value, at: ir.Value | None = None, mask: ir.Value | None = None
    ) -> None:
        b = self.builder
        value = self.masked(value, mask)
        index = b.sub(self.reversed, spread(b, at, INTS))
        key = b.or_(b.and_(b.bitcast(value, INTS), self.number_bits), index)
        best = b.load(self.slot)
        b.store(b.select(b.icmp_signed(">", key, best), key, best), self.slot)

    def result(self) -> ir.Value:
        name = "llvm.vector.reduce.smax.v8i64"
        best = call(self.builder, name, INT, [self.builder.load(self.slot)])
        return self.builder.sub(self.mask, self.builder.and_(best, self.mask))


TOTALS = {"sum": Sum, "max": _Max, "min": _Min, "argmax": _ArgMax}
