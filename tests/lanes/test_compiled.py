"""Explicit vectors against the same expression in NumPy."""

import numpy as np
import pytest
from numba.core.errors import TypingError

from setatoms._compile import kernel
from setatoms.lanes import (
    add_rows,
    aligned_zeros,
    lane_kernel,
    padded,
    subtract_multiples,
    subtract_products,
    subtract_rows,
)


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


@pytest.mark.parametrize("length", [8, 16, 88, 256])
def test_lane_kernels_compute_what_numpy_does(length):
    rng = np.random.default_rng(length)
    x, y = rng.standard_normal((2, length))
    out = np.empty(length)
    total, largest, least, where = evaluate(x, y, out, 0.7, 255)
    expected = by_numpy(x, y, 0.7)
    # a handful of roundings each
    np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-14)
    assert total == pytest.approx(expected.sum(), rel=1e-12, abs=1e-12)
    assert (largest, least) == (out.max(), out.min())
    assert where == np.argmax(np.abs(out))


_evaluate_any = lane_kernel(
    3, 1, _all_operators, writes=(2,), reduces=("sum", "max", "min", "argmax"), any_length=True
)


@kernel
def evaluate_any(length, x, y, out, scalar, mask):
    return _evaluate_any(length, x, y, out, scalar, mask)


@pytest.mark.parametrize("length", [*range(1, 18), 27, 88])
def test_kernels_of_any_length_leave_the_rest_alone(length):
    rng = np.random.default_rng(length)
    # beyond the length lie numbers that would win every reduction
    x, y = rng.standard_normal((2, length + 9))
    x[length:], y[length:] = -1e9, 1e9
    out = np.full(length + 9, 5.0)
    total, largest, least, where = evaluate_any(length, x, y, out, 0.7, 127)
    expected = by_numpy(x, y, 0.7)[:length]
    np.testing.assert_allclose(out[:length], expected, rtol=1e-13, atol=1e-14)
    assert np.all(out[length:] == 5.0)
    assert total == pytest.approx(expected.sum(), rel=1e-12, abs=1e-12)
    assert (largest, least) == (out[:length].max(), out[:length].min())
    assert where == np.argmax(np.abs(out[:length]))


@pytest.mark.parametrize(
    "wrong", [np.zeros(16, np.float32), np.zeros(16, np.int64), np.zeros((16, 2))[:, 0]]
)
def test_arrays_of_other_types_are_refused(wrong):
    with pytest.raises(TypingError, match="contiguous float64"):
        argmax(wrong, 15)


_argmax = lane_kernel(1, 0, lambda values: ([], [values]), reduces=("argmax",))


@kernel
def argmax(values, mask):
    return _argmax(values.shape[0], values, mask)


def test_ties_go_to_the_lowest_index():
    values = np.array([1.0, -2.0, 0.5, 2.0, 2.0, -2.0, 1.0, 0.0] * 3)
    assert argmax(values, 31) == 1
    assert argmax(np.zeros(16), 15) == 0


@kernel
def combine(out, rows, chosen, factors):
    add_rows(out.shape[0], out, rows, chosen, factors, chosen.shape[0])


@pytest.mark.parametrize("length", [8, 24, 32, 40, 104])
@pytest.mark.parametrize("count", [0, 1, 7])
def test_add_rows_is_a_product_with_chosen_rows(length, count):
    rng = np.random.default_rng(0)
    out, rows = rng.standard_normal(length), rng.standard_normal((12, length))
    chosen, factors = rng.integers(0, 12, count), rng.standard_normal(count)
    expected = out + factors @ rows[chosen]
    combine(out, rows, chosen, factors)
    np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-13)


@kernel
def take_away(length, out, start, rows, chosen, factors, scale):
    return subtract_rows(length, out, start, rows, chosen, factors, chosen.shape[0], scale)


@pytest.mark.parametrize("length", [1, 7, 8, 9, 27, 32, 45])
@pytest.mark.parametrize("count", [0, 1, 5])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_subtract_rows_leaves_a_residual_and_its_square(length, count, index):
    rng = np.random.default_rng(1)
    start, rows = rng.standard_normal(length), rng.standard_normal((12, length))
    chosen, factors = rng.integers(0, 12, count).astype(index), rng.standard_normal(count)
    out = np.full(length + 8, 5.0)
    square = take_away(length, out, start, rows, chosen, factors, 4.0)
    expected = start - factors @ rows[chosen]
    np.testing.assert_allclose(out[:length], 4.0 * expected, rtol=1e-13, atol=1e-13)
    assert np.all(out[length:] == 5.0)
    assert square == pytest.approx(expected @ expected, rel=1e-12)


@kernel
def reduce(out, left, right):
    subtract_products(out.shape[0], out, left, right, left.shape[0])


@pytest.mark.parametrize("length", [8, 16, 32, 40])
@pytest.mark.parametrize("count", [0, 1, 7])
def test_subtract_products_goes_column_by_column(length, count):
    rng = np.random.default_rng(0)
    out = rng.standard_normal(length)
    left, right = rng.standard_normal((2, count, length))
    expected = out - np.sum(left * right, axis=0)
    reduce(out, left, right)
    np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-13)


@kernel
def take_multiples(out, rows, factor):
    subtract_multiples(out, rows, factor, rows.shape[0])


@pytest.mark.parametrize("count", [0, 1, 7])
def test_subtract_multiples_goes_row_by_row(count):
    rng = np.random.default_rng(0)
    out, factor = rng.standard_normal((9, 8)), rng.standard_normal(8)
    rows = rng.standard_normal((count, 8))
    expected = out.copy()
    expected[:count] -= factor * rows
    take_multiples(out, rows, factor)
    np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("shape", [8, (3, 16), (2, 5, 8)])
def test_aligned_arrays_begin_with_a_line_of_the_cache(shape):
    array = aligned_zeros(shape)
    assert array.shape == np.zeros(shape).shape
    assert array.flags.c_contiguous
    assert not array.any()
    assert array.ctypes.data % 64 == 0


def test_padded_rounds_up_to_whole_vectors():
    assert [padded(n) for n in (1, 8, 9, 81)] == [8, 8, 16, 88]
