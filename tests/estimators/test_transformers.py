"""Transformers: codes out, rows back only through reconstruct."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from setatoms import ConeDictionaryLearning, GaussianDictionaryLearning

TRANSFORMERS = [ConeDictionaryLearning, GaussianDictionaryLearning]
pytestmark = pytest.mark.parametrize("transformer", TRANSFORMERS)


@pytest.fixture
def fitted(transformer, rows):
    return transformer(n_atoms=10, random_state=0).fit(rows)


def test_sparse_output_holds_the_same_codes(fitted, rows):
    dense = fitted.transform(rows)
    codes = fitted.set_params(sparse_output=True).transform(rows)
    assert isinstance(dense, np.ndarray)
    assert sparse.issparse(codes)
    assert codes.format == "csr"
    np.testing.assert_array_equal(codes.toarray(), dense)


def test_reconstruct_is_the_sum_of_actual_atoms(fitted, rows):
    codes = fitted.dictionary_.code(rows, actual_atoms=True)
    sums = np.einsum("lq,lqi->li", codes.values, codes.actual_atoms)
    # rounding of sums of numbers near 100
    np.testing.assert_allclose(fitted.reconstruct(rows), sums, rtol=0, atol=1e-10)


def test_reconstruct_is_closer_than_nothing(fitted, rows):
    assert np.linalg.norm(rows - fitted.reconstruct(rows)) < 0.5 * np.linalg.norm(rows)


def test_there_is_no_inverse_transform(fitted):
    assert not hasattr(fitted, "inverse_transform")


@pytest.mark.parametrize(("output", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output_gives_frames_with_names(fitted, rows, output, frame):
    dense = fitted.transform(rows)
    framed = fitted.set_output(transform=output).transform(rows)
    assert isinstance(framed, frame)
    assert list(framed.columns) == list(fitted.get_feature_names_out())
    np.testing.assert_array_equal(framed.to_numpy(), dense)


def test_set_output_survives_fit(transformer, rows):
    model = transformer(n_atoms=10, n_iter=10).set_output(transform="pandas")
    assert isinstance(model.fit_transform(rows), pd.DataFrame)


def test_names_count_the_atoms(fitted, transformer):
    names = fitted.get_feature_names_out()
    assert names[0] == f"{transformer.__name__.lower()}0"
    assert len(names) == len(fitted.components_) == 10


def test_zero_rows_have_empty_codes(fitted):
    zero = np.zeros((2, 6))
    assert not fitted.transform(zero).any()
    np.testing.assert_array_equal(fitted.reconstruct(zero), zero)


def test_values_whose_powers_overflow_are_refused(transformer):
    X = np.random.default_rng(0).normal(size=(60, 4))
    with pytest.raises(ValueError, match=r"values up to .*e\+76, whose .* rescale X .* 1e\+60"):
        transformer(n_atoms=6, random_state=0).fit(1e76 * X)
    learned = transformer(n_atoms=6, random_state=0).fit(1e59 * X)
    np.testing.assert_allclose(np.linalg.norm(learned.components_, axis=1), 1.0, rtol=1e-12)
