"""Instructions on vectors, as LLVM has them.

Pointers are opaque: an instruction names the type that it reads or writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError

from setatoms.lanes.vector import PAIR, VECTOR_BYTES

INT, INT32 = ir.IntType(64), ir.IntType(32)
_POINTER = ir.PointerType()


class Shape:
    """Vectors of one type of floats: how many they are, and what LLVM calls them.

    Parameters
    ----------
    number : ir.Type
        The type of floats.
    n_bytes : int
        Their size.
    n_vectors : int
        How many vectors count as one: LLVM takes them apart.
    """

    def __init__(self, number: ir.Type, n_bytes: int, n_vectors: int) -> None:
        n_bits, self.lanes = 8 * n_bytes, n_vectors * VECTOR_BYTES // n_bytes
        self.number, self.n_bytes = number, n_bytes
        self.vector = ir.VectorType(number, self.lanes)
        self.name = f"v{self.lanes}f{n_bits}"
        # integers with the bits of these floats
        self.int = ir.IntType(n_bits)
        self.ints = ir.VectorType(self.int, self.lanes)
        self.ints_name = f"v{self.lanes}i{n_bits}"

    def constant(self, number: float) -> ir.Constant:
        """Return a vector of this number."""
        return ir.Constant(self.vector, [float(number)] * self.lanes)

    def int_constant(self, numbers: list[int]) -> ir.Constant:
        """Return a vector of integers."""
        return ir.Constant(self.ints, numbers)


_FLOATS = {types.float64: (ir.DoubleType(), 8), types.float32: (ir.FloatType(), 4)}
_SHAPES = {
    (kind, n_vectors): Shape(*_FLOATS[kind], n_vectors)
    for kind in _FLOATS
    for n_vectors in (1, PAIR)
}


def shape_of(*kinds: Any, in_pairs: bool = False) -> Shape:
    """Return the shape of vectors, or pairs, of arrays, which must be of the same floats."""
    dtype = kinds[0].dtype
    for kind in kinds:
        if kind.dtype not in _FLOATS or kind.dtype != dtype or kind.layout != "C":
            raise TypingError(
                "lanes are of contiguous arrays, all of float64 or all of float32, not of "
                + ", ".join(map(str, kinds))
            )
    return _SHAPES[dtype, PAIR if in_pairs else 1]


def call(builder: ir.IRBuilder, name: str, returns: Any, arguments: list[ir.Value]) -> ir.Value:
    """Call one of LLVM's own functions."""
    signature = ir.FunctionType(returns, [argument.type for argument in arguments])
    function = cgutils.get_or_insert_function(builder.module, signature, name)
    return builder.call(function, arguments)


def multiply_add(
    builder: ir.IRBuilder, shape: Shape, left: ir.Value, right: ir.Value, term: ir.Value
) -> ir.Value:
    """Return left * right + term, fused where the processor can."""
    return call(builder, f"llvm.fmuladd.{shape.name}", shape.vector, [left, right, term])


def spread(builder: ir.IRBuilder, value: ir.Value, kind: ir.VectorType) -> ir.Value:
    """Return a vector with ``value`` in every lane."""
    empty = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(empty, value, INT32(0))
    everywhere = ir.Constant(ir.VectorType(INT32, kind.count), [0] * kind.count)
    return builder.shuffle_vector(first, empty, everywhere)


def place(builder: ir.IRBuilder, pointer: ir.Value, at: ir.Value, kind: ir.Type) -> ir.Value:
    """Return a pointer to number ``at`` of an array of this kind."""
    result = builder.gep(pointer, [at], source_etype=kind)
    # Numba's own pointers carry the type of what they point to, a vector is stored through this one
    result.type = _POINTER
    return result


def load(
    builder: ir.IRBuilder,
    shape: Shape,
    pointer: ir.Value,
    at: ir.Value,
    mask: ir.Value | None = None,
) -> ir.Value:
    """Return the numbers of a vector from ``at`` on, zeros in the lanes outside the mask."""
    source = place(builder, pointer, at, shape.number)
    if mask is None:
        return builder.load(source, align=shape.n_bytes, typ=shape.vector)
    arguments = [source, INT32(shape.n_bytes), mask, shape.constant(0.0)]
    return call(builder, f"llvm.masked.load.{shape.name}.p0", shape.vector, arguments)


def store(
    builder: ir.IRBuilder,
    shape: Shape,
    value: ir.Value,
    pointer: ir.Value,
    at: ir.Value,
    mask: ir.Value | None = None,
) -> None:
    """Write the numbers of a vector from ``at`` on, except in the lanes outside the mask."""
    target = place(builder, pointer, at, shape.number)
    if mask is None:
        builder.store(value, target, align=shape.n_bytes)
    else:
        arguments = [value, target, INT32(shape.n_bytes), mask]
        call(builder, f"llvm.masked.store.{shape.name}.p0", ir.VoidType(), arguments)


def for_each_vector(
    builder: ir.IRBuilder,
    shape: Shape,
    start: ir.Value,
    length: ir.Value,
    step: Callable[[ir.Value, ir.Value | None], None],
    *,
    any_length: bool,
) -> None:
    """Generate ``step(at, None)`` for whole vectors, then ``step(at, mask)`` for what is left."""
    whole = builder.and_(length, INT(~(shape.lanes - 1))) if any_length else length
    with cgutils.for_range_slice(builder, start, whole, INT(shape.lanes), INT) as (at, _):
        step(at, None)
    if any_length:
        with builder.if_then(builder.icmp_signed("<", whole, length)):
            lanes = ir.VectorType(INT, shape.lanes)
            lane = ir.Constant(lanes, list(range(shape.lanes)))
            left = spread(builder, builder.sub(length, whole), lanes)
            step(whole, builder.icmp_signed("<", lane, left))
