"""Instructions on vectors of eight numbers, as LLVM has them.

Pointers are opaque: an instruction names the type that it reads or writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from setatoms.lanes.vector import LANES

FLOAT, INT, INT32 = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
FLOATS, INTS = ir.VectorType(FLOAT, LANES), ir.VectorType(INT, LANES)
_POINTER = ir.PointerType()


def call(builder: ir.IRBuilder, name: str, returns: Any, arguments: list[ir.Value]) -> ir.Value:
    """Call one of LLVM's own functions."""
    signature = ir.FunctionType(returns, [argument.type for argument in arguments])
    function = cgutils.get_or_insert_function(builder.module, signature, name)
    return builder.call(function, arguments)


def multiply_add(
    builder: ir.IRBuilder, left: ir.Value, right: ir.Value, term: ir.Value
) -> ir.Value:
    """Return left * right + term, fused where the processor can."""
    return call(builder, "llvm.fmuladd.v8f64", FLOATS, [left, right, term])


def spread(builder: ir.IRBuilder, value: ir.Value, kind: ir.VectorType) -> ir.Value:
    """Return a vector with ``value`` in every lane."""
    empty = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(empty, value, INT32(0))
    everywhere = ir.Constant(ir.VectorType(INT32, LANES), [0] * LANES)
    return builder.shuffle_vector(first, empty, everywhere)


def place(
    builder: ir.IRBuilder, pointer: ir.Value, at: ir.Value, kind: ir.Type = FLOAT
) -> ir.Value:
    """Return a pointer to number ``at`` of an array of this kind."""
    result = builder.gep(pointer, [at], source_etype=kind)
    # Numba's own pointers carry the type of what they point to, a vector is stored through this one
    result.type = _POINTER
    return result


def load(
    builder: ir.IRBuilder, pointer: ir.Value, at: ir.Value, mask: ir.Value | None = None
) -> ir.Value:
    """Return eight numbers from ``at`` on, zeros in the lanes outside the mask."""
    source = place(builder, pointer, at)
    if mask is None:
        return builder.load(source, align=8, typ=FLOATS)
    zeros = ir.Constant(FLOATS, [0.0] * LANES)
    return call(builder, "llvm.masked.load.v8f64.p0", FLOATS, [source, INT32(8), mask, zeros])


def store(
    builder: ir.IRBuilder,
    value: ir.Value,
    pointer: ir.Value,
    at: ir.Value,
    mask: ir.Value | None = None,
) -> None:
    """Write eight numbers from ``at`` on, except in the lanes outside the mask."""
    target = place(builder, pointer, at)
    if mask is None:
        builder.store(value, target, align=8)
    else:
        arguments = [value, target, INT32(8), mask]
        call(builder, "llvm.masked.store.v8f64.p0", ir.VoidType(), arguments)


def for_each_vector(
    builder: ir.IRBuilder,
    start: ir.Value,
    length: ir.Value,
    step: Callable[[ir.Value, ir.Value | None], None],
    *,
    any_length: bool,
) -> None:
    """Generate ``step(at, None)`` for whole vectors, then ``step(at, mask)`` for what is left."""
    whole = builder.and_(length, INT(~(LANES - 1))) if any_length else length
    with cgutils.for_range_slice(builder, start, whole, INT(LANES), INT) as (at, _):
        step(at, None)
    if any_length:
        with builder.if_then(builder.icmp_signed("<", whole, length)):
            lane = ir.Constant(INTS, list(range(LANES)))
            left = spread(builder, builder.sub(length, whole), INTS)
            step(whole, builder.icmp_signed("<", lane, left))
