"""Explicit vectors against the same expression in NumPy."""

from fractions import Fraction

import numpy as np
import pytest
from numba.core.errors import TypingError

from setatoms._compile import kernel
from setatoms.lanes import (
    aligned_zeros,
    count_lanes,
    lane_kernel,
    multiply_chosen,
    multiply_rows,
    padded,
    subtract_multiples,
    subtract_products,
    subtract_rows,
    vector_kernel,
)

# a handful of roundings
CLOSE = {np.float64: 1e-13, np.float32: 1e-5}
both_precisions = pytest.mark.parametrize("dtype", CLOSE)


def _all_operators(x, y, _out, scalar):
    value = abs(x) * y - scalar / (y * y + 1.0) + (x * x + 1.0).sqrt()
    value = (value - x / 2.0).at_most(y).at_least(-y)
    value = (-value).where_negative(x, value + x.constant(3.0))
    return [value], [value, value, value, value]


_evaluate = lane_kernel(3, 1, _all_operators, writes=(2,), reduces=("sum", "max", "min", "argmax"))


@kernel
def evaluate(x, y, out, scalar, mask):
    return _evaluate(x.shape[0], x, y, out, scalar, mask)


def by_numpy(x, y, scalar):
    value = np.abs(x) * y - scalar / (1 + y * y) + np.sqrt(x * x + 1)
    value = np.maximum(np.minimum(value - x / 2, y), -y)
    return np.where(x < 0, -value, value + 3)


@both_precisions
@pytest.mark.parametrize("length", [16, 32, 96, 256])
def test_lane_kernels_compute_what_numpy_does(length, dtype):
    rng, close = np.random.default_rng(length), CLOSE[dtype]
    x, y = rng.standard_normal((2, length)).astype(dtype)
    out = np.empty(length, dtype)
    total, largest, least, where = evaluate(x, y, out, 0.7, 255)
    expected = by_numpy(x, y, 0.7)
    np.testing.assert_allclose(out, expected, rtol=close, atol=close)
    assert total == pytest.approx(expected.sum(), rel=10 * close, abs=100 * close)
    assert (largest, least) == (out.max(), out.min())
    assert where == np.argmax(np.abs(out))


_evaluate_any = lane_kernel(
    3, 1, _all_operators, writes=(2,), reduces=("sum", "max", "min", "argmax"), any_length=True
)


@kernel
def evaluate_any(length, x, y, out, scalar, mask):
    return _evaluate_any(length, x, y, out, scalar, mask)


@both_precisions
@pytest.mark.parametrize("length", [*range(1, 18), 27, 33, 88])
def test_kernels_of_any_length_leave_the_rest_alone(length, dtype):
    rng, close = np.random.default_rng(length), CLOSE[dtype]
    # beyond the length lie numbers that would win every reduction
    x, y = rng.standard_normal((2, length + 9)).astype(dtype)
    x[length:], y[length:] = -1e9, 1e9
    out = np.full(length + 9, 5.0, dtype)
    total, largest, least, where = evaluate_any(length, x, y, out, 0.7, 127)
    expected = by_numpy(x, y, 0.7)[:length]
    np.testing.assert_allclose(out[:length], expected, rtol=close, atol=close)
    assert np.all(out[length:] == 5.0)
    assert total == pytest.approx(expected.sum(), rel=10 * close, abs=100 * close)
    assert (largest, least) == (out[:length].max(), out[:length].min())
    assert where == np.argmax(np.abs(out[:length]))


_evaluate_vector = vector_kernel(3, 1, _all_operators, writes=(2,), reduces=("sum",) * 4)


@kernel
def evaluate_vector(x, y, out, scalar):
    return _evaluate_vector(x, y, out, scalar)


@both_precisions
def test_vector_kernels_take_a_single_vector(dtype):
    lanes, close = count_lanes(dtype), CLOSE[dtype]
    x, y = np.random.default_rng(0).standard_normal((2, 2 * lanes)).astype(dtype)
    out = np.full(2 * lanes, 5.0, dtype)
    total = evaluate_vector(x, y, out, 0.7)[0]
    expected = by_numpy(x, y, 0.7)[:lanes]
    np.testing.assert_allclose(out[:lanes], expected, rtol=close, atol=close)
    assert np.all(out[lanes:] == 5.0)
    assert total == pytest.approx(expected.sum(), rel=10 * close)


@pytest.mark.parametrize("wrong", [np.zeros(16, np.int64), np.zeros((16, 2))[:, 0]])
def test_arrays_of_other_types_are_refused(wrong):
    with pytest.raises(TypingError, match="all of float64 or all of float32"):
        argmax(wrong, 15)


def test_arrays_of_two_precisions_are_refused():
    x = np.zeros(16)
    with pytest.raises(TypingError, match="all of float64 or all of float32"):
        evaluate(x, x.astype(np.float32), x, 0.7, 15)


_argmax = lane_kernel(1, 0, lambda values: ([], [values]), reduces=("argmax",))


@kernel
def argmax(values, mask):
    return _argmax(values.shape[0], values, mask)


@both_precisions
def test_ties_go_to_the_lowest_index(dtype):
    values = np.array([1.0, -2.0, 0.5, 2.0, 2.0, -2.0, 1.0, 0.0] * 4, dtype)
    assert argmax(values, 31) == 1
    assert argmax(np.zeros(16, dtype), 15) == 0


@kernel
def multiply(left, right, out):
    multiply_rows(left, right, out)


