"""The kernel estimate of one feature: its table, its inverse, its ties."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import gaussian_kde
from threadpoolctl import threadpool_limits

from setatoms.datasets.marginals import KernelMarginal

SHAPES = {
    "normal": lambda rng: rng.normal(size=401),
    "heavy tails": lambda rng: rng.standard_t(1.2, size=402),
    "skewed": lambda rng: rng.exponential(size=403) ** 3,
    "two values": lambda rng: rng.integers(2, size=402).astype(float),
    "far from zero": lambda rng: 1e6 + rng.normal(size=401),
    "few values": lambda rng: rng.permutation([1.0, 2.0, 2.0, 5.0, 9.0]),
}


@pytest.fixture(params=SHAPES)
def marginal(request):
    return KernelMarginal(SHAPES[request.param](np.random.default_rng(0)))


def distribution(marginal, x):
    """Return F(x) straight from its definition."""
    bandwidth = np.sqrt(gaussian_kde(marginal.values).covariance[0, 0])
    return ndtr((x[:, None] - marginal.values) / bandwidth).mean(axis=1)


def test_ranks_are_the_distribution_function_at_the_values(marginal):
    # The error that the docstring promises of the table.
    expected = distribution(marginal, marginal.values)
    np.testing.assert_allclose(marginal.ranks(), expected, atol=1e-10)


def test_quantiles_invert_the_distribution_function(marginal):
    p = np.concatenate([[1e-7, 1 - 1e-7], np.linspace(0.001, 0.999, 200)])
    # Far from zero the nodes of the table are rounded to 1e-10 of a bandwidth.
    np.testing.assert_allclose(distribution(marginal, marginal.quantiles(p)), p, atol=1e-9)


def test_quantiles_keep_their_relative_precision_in_the_tail():
    marginal = KernelMarginal(SHAPES["normal"](np.random.default_rng(0)))
    p = np.array([1e-7, 1e-6, 1e-5])
    np.testing.assert_allclose(distribution(marginal, marginal.quantiles(p)), p, rtol=1e-6)


@pytest.mark.parametrize("n", [400, 401, 402, 403])
def test_ties_are_those_of_one_matrix_product(n):
    rng = np.random.default_rng(n)
    values = rng.integers(5, size=n) / 3
    # A few neighbours of repeated values: do they tie, or which is larger?
    values[:10] = np.nextafter(values[:10], rng.choice([-9.0, 9.0], size=10))
    marginal = KernelMarginal(values)
    kernels = ndtr((values[:, None] - values) / marginal.bandwidth)
    with threadpool_limits(limits=1, user_api="blas"):
        np.testing.assert_array_equal(marginal.ranks(), kernels @ np.full(n, 1 / n))


def test_samples_are_the_legacy_stream_of_scipy():
    values = np.random.default_rng(0).normal(size=50)
    drawn = KernelMarginal(values).sample(20, np.random.RandomState(7))
    expected = gaussian_kde(values).resample(20, seed=np.random.RandomState(7))[0]
    np.testing.assert_array_equal(drawn, expected)
