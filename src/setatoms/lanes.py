"""Explicit eight-wide vectors, for loops too short for the compiler's own vectorisation.

The compiler's vector loops handle dozens of numbers at a time and the rest one by one; the arrays
here have 8 to 100 numbers, so the rest is most of it. `lane_kernel` builds a loop that takes
exactly eight at a time, from an expression written with ordinary operators:

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

Arrays are float64 and contiguous, which the compiler checks, with a multiple of eight numbers where
``any_length`` is not asked for, which nothing checks.

The order of every sum and the fusing of every product with a sum are spelled out, never left to
the optimiser: it decides anew wherever a kernel is inlined, and results would depend on whether a
kernel was just compiled or loaded from disk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

LANES = 8

_FLOAT, _INT, _INT32 = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
_FLOATS, _INTS = ir.VectorType(_FLOAT, LANES), ir.VectorType(_INT, LANES)
_ALL_BUT_SIGN = 0x7FFFFFFFFFFFFFFF


def padded(length: int) -> int:
    """Return ``length`` rounded up to whole vectors."""
    return -(-length // LANES) * LANES


class Vector:
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

    def _with(self, value: ir.Value) -> Vector:
        return Vector(self.builder, value)

    def _of(self, other: Vector | float) -> ir.Value:
        if isinstance(other, Vector):
            return other.value
        return ir.Constant(_FLOATS, [float(other)] * LANES)

    def constant(self, number: float) -> Vector:
        """Return a vector of this number."""
        return self._with(self._of(number))

    def __add__(self, other: Vector | float) -> Vector:
        if isinstance(other, Vector) and other.factors:
            return self._with(_multiply_add(self.builder, *other.factors, self.value))
        if self.factors:
            return self._with(_multiply_add(self.builder, *self.factors, self._of(other)))
        return self._with(self.builder.fadd(self.value, self._of(other)))

    def __sub__(self, other: Vector | float) -> Vector:
        if isinstance(other, Vector) and other.factors:
            left, right = other.factors
            minus = self.builder.fneg(left)
            return self._with(_multiply_add(self.builder, minus, right, self.value))
        return self._with(self.builder.fsub(self.value, self._of(other)))

    def __rsub__(self, other: float) -> Vector:
        return self.constant(other) - self

    def __mul__(self, other: Vector | float) -> Vector:
        factors = self.value, self._of(other)
        return Vector(self.builder, self.builder.fmul(*factors), factors)

    def __truediv__(self, other: Vector | float) -> Vector:
        return self._with(self.builder.fdiv(self.value, self._of(other)))

    def __rtruediv__(self, other: float) -> Vector:
        return self._with(self.builder.fdiv(self._of(other), self.value))

    def __neg__(self) -> Vector:
        return self._with(self.builder.fneg(self.value))

    def __abs__(self) -> Vector:
        return self._with(_call(self.builder, "llvm.fabs.v8f64", _FLOATS, [self.value]))

    def sqrt(self) -> Vector:
        """Return the square roots."""
        return self._with(_call(self.builder, "llvm.sqrt.v8f64", _FLOATS, [self.value]))

    def _less(self, other: Vector | float) -> ir.Value:
        return self.builder.fcmp_ordered("<", self.value, self._of(other))

    def at_most(self, other: Vector | float) -> Vector:
        """Return the smaller of each pair."""
        return self._with(self.builder.select(self._less(other), self.value, self._of(other)))

    def at_least(self, other: Vector | float) -> Vector:
        """Return the larger of each pair."""
        return self._with(self.builder.select(self._less(other), self._of(other), self.value))

    def where_negative(self, test: Vector, otherwise: Vector | float) -> Vector:
        """Return these numbers where ``test < 0`` and others elsewhere."""
        choice = self.builder.select(test._less(0.0), self.value, self._of(otherwise))
        return self._with(choice)


# What a body returns: numbers to write, numbers to reduce.
Lanes = tuple[Sequence[Vector], Sequence[Vector]]


def lane_kernel(
    n_arrays: int,
    n_scalars: int,
    body: Callable[..., Lanes],
    *,
    writes: Sequence[int] = (),
    reduces: Sequence[str] = (),
    any_length: bool = False,
) -> Any:
    """Make a function ``f(length, *arrays, *scalars)`` for use in compiled code.

    It calls ``body(*arrays, *scalars)`` on eight numbers at a time, which returns the new numbers
    of the arrays listed in ``writes`` and the numbers to reduce, each by "sum", "max", "min"
    (floats) or "argmax" (the index of the largest in absolute value, ties to the lowest; it takes
    one more argument, the mask of bits that hold an index, see `setatoms.coding.blocks`). The
    function returns the reduced values: nothing, one, or a tuple.

    With ``any_length`` the last vector may be a part of eight numbers: the body then sees zeros in
    the other lanes, which are neither written nor reduced.
    """
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
                Vector(builder, _spread(builder, value, _FLOATS))
                for value in values[1 + n_arrays : 1 + n_arrays + n_scalars]
            ]
            totals = [_TOTALS[kind](builder, values[-1]) for kind in reduces]

            def step(at: ir.Value, mask: ir.Value | None) -> None:
                arrays = [Vector(builder, _load(builder, p, at, mask)) for p in pointers]
                written, reduced = body(*arrays, *scalars)
                for place, vector in zip(writes, written, strict=True):
                    _store(builder, vector.value, pointers[place], at, mask)
                for total, vector in zip(totals, reduced, strict=True):
                    total.take(vector.value, at, mask)

            _each_vector(builder, _INT(0), values[0], step, any_length=any_length)
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


def _each_vector(
    builder: ir.IRBuilder,
    start: ir.Value,
    length: ir.Value,
    step: Callable[[ir.Value, ir.Value | None], None],
    *,
    any_length: bool,
) -> None:
    """Generate ``step(at, None)`` for whole vectors, then ``step(at, mask)`` for what is left."""
    whole = builder.and_(length, _INT(~(LANES - 1))) if any_length else length
    with cgutils.for_range_slice(builder, start, whole, _INT(LANES), _INT) as (at, _):
        step(at, None)
    if any_length:
        with builder.if_then(builder.icmp_signed("<", whole, length)):
            lane = ir.Constant(_INTS, list(range(LANES)))
            left = _spread(builder, builder.sub(length, whole), _INTS)
            step(whole, builder.icmp_signed("<", lane, left))


class _Total:
    """A reduction in progress."""

    start = 0.0

    def __init__(self, builder: ir.IRBuilder, _index_mask: ir.Value | None = None) -> None:
        self.builder = builder
        self.slot = cgutils.alloca_once_value(builder, ir.Constant(_FLOATS, [self.start] * LANES))

    def take(
        self, value: ir.Value, at: ir.Value | None = None, mask: ir.Value | None = None
    ) -> None:
        value = self.masked(value, mask)
        self.builder.store(self.combine(self.builder.load(self.slot), value), self.slot)

    def masked(self, value: ir.Value, mask: ir.Value | None) -> ir.Value:
        """Return numbers that change nothing in the lanes that do not count."""
        if mask is None:
            return value
        return self.builder.select(mask, value, ir.Constant(_FLOATS, [self.start] * LANES))

    def combine(self, left: ir.Value, right: ir.Value) -> ir.Value:
        raise NotImplementedError

    def result(self) -> ir.Value:
        raise NotImplementedError


class _Sum(_Total):
    def combine(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return self.builder.fadd(left, right)

    def result(self) -> ir.Value:
        """Add halves until one number is left."""
        b, total, width = self.builder, self.builder.load(self.slot), LANES
        while width > 1:
            width //= 2
            low, high = (
                ir.Constant(ir.VectorType(_INT32, width), list(range(first, first + width)))
                for first in (0, width)
            )
            undefined = ir.Constant(total.type, ir.Undefined)
            total = b.fadd(
                b.shuffle_vector(total, undefined, low), b.shuffle_vector(total, undefined, high)
            )
        return b.extract_element(total, _INT32(0))


class _Max(_Total):
    start = -1.7e308
    order = "<"
    name = "llvm.vector.reduce.fmax.v8f64"

    def combine(self, left: ir.Value, right: ir.Value) -> ir.Value:
        return self.builder.select(self.builder.fcmp_ordered(self.order, left, right), right, left)

    def result(self) -> ir.Value:
        return _call(self.builder, self.name, _FLOAT, [self.builder.load(self.slot)])


class _Min(_Max):
    start = 1.7e308
    order = ">"
    name = "llvm.vector.reduce.fmin.v8f64"


class _ArgMax(_Total):
    """Keeps integers: the bits of a number with its reversed index in the low ones."""

    def __init__(self, builder: ir.IRBuilder, index_mask: ir.Value) -> None:
        self.builder = builder
        self.mask = index_mask
        number_bits = builder.and_(builder.not_(index_mask), _INT(_ALL_BUT_SIGN))
        self.number_bits = _spread(builder, number_bits, _INTS)
        lane = ir.Constant(_INTS, list(range(LANES)))
        self.reversed = builder.sub(_spread(builder, index_mask, _INTS), lane)
        self.slot = cgutils.alloca_once_value(builder, ir.Constant(_INTS, [0] * LANES))

    def take(
        self, value: ir.Value, at: ir.Value | None = None, mask: ir.Value | None = None
    ) -> None:
        b = self.builder
        value = self.masked(value, mask)
        index = b.sub(self.reversed, _spread(b, at, _INTS))
        key = b.or_(b.and_(b.bitcast(value, _INTS), self.number_bits), index)
        best = b.load(self.slot)
        b.store(b.select(b.icmp_signed(">", key, best), key, best), self.slot)

    def result(self) -> ir.Value:
        name = "llvm.vector.reduce.smax.v8i64"
        best = _call(self.builder, name, _INT, [self.builder.load(self.slot)])
        return self.builder.sub(self.mask, self.builder.and_(best, self.mask))


_TOTALS = {"sum": _Sum, "max": _Max, "min": _Min, "argmax": _ArgMax}


def _add_rows(_context, _length, out, rows, chosen, factors, _count):
    """Add ``sum_q factors[q] rows[chosen[q], :length]`` over ``q < count`` to out[:length].

    Changes out in place. The sums stay in registers, 32 numbers at a time.
    """

    def generate(context, builder, signature, values):
        length, count = values[0], values[5]
        target, _ = _pointer_and_width(context, builder, signature.args[1], values[1])
        term = _terms_of_rows(context, builder, signature.args[2:5], values[2:5])
        _accumulate(builder, target, target, length, count, term)
        return context.get_dummy_value()

    return types.void(types.int64, out, rows, chosen, factors, types.int64), generate


def _subtract_rows(_context, _length, out, start, rows, chosen, factors, _count, _scale):
    """Fill out[:length] with ``start - sum_q factors[q] rows[chosen[q]]`` over ``q < count``.

    What is written is multiplied by scale; the squared norm before that is returned. Any length.
    """

    def generate(context, builder, signature, values):
        length, count = values[0], values[6]
        (target, _), (source, _) = (
            _pointer_and_width(context, builder, signature.args[i], values[i]) for i in (1, 2)
        )
        term = _terms_of_rows(context, builder, signature.args[3:6], values[3:6], minus=True)
        scale = _spread(builder, values[7], _FLOATS)
        total = _Sum(builder)

        def finish(value):
            # lanes that do not count are zero: so were their start and their terms
            total.take(builder.fmul(value, value))
            return builder.fmul(value, scale)

        _accumulate(builder, source, target, length, count, term, finish, any_length=True)
        return total.result()

    given = types.int64, out, start, rows, chosen, factors, types.int64, types.float64
    return types.float64(*given), generate


def _terms_of_rows(context, builder, kinds, values, *, minus=False):
    """Return the terms ``factors[q] rows[chosen[q]]`` as `_accumulate` takes them."""
    (source, stride), (indices, _), (weights, _) = (
        _pointer_and_width(context, builder, kind, value)
        for kind, value in zip(kinds, values, strict=True)
    )

    def term(q):
        weight = builder.load(builder.gep(weights, [q]))
        factor = _spread(builder, builder.fneg(weight) if minus else weight, _FLOATS)
        index = builder.load(builder.gep(indices, [q]))
        if index.type != _INT:
            index = builder.sext(index, _INT)
        row = builder.mul(index, stride)
        return lambda at, mask: (_load(builder, source, builder.add(row, at), mask), factor)

    return term


def _subtract_products(_context, _length, out, left, right, _count):
    """Subtract ``sum_q left[q, :length] * right[q, :length]`` over ``q < count`` from out[:length].

    Changes out in place. The sums stay in registers, 32 numbers at a time.
    """

    def generate(context, builder, signature, values):
        length, count = values[0], values[4]
        (target, _), (lefts, left_stride), (rights, right_stride) = (
            _pointer_and_width(context, builder, signature.args[i], values[i]) for i in (1, 2, 3)
        )

        def term(q):
            left_row, right_row = builder.mul(q, left_stride), builder.mul(q, right_stride)
            return lambda at, mask: (
                builder.fneg(_load(builder, lefts, builder.add(left_row, at), mask)),
                _load(builder, rights, builder.add(right_row, at), mask),
            )

        _accumulate(builder, target, target, length, count, term)
        return context.get_dummy_value()

    return types.void(types.int64, out, left, right, types.int64), generate


def _pointer_and_width(context, builder, kind, value):
    """Return where the numbers of an array are, and how many each of its rows has."""
    array = context.make_array(kind)(context, builder, value)
    return array.data, builder.extract_value(array.shape, kind.ndim - 1)


def _accumulate(
    builder,
    source,
    target,
    length,
    count,
    term,
    finish=lambda value: value,
    *,
    any_length=False,
):
    """Fill target[:length] with source plus products, sums in registers, four vectors at a time.

    ``term(q)``, for q below count, returns a function from a place, and the mask of lanes that
    count there, to the two factors. ``finish`` is applied to each vector before it is written.
    """

    def block(at, n_vectors, mask=None):
        places = [builder.add(at, _INT(LANES * i)) for i in range(n_vectors)]
        slots = [cgutils.alloca_once(builder, _FLOATS) for _ in places]
        for slot, place in zip(slots, places, strict=True):
            builder.store(_load(builder, source, place, mask), slot)
        with cgutils.for_range(builder, count, intp=_INT) as loop:
            factors_at = term(loop.index)
            for slot, place in zip(slots, places, strict=True):
                left, right = factors_at(place, mask)
                builder.store(_multiply_add(builder, left, right, builder.load(slot)), slot)
        for slot, place in zip(slots, places, strict=True):
            _store(builder, finish(builder.load(slot)), target, place, mask)

    wide = builder.and_(length, _INT(~(4 * LANES - 1)))
    with cgutils.for_range_slice(builder, _INT(0), wide, _INT(4 * LANES), _INT) as (at, _):
        block(at, 4)
    _each_vector(builder, wide, length, lambda at, mask: block(at, 1, mask), any_length=any_length)


# The compiler passes the context itself, so callers see one argument less than the definition.
add_rows: Any = intrinsic(_add_rows)
subtract_rows: Any = intrinsic(_subtract_rows)
subtract_products: Any = intrinsic(_subtract_products)


def _multiply_add(
    builder: ir.IRBuilder, left: ir.Value, right: ir.Value, term: ir.Value
) -> ir.Value:
    """Return left * right + term, fused where the processor can."""
    return _call(builder, "llvm.fmuladd.v8f64", _FLOATS, [left, right, term])


def _call(
    builder: ir.IRBuilder, name: str, returns: Any, arguments: list[ir.Value], **options: Any
) -> ir.Value:
    signature = ir.FunctionType(returns, [argument.type for argument in arguments])
    function = cgutils.get_or_insert_function(builder.module, signature, name)
    return builder.call(function, arguments, **options)


def _spread(builder: ir.IRBuilder, value: ir.Value, kind: ir.VectorType) -> ir.Value:
    """Return a vector with ``value`` in every lane."""
    empty = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(empty, value, _INT32(0))
    everywhere = ir.Constant(ir.VectorType(_INT32, LANES), [0] * LANES)
    return builder.shuffle_vector(first, empty, everywhere)


def _load(
    builder: ir.IRBuilder, pointer: ir.Value, at: ir.Value, mask: ir.Value | None = None
) -> ir.Value:
    place = builder.bitcast(builder.gep(pointer, [at]), _FLOATS.as_pointer())
    if mask is None:
        return builder.load(place, align=8)
    zeros = ir.Constant(_FLOATS, [0.0] * LANES)
    return _call(
        builder, "llvm.masked.load.v8f64.p0v8f64", _FLOATS, [place, _INT32(8), mask, zeros]
    )


def _store(
    builder: ir.IRBuilder,
    value: ir.Value,
    pointer: ir.Value,
    at: ir.Value,
    mask: ir.Value | None = None,
) -> None:
    place = builder.bitcast(builder.gep(pointer, [at]), _FLOATS.as_pointer())
    if mask is None:
        builder.store(value, place, align=8)
        return
    arguments = [value, place, _INT32(8), mask]
    _call(builder, "llvm.masked.store.v8f64.p0v8f64", ir.VoidType(), arguments)
