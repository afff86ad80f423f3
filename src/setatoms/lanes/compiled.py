"""Loops over explicit vectors, as LLVM instructions."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from setatoms.lanes.instructions import (
    INT,
    Shape,
    call,
    for_each_vector,
    load,
    multiply_add,
    shape_of,
    spread,
    store,
)
from setatoms.lanes.reductions import TOTALS
from setatoms.lanes.vector import Loop, Vector


class CompiledVector(Vector):
    """Numbers in a kernel under construction, with ordinary operators."""

    def __init__(
        self,
        builder: ir.IRBuilder,
        shape: Shape,
        value: ir.Value,
        factors: tuple[ir.Value, ir.Value] | None = None,
    ) -> None:
        self.builder, self.shape = builder, shape
        self.value = value
        # of a product, for the sum it may become part of
        self.factors = factors

    def _with(self, value: ir.Value) -> CompiledVector:
        return CompiledVector(self.builder, self.shape, value)

    def _fused(self, left: ir.Value, right: ir.Value, term: ir.Value) -> CompiledVector:
        return self._with(multiply_add(self.builder, self.shape, left, right, term))

    def _call(self, name: str) -> CompiledVector:
        shape = self.shape
        return self._with(call(self.builder, f"{name}.{shape.name}", shape.vector, [self.value]))

    def _of(self, other: Any) -> ir.Value:
        return other.value if isinstance(other, CompiledVector) else self.shape.constant(other)

    def constant(self, number: float) -> CompiledVector:
        """Return a vector of this number."""
        return self._with(self._of(number))

    def __add__(self, other: Vector | float) -> CompiledVector:
        if isinstance(other, CompiledVector) and other.factors:
            return self._fused(*other.factors, self.value)
        if self.factors:
            return self._fused(*self.factors, self._of(other))
        return self._with(self.builder.fadd(self.value, self._of(other)))

    def __sub__(self, other: Vector | float) -> CompiledVector:
        if isinstance(other, CompiledVector) and other.factors:
            left, right = other.factors
            return self._fused(self.builder.fneg(left), right, self.value)
        return self._with(self.builder.fsub(self.value, self._of(other)))

    def __mul__(self, other: Vector | float) -> CompiledVector:
        factors = self.value, self._of(other)
        return CompiledVector(self.builder, self.shape, self.builder.fmul(*factors), factors)

    def __truediv__(self, other: Vector | float) -> CompiledVector:
        return self._with(self.builder.fdiv(self.value, self._of(other)))

    def __neg__(self) -> CompiledVector:
        return self._with(self.builder.fneg(self.value))

    def __abs__(self) -> CompiledVector:
        return self._call("llvm.fabs")

    def sqrt(self) -> CompiledVector:
        """Return the square roots."""
        return self._call("llvm.sqrt")

    def _less(self, other: Vector | float) -> ir.Value:
        return self.builder.fcmp_ordered("<", self.value, self._of(other))

    def at_most(self, other: Vector | float) -> CompiledVector:
        """Return the smaller of each pair."""
        return self._with(self.builder.select(self._less(other), self.value, self._of(other)))

    def at_least(self, other: Vector | float) -> CompiledVector:
        """Return the larger of each pair."""
        return self._with(self.builder.select(self._less(other), self._of(other), self.value))

    def where_negative(self, test: Vector, otherwise: Vector | float) -> CompiledVector:
        """Return these numbers where ``test < 0`` and others elsewhere."""
        negative = self.builder.fcmp_ordered("<", self._of(test), self._of(0.0))
        return self._with(self.builder.select(negative, self.value, self._of(otherwise)))


def compile_loop(loop: Loop) -> Any:
    """Make the function that `setatoms.lanes.lane_kernel` describes, for use in compiled code."""
    n_lengths = 0 if loop.one_pair else 1
    n_masks = 1 if {"argmax", "second"} & set(loop.reduces) else 0
    first, last = n_lengths, n_lengths + loop.n_arrays

    def type_and_generate(_context: Any, *arguments: Any) -> Any:
        arrays = arguments[first:last]
        shape = shape_of(*arrays, in_pairs=loop.in_pairs)
        number = arrays[0].dtype
        kinds = [types.int64 if kind == "argmax" else number for kind in loop.reduces]
        returns: Any = types.void
        if kinds:
            returns = kinds[0] if len(kinds) == 1 else types.Tuple(kinds)
        numbers = (number,) * loop.n_scalars + (types.int64,) * n_masks
        signature = returns(*(types.int64,) * n_lengths, *arrays, *numbers)

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            pointers = [
                context.make_array(kind)(context, builder, value).data
                for kind, value in zip(signature.args[first:last], values[first:last], strict=True)
            ]
            scalars = [
                CompiledVector(builder, shape, spread(builder, value, shape.vector))
                for value in values[last : last + loop.n_scalars]
            ]
            kept = {
                k: cgutils.alloca_once_value(builder, load(builder, shape, pointers[k], INT(0)))
                for k in loop.pairs
            }
            totals = [TOTALS[kind](builder, shape, values[-1]) for kind in loop.reduces]

            def step(at: ir.Value, mask: ir.Value | None) -> None:
                arrays = [
                    builder.load(kept[k]) if k in kept else load(builder, shape, pointer, at, mask)
                    for k, pointer in enumerate(pointers)
                ]
                written: Any
                reduced: Any
                vectors = (CompiledVector(builder, shape, value) for value in arrays)
                written, reduced = loop.body(*vectors, *scalars)
                for target, vector in zip(loop.writes, written, strict=True):
                    if target in kept:
                        builder.store(vector.value, kept[target])
                    else:
                        store(builder, shape, vector.value, pointers[target], at, mask)
                for total, vector in zip(totals, reduced, strict=True):
                    total.take(vector.value, at, mask)

            if loop.one_pair:
                step(INT(0), None)
            else:
                for_each_vector(builder, shape, INT(0), values[0], step, any_length=loop.any_length)
            for target in sorted(kept.keys() & set(loop.writes)):
                store(builder, shape, builder.load(kept[target]), pointers[target], INT(0))
            results = [total.result() for total in totals]
            if not results:
                return context.get_dummy_value()
            if len(results) == 1:
                return results[0]
            return context.make_tuple(builder, signature.return_type, results)

        return signature, generate

    # the compiler asks for the number of arguments before it calls
    names = [f"argument{i}" for i in range(1 + last + loop.n_scalars + n_masks)]
    type_and_generate.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    )
    return intrinsic(type_and_generate)
