"""Loops over explicit vectors, as LLVM instructions."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from setatoms.lanes.instructions import (
    FLOATS,
    INT,
    call,
    for_each_vector,
    load,
    multiply_add,
    spread,
    store,
)
from setatoms.lanes.reductions import TOTALS
from setatoms.lanes.vector import LANES, Loop, Vector


class CompiledVector(Vector):
    """Eight numbers in a kernel under construction, with ordinary operators."""

    def __init__(
        self,
        builder: ir.IRBuilder,
        value: ir.Value,
        factors: tuple[ir.Value, ir.Value] | None = None,
    ) -> None:
        self.builder = builder
        self.value = value
        # of a product, for the sum it may become part of
        self.factors = factors

    def _with(self, value: ir.Value) -> CompiledVector:
        return CompiledVector(self.builder, value)

    def _of(self, other: Any) -> ir.Value:
        if isinstance(other, CompiledVector):
            return other.value
        return ir.Constant(FLOATS, [float(other)] * LANES)

    def constant(self, number: float) -> CompiledVector:
        """Return a vector of this number."""
        return self._with(self._of(number))

    def __add__(self, other: Vector | float) -> CompiledVector:
        if isinstance(other, CompiledVector) and other.factors:
            return self._with(multiply_add(self.builder, *other.factors, self.value))
        if self.factors:
            return self._with(multiply_add(self.builder, *self.factors, self._of(other)))
        return self._with(self.builder.fadd(self.value, self._of(other)))

    def __sub__(self, other: Vector | float) -> CompiledVector:
        if isinstance(other, CompiledVector) and other.factors:
            left, right = other.factors
            minus = self.builder.fneg(left)
            return self._with(multiply_add(self.builder, minus, right, self.value))
        return self._with(self.builder.fsub(self.value, self._of(other)))

    def __mul__(self, other: Vector | float) -> CompiledVector:
        factors = self.value, self._of(other)
        return CompiledVector(self.builder, self.builder.fmul(*factors), factors)

    def __truediv__(self, other: Vector | float) -> CompiledVector:
        return self._with(self.builder.fdiv(self.value, self._of(other)))

    def __neg__(self) -> CompiledVector:
        return self._with(self.builder.fneg(self.value))

    def __abs__(self) -> CompiledVector:
        return self._with(call(self.builder, "llvm.fabs.v8f64", FLOATS, [self.value]))

    def sqrt(self) -> CompiledVector:
        """Return the square roots."""
        return self._with(call(self.builder, "llvm.sqrt.v8f64", FLOATS, [self.value]))

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
    n_arrays, n_scalars, reduces = loop.n_arrays, loop.n_scalars, loop.reduces
    n_masks = 1 if "argmax" in reduces else 0
    kinds = [types.int64 if kind == "argmax" else types.float64 for kind in reduces]
    returns: Any = types.void
    if kinds:
        returns = kinds[0] if len(kinds) == 1 else types.Tuple(kinds)

    def type_and_generate(_context: Any, *arguments: Any) -> Any:
        for kind in arguments[1 : 1 + n_arrays]:
            if kind.dtype != types.float64 or kind.layout != "C":
                raise TypingError(f"lanes are of contiguous float64 arrays, not of {kind}")
        numbers = (types.float64,) * n_scalars + (types.int64,) * n_masks
        signature = returns(types.int64, *arguments[1 : 1 + n_arrays], *numbers)

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            pointers = [
                context.make_array(kind)(context, builder, value).data
                for kind, value in zip(signature.args[1:], values[1 : 1 + n_arrays], strict=False)
            ]
            scalars = [
                CompiledVector(builder, spread(builder, value, FLOATS))
                for value in values[1 + n_arrays : 1 + n_arrays + n_scalars]
            ]
            totals = [TOTALS[kind](builder, values[-1]) for kind in reduces]

            def step(at: ir.Value, mask: ir.Value | None) -> None:
                arrays = [CompiledVector(builder, load(builder, p, at, mask)) for p in pointers]
                written: Any
                reduced: Any
                written, reduced = loop.body(*arrays, *scalars)
                for target, vector in zip(loop.writes, written, strict=True):
                    store(builder, vector.value, pointers[target], at, mask)
                for total, vector in zip(totals, reduced, strict=True):
                    total.take(vector.value, at, mask)

            for_each_vector(builder, INT(0), values[0], step, any_length=loop.any_length)
            results = [total.result() for total in totals]
            if not results:
                return context.get_dummy_value()
            if len(results) == 1:
                return results[0]
            return context.make_tuple(builder, signature.return_type, results)

        return signature, generate

    # the compiler asks for the number of arguments before it calls
    names = [f"argument{i}" for i in range(2 + n_arrays + n_scalars + n_masks)]
    type_and_generate.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    )
    return intrinsic(type_and_generate)
