"""Explicit vectors against the same expression in NumPy."""

from fractions import Fraction

import numpy as np
import pytest
from numba.core.errors import TypingError

from setatoms._compile import kernel
from setatoms.lanes import (
    aligned_zeros,
    count_lanes,
    count_sides,
    empty_arrays,
    factor_column,
    lane_kernel,
    largest_left,
    multiply_chosen,
    multiply_rows,
    padded,
    pair_kernel,
    solve_lower,
    solve_upper,
    subtract_rows,
    subtract_symmetric,
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


_evaluate_pair = pair_kernel(3, 1, _all_operators, writes=(2,), reduces=("sum",) * 4)


@kernel
def evaluate_pair(x, y, out, scalar):
    return _evaluate_pair(x, y, out, scalar)


@both_precisions
def test_pair_kernels_take_two_vectors(dtype):
    lanes, close = count_sides(dtype), CLOSE[dtype]
    x, y = np.random.default_rng(0).standard_normal((2, 2 * lanes)).astype(dtype)
    out = np.full(2 * lanes, 5.0, dtype)
    total = evaluate_pair(x, y, out, 0.7)[0]
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
def choose_left(length, out, start, rows, chosen, factors, mask):
    return largest_left(length, out, start, rows, chosen, factors, chosen.shape[0], mask)


@both_precisions
@pytest.mark.parametrize(("n_vectors", "count"), [(1, 0), (2, 1), (5, 3), (11, 4)])
def test_largest_left_tells_the_largest_and_a_bound_on_all_others(n_vectors, count, dtype):
    rng, length = np.random.default_rng(0), n_vectors * count_lanes(dtype)
    start, out = rng.standard_normal((2, length)).astype(dtype)
    rows = rng.standard_normal((7, length)).astype(dtype)
    chosen, factors = rng.integers(0, 7, count), rng.standard_normal(count)
    mask = (1 << (length - 1).bit_length()) - 1
    where, second = choose_left(length, out, start, rows, chosen, factors, mask)
    expected = start - factors @ rows[chosen]
    np.testing.assert_allclose(out, expected, rtol=10 * CLOSE[dtype], atol=10 * CLOSE[dtype])
    in_order = np.sort(np.abs(out))
    assert abs(out[where]) == in_order[-1]
    # the bits of an index may be set in it
    coarse = mask * float(np.finfo(dtype).eps)
    assert in_order[-2] <= second <= in_order[-2] * (1 + coarse)


def test_numbers_that_differ_in_bits_of_the_index_alone_are_not_told_apart():
    numbers = np.zeros(16, np.float32)
    numbers[3], numbers[9] = 1.0, np.nextafter(np.float32(1.0), np.float32(2.0))
    out, none = np.empty_like(numbers), np.empty(0)
    where, second = choose_left(16, out, numbers, numbers[None], none.astype(int), none, 15)
    assert where == 3
    assert second >= numbers[9]


def _running_total(values, total, share):
    total = total + values * share
    return [total * 1.0, total], [total]


_total = lane_kernel(3, 0, _running_total, writes=(0, 1), reduces=("max",), pairs=(1, 2))


@kernel
def total_up(length, values, total, share):
    return _total(length, values, total, share)


@both_precisions
def test_single_pairs_are_handed_from_step_to_step(dtype):
    lanes = count_sides(dtype)
    values = np.random.default_rng(0).standard_normal((4, lanes)).astype(dtype)
    given, total, share = values.copy(), np.ones(lanes, dtype), np.full(lanes, 0.5, dtype)
    largest = total_up(3 * lanes, values, total, share)
    expected = 1 + np.cumsum(0.5 * given[:3], axis=0)
    np.testing.assert_allclose(values[:3], expected, rtol=CLOSE[dtype], atol=CLOSE[dtype])
    np.testing.assert_array_equal(values[3], given[3])
    np.testing.assert_array_equal(total, values[2])
    np.testing.assert_array_equal(share, 0.5)
    assert largest == values[:3].max()


def test_single_pairs_are_not_for_loops_of_any_length():
    with pytest.raises(ValueError, match="leave out any_length"):
        lane_kernel(2, 0, lambda one, _: ([one], []), writes=(1,), pairs=(1,), any_length=True)


def random_triangles(n_places, dtype):
    """Return unit lower triangles side by side, packed and (lanes, n, n), and vectors for them."""
    rng, lanes = np.random.default_rng(n_places), count_sides(dtype)
    packed = rng.uniform(-0.5, 0.5, (n_places * (n_places + 1) // 2 + 3, lanes)).astype(dtype)
    full = np.zeros((lanes, n_places, n_places))
    rows, columns = np.tril_indices(n_places)
    full[:, rows, columns] = packed[: len(rows)].T
    return packed, full, rng.standard_normal((n_places + 1, lanes)).astype(dtype)


@kernel
def solve_both_ways(lower, forth, back, n_places):
    solve_lower(lower, forth, n_places)
    solve_upper(lower, back, n_places)


every_size = pytest.mark.parametrize("n_places", [0, 1, 2, 3, 4, 5, 7, 8, 11])


@both_precisions
@every_size
def test_triangles_are_solved(n_places, dtype):
    packed, full, vectors = random_triangles(n_places, dtype)
    unit = np.tril(full, -1) + np.eye(n_places)
    forth, back = vectors.copy(), vectors.copy()
    solve_both_ways(packed, forth, back, n_places)
    right, close = vectors[:-1].T[..., None], 100 * CLOSE[dtype]
    for found, matrices in ((forth, unit), (back, unit.transpose(0, 2, 1))):
        expected = np.linalg.solve(matrices, right)[..., 0].T
        np.testing.assert_allclose(found[:-1], expected, rtol=close, atol=close)
        np.testing.assert_array_equal(found[-1], vectors[-1])


@kernel
def multiply_symmetric(out, lower, vectors, n_places):
    subtract_symmetric(out, lower, vectors, n_places)


@both_precisions
@every_size
def test_symmetric_matrices_are_multiplied_from_their_lower_half(n_places, dtype):
    packed, full, vectors = random_triangles(n_places, dtype)
    both = full + np.tril(full, -1).transpose(0, 2, 1)
    out = np.ones_like(vectors)
    multiply_symmetric(out, packed, vectors, n_places)
    expected = 1 - np.einsum("lqp,pl->ql", both, vectors[:-1])
    np.testing.assert_allclose(out[:-1], expected, rtol=10 * CLOSE[dtype], atol=10 * CLOSE[dtype])
    np.testing.assert_array_equal(out[-1], 1)


@kernel
def factor(lower, products, inverses, n_places, least_pivot):
    for column in range(n_places):
        factor_column(lower, products, inverses, column, n_places, least_pivot)


@both_precisions
@every_size
def test_columns_of_a_factor_give_the_matrix_back(n_places, dtype):
    packed, full, _ = random_triangles(n_places, dtype)
    diagonal = np.arange(n_places)
    both = full + np.tril(full, -1).transpose(0, 2, 1)
    both[:, diagonal, diagonal] = n_places
    rows, columns = np.tril_indices(n_places)
    lower = packed.copy()
    lower[: len(rows)] = both[:, rows, columns].T
    products, inverses = np.empty_like(lower), np.empty((n_places, lower.shape[1]), dtype)
    factor(lower, products, inverses, n_places, 1e-6)
    unit = np.zeros_like(both)
    unit[:, rows, columns] = lower[: len(rows)].T
    unit = np.tril(unit, -1) + np.eye(n_places)
    again = unit / inverses.T[:, None, :] @ unit.transpose(0, 2, 1)
    np.testing.assert_allclose(again, both, rtol=100 * CLOSE[dtype], atol=100 * CLOSE[dtype])
    below = rows > columns
    expected = unit[:, rows[below], columns[below]].T / inverses[columns[below]]
    np.testing.assert_allclose(products[: len(rows)][below], expected, rtol=100 * CLOSE[dtype])


@both_precisions
def test_pivots_are_raised_to_the_least_and_to_the_squares_below_them(dtype):
    lanes = count_sides(dtype)
    lower = np.array([[-3.0], [2.0], [4.0 + 1e-3]], dtype) * np.ones(lanes, dtype)
    products, inverses = np.empty_like(lower), np.empty((2, lanes), dtype)
    factor(lower, products, inverses, 2, 1e-2)
    # the first pivot becomes 2^2, which leaves 1e-3 of the second one
    np.testing.assert_allclose(inverses[0], 1 / 4)
    np.testing.assert_allclose(lower[1], 2 / 4)
    assert lower[2, 0] == pytest.approx(3 + 1e-3, rel=1e-3)
    np.testing.assert_allclose(1 / inverses[1], lower[2], rtol=1e-5)
    lower[:], lower[0] = 0.0, -1.0
    factor(lower, products, inverses, 2, 1e-2)
    np.testing.assert_allclose(inverses, 100.0, rtol=1e-5)


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


def test_small_arrays_share_a_block_and_large_ones_do_not():
    kinds = [((3, 5), np.int32), ((7,), np.float64), ((0, 0, 0), np.float64), ((2, 2), np.float32)]
    arrays = list(empty_arrays(*kinds))
    assert [(array.shape, array.dtype) for array in arrays] == kinds
    for number, array in enumerate(arrays):
        array[...] = number
    assert all((array == number).all() for number, array in enumerate(arrays))
    assert len({id(array.base) for array in arrays}) == 1
    # who keeps one of these does not keep the other
    assert all(array.base is None for array in empty_arrays(((1 << 22,), float), ((3,), float)))
