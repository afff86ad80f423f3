"""Codes: from padded supports to a sparse matrix."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy.sparse import csr_array

from setatoms import Codes


@pytest.fixture
def codes() -> Codes:
    return Codes(
        support=np.array([[2, 0, -1], [-1, -1, -1], [3, 1, 2]], dtype=np.int32),
        values=np.array([[5.0, -1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]),
        residuals=np.zeros((3, 2)),
        errors=np.zeros(3),
        n_atoms=5,
    )


def test_coefficients_put_values_at_their_atoms(codes):
    expected = [[-1, 0, 5, 0, 0], [0, 0, 0, 0, 0], [0, 2, 3, 1, 0]]
    np.testing.assert_array_equal(codes.coefficients.toarray(), expected)


def test_coefficients_are_csr_with_sorted_indices(codes):
    assert isinstance(codes.coefficients, csr_array)
    np.testing.assert_array_equal(codes.coefficients.indices, [0, 2, 1, 2, 3])
    np.testing.assert_array_equal(codes.coefficients.indptr, [0, 2, 2, 5])


def test_sorting_leaves_the_order_of_selection_alone(codes):
    assert codes.coefficients.nnz == 5
    np.testing.assert_array_equal(codes.support[2], [3, 1, 2])
    np.testing.assert_array_equal(codes.values[2], [1.0, 2.0, 3.0])


def test_coefficients_keep_the_float_type():
    single = Codes(
        support=np.array([[0]], dtype=np.int32),
        values=np.array([[2.0]], dtype=np.float32),
        residuals=np.zeros((1, 2), dtype=np.float32),
        errors=np.zeros(1, dtype=np.float32),
        n_atoms=1,
    )
    assert single.coefficients.dtype == np.float32


def test_codes_without_atoms_have_no_entries():
    empty = Codes(
        support=np.empty((2, 0), dtype=np.int32),
        values=np.empty((2, 0)),
        residuals=np.ones((2, 3)),
        errors=np.full(2, np.sqrt(3)),
        n_atoms=4,
    )
    assert empty.coefficients.shape == (2, 4)
    assert empty.coefficients.nnz == 0


def test_codes_cannot_be_rebound(codes):
    with pytest.raises(FrozenInstanceError):
        codes.errors = np.ones(3)