@both_precisions
@pytest.mark.parametrize("n_rows", [0, 1, 3, 4, 9])
@pytest.mark.parametrize("n_vectors", range(1, 9))
def test_products_are_added_up_in_the_order_of_columns(dtype, n_rows, n_vectors):
    rng = np.random.default_rng(0)
    left = rng.integers(-9, 10, (n_rows, 13)).astype(dtype)
    right = rng.integers(-9, 10, (13, n_vectors * count_lanes(dtype))).astype(dtype)
    out = np.full((n_rows, right.shape[1]), 7.0, dtype)
    multiply(left, right, out)
    assert np.array_equal(out, left @ right)  # whole numbers: no rounding

    # of these, only the order of columns leaves 1: 1e30 - 1e30 + 1
    terms = np.array([1e30, -1e30, 1.0], dtype)
    multiply(np.tile(terms, (n_rows, 1)), np.ones_like(right[:3]), out)
    assert np.all(out == 1.0)


@both_precisions
def test_products_are_fused_with_sums(dtype):
    third = dtype(1) / dtype(3)
    # what rounding took away from the square is what is left
    left = np.array([[-third * third, third]], dtype)
    right = np.ones((2, count_lanes(dtype)), dtype)
    right[1] = third
    out = np.zeros((1, right.shape[1]), dtype)
    multiply(left, right, out)
    exact = Fraction(float(third)) ** 2 - Fraction(float(third * third))
    assert exact != 0
    assert np.all(out == dtype(float(exact)))


@kernel
def take_away(length, out, start, rows, chosen, factors, scale):
    return subtract_rows(length, out, start, rows, chosen, factors, chosen.shape[0], scale)


@pytest.mark.parametrize("length", [1, 7, 8, 9, 27, 32, 45])
@pytest.mark.parametrize("count", [0, 1, 5])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@both_precisions
def test_subtract_rows_leaves_a_residual_and_its_square(length, count, index, dtype):
    rng = np.random.default_rng(1)
    start, rows = rng.standard_normal(length), rng.standard_normal((12, length))
    chosen = rng.integers(0, 12, count).astype(index)
    # factors alone may be in another precision
    factors = rng.standard_normal(count).astype(dtype)
    out = np.full(length + 8, 5.0)
    square = take_away(length, out, start, rows, chosen, factors, 4.0)
    expected = start - factors @ rows[chosen]
    np.testing.assert_allclose(out[:length], 4.0 * expected, rtol=1e-13, atol=1e-13)
    assert np.all(out[length:] == 5.0)
    assert square == pytest.approx(expected @ expected, rel=1e-12)


@kernel
def reduce(out, left, right):
    subtract_products(out, left, right, left.shape[0])


@both_precisions
@pytest.mark.parametrize("count", [0, 1, 7])
def test_subtract_products_goes_column_by_column(count, dtype):
    rng, lanes = np.random.default_rng(0), count_lanes(dtype)
    out = rng.standard_normal(lanes).astype(dtype)
    left, right = rng.standard_normal((2, count, lanes)).astype(dtype)
    expected = out - np.sum(left * right, axis=0)
    reduce(out, left, right)
    np.testing.assert_allclose(out, expected, rtol=CLOSE[dtype], atol=CLOSE[dtype])


@kernel
def take_multiples(out, rows, factor):
    subtract_multiples(out, rows, factor, rows.shape[0])


@both_precisions
@pytest.mark.parametrize("count", [0, 1, 7])
def test_subtract_multiples_goes_row_by_row(count, dtype):
    rng, lanes = np.random.default_rng(0), count_lanes(dtype)
    out, factor = rng.standard_normal((10, lanes)).astype(dtype)[:9], np.full(lanes, 0.7, dtype)
    rows = rng.standard_normal((count, lanes)).astype(dtype)
    expected = out.copy()
    expected[:count] -= factor * rows
    take_multiples(out, rows, factor)
    np.testing.assert_allclose(out, expected, rtol=CLOSE[dtype], atol=CLOSE[dtype])


@pytest.mark.parametrize("shape", [8, (3, 16), (2, 5, 8)])
def test_aligned_arrays_begin_with_a_line_of_the_cache(shape):
    array = aligned_zeros(shape)
    assert array.shape == np.zeros(shape).shape
    assert array.flags.c_contiguous
    assert not array.any()
    assert array.ctypes.data % 64 == 0


def test_padded_rounds_up_to_whole_vectors():
    assert [padded(n) for n in (1, 8, 9, 81)] == [8, 8, 16, 88]
    assert [padded(n, np.float32) for n in (1, 8, 17, 81)] == [16, 16, 32, 96]


def test_numbers_are_rounded_to_the_precision_of_the_product():
    rng = np.random.default_rng(0)
    left = rng.standard_normal((5, 13))
    right = rng.standard_normal((13, 32)).astype(np.float32)
    from_double, from_single = np.empty((2, 5, 32), np.float32)
    multiply(left, right, from_double)
    multiply(left.astype(np.float32), right, from_single)
    assert np.array_equal(from_double, from_single)


@kernel
def multiply_some(left, right, chosen, out):
    multiply_chosen(left, right, chosen, out)


@both_precisions
def test_single_products_are_entries_of_all_products(dtype):
    rng = np.random.default_rng(0)
    left = rng.standard_normal((16, 13)).astype(dtype)
    right = rng.standard_normal((13, 2 * count_lanes(dtype))).astype(dtype)
    everything = np.empty((16, right.shape[1]), dtype)
    multiply(left, right, everything)
    chosen, out = rng.integers(0, right.shape[1], 16), np.empty(16, dtype)
    multiply_some(left, np.ascontiguousarray(right.T), chosen, out)
    assert np.array_equal(out, everything[np.arange(16), chosen])
