"""Sums of rows of a matrix, kept in registers while they are added up."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from setatoms.lanes.instructions import (
    INT,
    for_each_vector,
    load,
    multiply_add,
    place,
    shape_of,
    spread,
    store,
)
from setatoms.lanes.reductions import TOTALS, Sum


def _subtract_rows(_context, _length, out, start, rows, chosen, factors, _count, _scale):
    """Fill out[:length] with ``start - sum_q factors[q] rows[chosen[q]]`` over ``q < count``.

    What is written is multiplied by scale; the squared norm before that is returned. Any length.
    The sums stay in registers, some vectors at a time. Factors may be of another precision.
    """
    shape = shape_of(out, start, rows)

    def generate(context, builder, signature, values):
        length, count = values[0], values[6]
        (target, _), (source, _) = (
            _pointer_and_width(context, builder, signature.args[i], values[i]) for i in (1, 2)
        )
        term = _terms_of_rows(context, builder, shape, signature.args[3:6], values[3:6])
        scale = spread(builder, values[7], shape.vector)
        total = Sum(builder, shape)

        def finish(value, _at):
            # lanes that do not count are zero: so were their start and their terms
            total.take(builder.fmul(value, value))
            return builder.fmul(value, scale)

        _accumulate(builder, shape, source, target, length, count, term, finish, any_length=True)
        return total.result()

    given = types.int64, out, start, rows, chosen, factors, types.int64, out.dtype
    return out.dtype(*given), generate


def _largest_left(_context, _length, out, start, rows, chosen, factors, _count, _mask):
    """Fill out[:length] as `subtract_rows` does; return its "argmax" and "second".

    The length is one of whole vectors.
    """
    shape = shape_of(out, start, rows)

    def generate(context, builder, signature, values):
        (target, _), (source, _) = (
            _pointer_and_width(context, builder, signature.args[i], values[i]) for i in (1, 2)
        )
        term = _terms_of_rows(context, builder, shape, signature.args[3:6], values[3:6])
        totals = [TOTALS[kind](builder, shape, values[7]) for kind in ("argmax", "second")]

        def finish(value, at):
            for total in totals:
                total.take(value, at)
            return value

        _accumulate(builder, shape, source, target, values[0], values[6], term, finish)
        return context.make_tuple(
            builder, signature.return_type, [total.result() for total in totals]
        )

    given = types.int64, out, start, rows, chosen, factors, types.int64, types.int64
    return types.Tuple((types.int64, out.dtype))(*given), generate


def _terms_of_rows(context, builder, shape, kinds, values):
    """Return the terms ``-factors[q] rows[chosen[q]]`` as `_accumulate` takes them."""
    (source, stride), (indices, _), (weights, _) = (
        _pointer_and_width(context, builder, kind, value)
        for kind, value in zip(kinds, values, strict=True)
    )

    index_type = ir.IntType(kinds[1].dtype.bitwidth)
    weight_shape = shape_of(kinds[2])

    def term(q):
        at = place(builder, weights, q, weight_shape.number)
        weight = builder.load(at, typ=weight_shape.number)
        if weight_shape is not shape:
            weight = context.cast(builder, weight, kinds[2].dtype, kinds[0].dtype)
        factor = spread(builder, builder.fneg(weight), shape.vector)
        index = builder.load(place(builder, indices, q, index_type), typ=index_type)
        if index_type != INT:
            index = builder.sext(index, INT)
        row = builder.mul(index, stride)
        return lambda at, mask: (load(builder, shape, source, builder.add(row, at), mask), factor)

    return term


def _pointer_and_width(context, builder, kind, value):
    """Return where the numbers of an array are, and how many each of its rows has."""
    array = context.make_array(kind)(context, builder, value)
    return array.data, builder.extract_value(array.shape, kind.ndim - 1)


def _accumulate(builder, shape, source, target, length, count, term, finish, *, any_length=False):
    """Fill target[:length] with source plus products, sums in registers.

    Four vectors are taken at a time, then two, then one.
    ``term(q)``, for q below count, returns a function from a place, and the mask of lanes that
    count there, to the two factors. ``finish`` is applied to each vector, and where it is, before
    it is written.
    """

    def block(at, n_vectors, mask=None):
        places = [builder.add(at, INT(shape.lanes * i)) for i in range(n_vectors)]
        _add_products(builder, shape, source, target, places, count, term, finish, mask)

    start = INT(0)
    for n_vectors in (4, 2):
        size = n_vectors * shape.lanes
        stop = builder.and_(length, INT(~(size - 1)))
        with cgutils.for_range_slice(builder, start, stop, INT(size), INT) as (at, _):
            block(at, n_vectors)
        start = stop
    for_each_vector(
        builder, shape, start, length, lambda at, mask: block(at, 1, mask), any_length=any_length
    )


def _add_products(builder, shape, source, target, places, count, term, finish, mask=None):
    """Fill some vectors of target with those of source plus products."""
    slots = [cgutils.alloca_once(builder, shape.vector) for _ in places]
    for slot, at in zip(slots, places, strict=True):
        builder.store(load(builder, shape, source, at, mask), slot)
    with cgutils.for_range(builder, count, intp=INT) as loop:
        factors_at = term(loop.index)
        for slot, at in zip(slots, places, strict=True):
            left, right = factors_at(at, mask)
            total = multiply_add(builder, shape, left, right, builder.load(slot))
            builder.store(total, slot)
    for slot, at in zip(slots, places, strict=True):
        store(builder, shape, finish(builder.load(slot), at), target, at, mask)


# The compiler passes the context itself, so callers see one argument less than the definition.
subtract_rows: Any = intrinsic(_subtract_rows)
largest_left: Any = intrinsic(_largest_left)
