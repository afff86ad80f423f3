"""Loops in NumPy against the compiled ones."""

import numpy as np
import pytest

from setatoms._compile import kernel
from setatoms.lanes import (
    count_sides,
    factor_column,
    lane_kernel,
    largest_left,
    multiply_chosen,
    multiply_rows,
    plain,
    solve_lower,
    solve_upper,
    subtract_rows,
    subtract_symmetric,
)
from setatoms.lanes.vector import Loop


def all_operators(x, y, _out, scalar):
    value = abs(x) * y - scalar / (y * y + 1.0) + (x * x + 1.0).sqrt()
    value = (2.0 - value - x / 2.0).at_most(y).at_least(-y)
    value = (-value).where_negative(x, value + x.constant(3.0))
    return [value], [value, value, value, value]


LOOP = Loop(3, 1, all_operators, (2,), ("sum", "max", "min", "argmax"), any_length=True)
_compiled = lane_kernel(*LOOP[:3], writes=LOOP.writes, reduces=LOOP.reduces, any_length=True)


@kernel
def compiled(length, x, y, out, scalar, mask):
    return _compiled(length, x, y, out, scalar, mask)


@pytest.mark.parametrize("length", [*range(1, 18), 88])
def test_plain_loops_do_what_compiled_ones_do(length):
    x, y = np.random.default_rng(length).standard_normal((2, length + 5))
    outs = np.full((2, length + 5), 7.0)
    expected = compiled(length, x, y, outs[0], 0.3, 127)
    found = plain.make_loop(LOOP)(length, x, y, outs[1], 0.3, 127)
    # products are not fused with sums: a few roundings apart
    np.testing.assert_allclose(outs[1], outs[0], rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
    assert found[3] == expected[3]


def test_ties_go_to_the_lowest_index_and_close_numbers_tie():
    argmax = plain.make_loop(Loop(1, 0, lambda v: ([], [v]), (), ("argmax",), any_length=False))
    assert argmax(8, np.array([1.0, -2.0, 0.5, 2.0, 2.0, -2.0, 1.0, 0.0]), 7) == 1
    # the bits of an index take the place of the last bits of a number
    assert argmax(8, np.array([1.0, np.nextafter(1.0, 2.0), *np.zeros(6)]), 7) == 0


def test_what_a_body_returns_does_not_change_while_it_is_written():
    swap = plain.make_loop(Loop(2, 0, lambda a, b: ([b, a], []), (0, 1), (), any_length=False))
    left, right = np.zeros(8), np.ones(8)
    assert swap(8, left, right) is None
    assert left.tolist() == [1.0] * 8
    assert right.tolist() == [0.0] * 8


@pytest.mark.parametrize("wrong", [np.zeros(16, np.int64), np.zeros((16, 2))[:, 0]])
def test_arrays_of_other_types_are_refused(wrong):
    loop = plain.make_loop(Loop(1, 0, lambda v: ([], [v]), (), ("sum",), any_length=False))
    with pytest.raises(TypeError, match="all of float64 or all of float32"):
        loop(8, wrong)


def test_plain_loops_hand_single_pairs_from_step_to_step():
    def body(values, total):
        return [total + values, total + values], [values]

    loop = plain.make_loop(Loop(2, 0, body, (0, 1), ("sum",), pairs=(1,)))
    values, total = np.arange(48.0), np.ones(16)
    assert loop(32, values, total) == np.arange(32).sum()
    np.testing.assert_array_equal(values[:16], 1 + np.arange(16))
    np.testing.assert_array_equal(values[16:32], 1 + np.arange(16) + np.arange(16, 32))
    np.testing.assert_array_equal(values[32:], np.arange(32, 48))
    np.testing.assert_array_equal(total, values[16:32])
    assert loop(0, values, total) == 0


@kernel
def compiled_rows(length, outs, rows, chosen, factors, left, right, eight):
    multiply_rows(left, right, outs[2:10])
    multiply_chosen(left, right, eight, outs[10])
    square = subtract_rows(length, outs[0], rows[0], rows, chosen, factors, chosen.shape[0], 0.5)
    where, second = largest_left(8, outs[1], rows[0], rows, chosen, factors, chosen.shape[0], 7)
    return square, where, second


def test_plain_sums_of_rows_are_those_of_compiled_code():
    rng = np.random.default_rng(0)
    rows, left, right = rng.standard_normal((3, 8, 8))
    chosen, factors = np.array([4, 1, 1], np.int32), rng.standard_normal(3)
    expected, found = np.ones((2, 11, 8))
    eight = np.arange(8)[::-1].copy()
    numbers = compiled_rows(7, expected, rows, chosen, factors, left, right, eight)
    plain.multiply_rows(left, right, found[2:10])
    plain.multiply_chosen(left, right, eight, found[10])
    square = plain.subtract_rows(7, found[0], rows[0], rows, chosen, factors, 3, 0.5)
    choice = plain.largest_left(8, found[1], rows[0], rows, chosen, factors, 3, 7)
    # products are not fused with sums: a few roundings apart
    np.testing.assert_allclose((square, *choice), numbers, rtol=1e-13)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
    assert found[0, 7] == 1.0


@kernel
def compiled_triangles(lower, products, vectors, n_places):
    for column in range(n_places):
        factor_column(lower, products, vectors[0], column, n_places, 1e-6)
    solve_lower(lower, vectors[1], n_places)
    solve_upper(lower, vectors[2], n_places)
    subtract_symmetric(vectors[3], lower, vectors[2], n_places)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_places", [1, 4, 7])
def test_plain_triangles_are_those_of_compiled_code(n_places, dtype):
    rng, lanes = np.random.default_rng(0), count_sides(dtype)
    lower = rng.uniform(0.0, 0.1, (n_places * (n_places + 1) // 2, lanes)).astype(dtype)
    q = np.arange(n_places)
    lower[q * (q + 3) // 2] = 1.0
    # pivots that are raised: a negative one, and one below the square of an entry under it
    lower[0, 0], lower[-n_places:, 1] = -1.0, 2.0
    vectors = rng.standard_normal((4, n_places, lanes)).astype(dtype)
    expected = [lower.copy(), np.zeros_like(lower), vectors.copy()]
    compiled_triangles(*expected, n_places)
    found = [lower, np.zeros_like(lower), vectors]
    for column in range(n_places):
        plain.factor_column(lower, found[1], vectors[0], column, n_places, 1e-6)
    plain.solve_lower(lower, vectors[1], n_places)
    plain.solve_upper(lower, vectors[2], n_places)
    plain.subtract_symmetric(vectors[3], lower, vectors[2], n_places)
    # products are not fused with sums: a few roundings apart, of what a tiny pivot was divided by
    for one, other in zip(found, expected, strict=True):
        close = 1e4 * np.finfo(dtype).eps * np.abs(other).max()
        np.testing.assert_allclose(one, other, rtol=0, atol=close)


_two_largest = lane_kernel(
    1, 0, lambda values: ([], [values, values]), reduces=("argmax", "second")
)


@kernel
def two_largest(values, mask):
    return _two_largest(values.shape[0], values, mask)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("special", [[], [np.inf], [3.0, -3.0], [0.0] * 48])
def test_plain_second_is_that_of_compiled_code(dtype, special):
    values = np.random.default_rng(0).standard_normal(48).astype(dtype)
    values[5 : 5 + len(special)] = special[:43]
    values[: max(0, len(special) - 43)] = 0.0
    loop = plain.make_loop(
        Loop(1, 0, lambda v: ([], [v, v]), (), ("argmax", "second"), any_length=False)
    )
    assert loop(48, values, 63) == two_largest(values, 63)
