"""Sums of rows of a matrix, kept in registers while they are added up."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from setatoms.lanes.instructions import (
    FLOAT,
    FLOATS,
    INT,
    for_each_vector,
    load,
    multiply_add,
    place,
    spread,
    store,
)
from setatoms.lanes.reductions import Sum
from setatoms.lanes.vector import LANES


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
        scale = spread(builder, values[7], FLOATS)
        total = Sum(builder)

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

    index_type = ir.IntType(kinds[1].dtype.bitwidth)

    def term(q):
        weight = builder.load(place(builder, weights, q), typ=FLOAT)
        factor = spread(builder, builder.fneg(weight) if minus else weight, FLOATS)
        index = builder.load(place(builder, indices, q, index_type), typ=index_type)
        if index_type != INT:
            index = builder.sext(index, INT)
        row = builder.mul(index, stride)
        return lambda at, mask: (load(builder, source, builder.add(row, at), mask), factor)

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
                builder.fneg(load(builder, lefts, builder.add(left_row, at), mask)),
                load(builder, rights, builder.add(right_row, at), mask),
            )

        _accumulate(builder, target, target, length, count, term)
        return context.get_dummy_value()

    return types.void(types.int64, out, left, right, types.int64), generate


def _subtract_multiples(_context, out, rows, factor, _count):
    """Subtract ``factor * rows[q]`` from out[q] for q < count; rows and factor have eight numbers.

    Changes out in place.
    """

    def generate(context, builder, signature, values):
        target, source, multiple = (
            _pointer_and_width(context, builder, signature.args[i], values[i])[0] for i in range(3)
        )
        minus = builder.fneg(load(builder, multiple, INT(0)))

        def step(at, _mask):
            value = multiply_add(
                builder, minus, load(builder, source, at), load(builder, target, at)
            )
            store(builder, value, target, at)

        length = builder.mul(values[3], INT(LANES))
        for_each_vector(builder, INT(0), length, step, any_length=False)
        return context.get_dummy_value()

    return types.void(out, rows, factor, types.int64), generate


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
        places = [builder.add(at, INT(LANES * i)) for i in range(n_vectors)]
        slots = [cgutils.alloca_once(builder, FLOATS) for _ in places]
        for slot, at_vector in zip(slots, places, strict=True):
            builder.store(load(builder, source, at_vector, mask), slot)
        with cgutils.for_range(builder, count, intp=INT) as loop:
            factors_at = term(loop.index)
            for slot, at_vector in zip(slots, places, strict=True):
                left, right = factors_at(at_vector, mask)
                builder.store(multiply_add(builder, left, right, builder.load(slot)), slot)
        for slot, at_vector in zip(slots, places, strict=True):
            store(builder, finish(builder.load(slot)), target, at_vector, mask)

    wide = builder.and_(length, INT(~(4 * LANES - 1)))
    with cgutils.for_range_slice(builder, INT(0), wide, INT(4 * LANES), INT) as (at, _):
        block(at, 4)
    for_each_vector(
        builder, wide, length, lambda at, mask: block(at, 1, mask), any_length=any_length
    )


# The compiler passes the context itself, so callers see one argument less than the definition.
add_rows: Any = intrinsic(_add_rows)
subtract_rows: Any = intrinsic(_subtract_rows)
subtract_products: Any = intrinsic(_subtract_products)
subtract_multiples: Any = intrinsic(_subtract_multiples)
