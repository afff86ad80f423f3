"""Small systems of equations side by side, a pair of vectors for each entry of a matrix.

Of a symmetric or a triangular matrix the lower half is kept, row after row: row q begins at entry
``q (q + 1) / 2``. Up to four rows are worked on together, so that a sum need not wait for its own
last term. Every sum runs over the entries of its row in one order, whatever rows it is with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from setatoms.lanes.instructions import (
    INT,
    Shape,
    load,
    multiply_add,
    place,
    shape_of,
    spread,
    store,
)

_MOST_ROWS = 4


class _Rows:
    """Sums that are worked on together, one for each of some rows.

    Parameters
    ----------
    builder : ir.IRBuilder
        Where instructions go.
    shape : Shape
        Of pairs of vectors.
    lower : ir.Value
        Where the matrix begins.
    vectors : ir.Value
        Where the vectors that rows are multiplied with begin.
    first : ir.Value
        The first row.
    n_rows : int
        How many there are.
    """

    def __init__(
        self,
        builder: ir.IRBuilder,
        shape: Shape,
        lower: ir.Value,
        vectors: ir.Value,
        first: ir.Value,
        n_rows: int,
    ) -> None:
        self.builder, self.shape = builder, shape
        self.lower, self.vectors, self.n_rows = lower, vectors, n_rows
        self.rows = [builder.add(first, INT(r)) for r in range(n_rows)]
        self.begins = [_begin(builder, row) for row in self.rows]
        self.slots = [cgutils.alloca_once(builder, shape.vector) for _ in range(n_rows)]

    def load(self, source: ir.Value, places: list[ir.Value]) -> None:
        """Start with vectors of source."""
        for at, slot in zip(places, self.slots, strict=True):
            self.builder.store(_get(self.builder, self.shape, source, at), slot)

    def store(self, target: ir.Value, places: list[ir.Value]) -> None:
        """Write the sums."""
        for at, slot in zip(places, self.slots, strict=True):
            _put(self.builder, self.shape, self.builder.load(slot), target, at)

    def _subtract(self, r: int, entry: ir.Value, factor: ir.Value) -> None:
        b, slot = self.builder, self.slots[r]
        minus = b.fneg(_get(b, self.shape, self.lower, entry))
        b.store(multiply_add(b, self.shape, minus, factor, b.load(slot)), slot)

    def subtract_before(self, column: ir.Value) -> None:
        """Subtract what the columns before one give."""
        with cgutils.for_range(self.builder, column, intp=INT) as loop:
            factor = _get(self.builder, self.shape, self.vectors, loop.index)
            for r, begin in enumerate(self.begins):
                self._subtract(r, self.builder.add(begin, loop.index), factor)

    def subtract_own(
        self,
        pairs: Callable[[int], list[tuple[int, int]]],
        factors: Callable[[int], ir.Value],
    ) -> None:
        """Subtract what columns of these rows give: for each of ``pairs``, a sum and a column."""
        for r, c in pairs(self.n_rows):
            high, low = max(r, c), min(r, c)
            entry = self.builder.add(self.begins[high], self.rows[low])
            self._subtract(r, entry, factors(c))

    def subtract_after(self, n_places: ir.Value, *, descending: bool) -> None:
        """Subtract what the columns after these rows give, the entries of rows below."""
        b = self.builder
        start = b.add(self.rows[0], INT(self.n_rows))
        with cgutils.for_range(b, b.sub(n_places, start), intp=INT) as loop:
            last = b.sub(n_places, INT(1))
            at = b.sub(last, loop.index) if descending else b.add(start, loop.index)
            factor, begin = _get(b, self.shape, self.vectors, at), _begin(b, at)
            for r, row in enumerate(self.rows):
                self._subtract(r, b.add(begin, row), factor)


def _get(builder: ir.IRBuilder, shape: Shape, pointer: ir.Value, at: ir.Value) -> ir.Value:
    """Return the vector that is entry ``at``."""
    return load(builder, shape, pointer, builder.mul(at, INT(shape.lanes)))


def _put(
    builder: ir.IRBuilder, shape: Shape, value: ir.Value, pointer: ir.Value, at: ir.Value
) -> None:
    """Write the vector that is entry ``at``."""
    store(builder, shape, value, pointer, builder.mul(at, INT(shape.lanes)))


def _begin(builder: ir.IRBuilder, row: ir.Value) -> ir.Value:
    """Return at which entry a row begins."""
    return builder.lshr(builder.mul(row, builder.add(row, INT(1))), INT(1))


def _in_groups(
    builder: ir.IRBuilder, start: ir.Value, stop: ir.Value, body: Callable[[ir.Value, int], None]
) -> None:
    """Call ``body(row, number of rows)`` for the rows: four, then two, then one at a time."""
    b, size = builder, _MOST_ROWS
    while size:
        whole = b.sub(stop, b.srem(b.sub(stop, start), INT(size)))
        with cgutils.for_range_slice(b, start, whole, INT(size), INT) as (row, _):
            body(row, size)
        start, size = whole, size // 2


def _pointers(context: Any, builder: Any, signature: Any, values: Any) -> list[ir.Value]:
    """Return where the arrays among the arguments begin."""
    return [
        context.make_array(kind)(context, builder, value).data
        for kind, value in zip(signature.args, values, strict=True)
        if isinstance(kind, types.Array)
    ]


def _above(n_rows: int) -> list[tuple[int, int]]:
    return [(r, c) for r in range(n_rows) for c in range(r)]


def _below(n_rows: int) -> list[tuple[int, int]]:
    return [(r, c) for r in reversed(range(n_rows)) for c in reversed(range(r + 1, n_rows))]


def _everywhere(n_rows: int) -> list[tuple[int, int]]:
    return [(r, c) for r in range(n_rows) for c in range(n_rows)]


def _solve_lower(_context, lower, vectors, _n_places):
    """Replace vectors by the solution of ``L x = vectors``; the diagonal of L counts as ones."""
    shape = shape_of(lower, vectors, in_pairs=True)

    def generate(context, builder, signature, values):
        matrix, target = _pointers(context, builder, signature, values)

        def body(first, n_rows):
            rows = _Rows(builder, shape, matrix, target, first, n_rows)
            rows.load(target, rows.rows)
            rows.subtract_before(first)
            rows.subtract_own(_above, lambda c: builder.load(rows.slots[c]))
            rows.store(target, rows.rows)

        _in_groups(builder, INT(0), values[2], body)
        return context.get_dummy_value()

    return types.void(lower, vectors, types.int64), generate


def _solve_upper(_context, lower, vectors, _n_places):
    """Replace vectors by the solution of ``L^T x = vectors``; the diagonal of L counts as ones."""
    shape = shape_of(lower, vectors, in_pairs=True)

    def generate(context, builder, signature, values):
        matrix, target = _pointers(context, builder, signature, values)

        def body(done, n_rows):
            # the last rows come first
            first = builder.sub(builder.sub(values[2], done), INT(n_rows))
            rows = _Rows(builder, shape, matrix, target, first, n_rows)
            rows.load(target, rows.rows)
            rows.subtract_after(values[2], descending=True)
            rows.subtract_own(_below, lambda c: builder.load(rows.slots[c]))
            rows.store(target, rows.rows)

        _in_groups(builder, INT(0), values[2], body)
        return context.get_dummy_value()

    return types.void(lower, vectors, types.int64), generate


def _subtract_symmetric(_context, out, lower, vectors, _n_places):
    """Subtract the product of a symmetric matrix and vectors from out, in place."""
    shape = shape_of(out, lower, vectors, in_pairs=True)

    def generate(context, builder, signature, values):
        target, matrix, source = _pointers(context, builder, signature, values)

        def body(first, n_rows):
            rows = _Rows(builder, shape, matrix, source, first, n_rows)
            rows.load(target, rows.rows)
            rows.subtract_before(first)
            own = [_get(builder, shape, source, row) for row in rows.rows]
            rows.subtract_own(_everywhere, own.__getitem__)
            rows.subtract_after(values[3], descending=False)
            rows.store(target, rows.rows)

        _in_groups(builder, INT(0), values[3], body)
        return context.get_dummy_value()

    return types.void(out, lower, vectors, types.int64), generate


def _factor_column(_context, lower, products, inverses, _column, _n_places, _least_pivot):
    """Make a column of the factor L, and inverses[column], of a matrix ``L D L^T``, in place.

    The columns before it are those of L already. The pivot, an entry of D, is raised to the least
    one and to the square of every entry below it; one over it goes to inverses. Entries before they
    are divided by the pivot go to products.
    """
    shape = shape_of(lower, products, inverses, in_pairs=True)

    def generate(context, builder, signature, values):
        b, (column, n_places, least_pivot) = builder, values[3:]
        matrix, undivided, scales = _pointers(context, builder, signature, values)

        def larger(left, right):
            return b.select(b.fcmp_ordered("<", left, right), right, left)

        own = place(b, undivided, b.mul(_begin(b, column), INT(shape.lanes)), shape.number)
        least = cgutils.alloca_once(b, shape.vector)
        b.store(spread(b, least_pivot, shape.vector), least)

        def subtract(first, n_rows):
            rows = _Rows(b, shape, matrix, own, first, n_rows)
            entries = [b.add(begin, column) for begin in rows.begins]
            rows.load(matrix, entries)
            rows.subtract_before(column)
            rows.store(matrix, entries)
            for r, slot in enumerate(rows.slots):
                value, before = b.load(slot), b.load(least)
                after = larger(before, b.fmul(value, value))
                if r == 0:
                    # the pivot itself, in the first group
                    after = b.select(b.icmp_signed("==", first, column), before, after)
                b.store(after, least)

        _in_groups(b, column, n_places, subtract)
        pivot = _get(b, shape, matrix, b.add(_begin(b, column), column))
        inverse = b.fdiv(shape.constant(1.0), larger(pivot, b.load(least)))
        _put(b, shape, inverse, scales, column)
        below = b.add(column, INT(1))
        with cgutils.for_range_slice(b, below, n_places, INT(1), INT) as (row, _):
            at = b.add(_begin(b, row), column)
            entry = _get(b, shape, matrix, at)
            _put(b, shape, entry, undivided, at)
            _put(b, shape, b.fmul(entry, inverse), matrix, at)
        return context.get_dummy_value()

    return types.void(lower, products, inverses, types.int64, types.int64, lower.dtype), generate


# The compiler passes the context itself, so callers see one argument less than the definition.
solve_lower: Any = intrinsic(_solve_lower)
solve_upper: Any = intrinsic(_solve_upper)
subtract_symmetric: Any = intrinsic(_subtract_symmetric)
factor_column: Any = intrinsic(_factor_column)
