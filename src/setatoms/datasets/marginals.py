"""One feature's distribution, estimated by Gaussian kernels."""

from __future__ import annotations

import numpy as np
from numpy.polynomial.polynomial import polyval
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import gaussian_kde

Array = NDArray[np.float64]

# Beyond nine bandwidths a kernel's tail is below double precision.
_REACH = 9
_NODES_PER_BANDWIDTH = 10
# In bandwidths: over this distance F grows by more than the error of the table.
_CLOSE = 1e-6
# Rows summed at once, a multiple of four: bounds the memory.
_ROWS_PER_BLOCK = 256


class KernelMarginal:
    """The mixture of normals at the given values, with Scott's bandwidth.

    ``F(x) = mean over i of Phi((x - values[i]) / bandwidth)``

    Sums over all kernels are slow, so ``F`` is tabulated and interpolated by polynomials that meet
    ``F`` and two derivatives at every node, ten to a bandwidth: the error is below 1e-10.

    Parameters
    ----------
    values : ndarray of shape (n,)
        At least two of them different.
    """

    def __init__(self, values: Array) -> None:
        self.values = values
        self._kde = gaussian_kde(values)
        self.bandwidth = float(np.sqrt(self._kde.covariance[0, 0]))
        self._step = self.bandwidth / _NODES_PER_BANDWIDTH
        self._first = float(values.min()) - (_REACH * _NODES_PER_BANDWIDTH + 1) * self._step
        self._table = self._tabulate()

    def ranks(self) -> Array:
        """Return ``F`` at the values themselves, of shape (n,).

        Kendall's tau counts ties, so it matters which of the repeated values get equal results.
        The reference sums all rows at once with BLAS on one thread, which takes rows four at a
        time and the last ``n % 4`` in another order, so that repeated values there differ in the
        last bit. Repeated values, and those closer than the table can tell apart, are therefore
        summed here in the same order, each once; the caller holds BLAS to one thread.
        """
        unique, where, counts = np.unique(self.values, return_inverse=True, return_counts=True)
        at_unique = self._interpolate(unique)
        is_close = np.diff(unique) < _CLOSE * self.bandwidth
        is_summed = (counts > 1) | np.append(is_close, False) | np.append(False, is_close)
        summed = unique[is_summed]
        padded = np.append(summed, np.repeat(summed[-1:], -summed.size % 4))
        at_unique[is_summed] = self._sum_kernels(padded)[: summed.size]
        result: Array = at_unique[where]
        n_odd = self.values.size % 4
        if n_odd:
            ending = self.values[-(4 + n_odd) :]
            result[-n_odd:] = self._sum_kernels(ending)[-n_odd:]
        return result

    def quantiles(self, p: Array) -> Array:
        """Return the ``x`` with ``F(x) = p``, of the shape of ``p``, by bisection in the table."""
        cell = np.searchsorted(self._table[0], p, side="right") - 1
        cell = np.clip(cell, 0, self._table.shape[1] - 2)
        coefficients = self._polynomials(cell)
        low, high = np.zeros(p.shape), np.ones(p.shape)
        for _ in range(36):
            middle = (low + high) / 2
            below = _evaluate(coefficients, middle) < p
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return self._first + (cell + (low + high) / 2) * self._step

    def sample(self, n: int, rng: np.random.RandomState) -> Array:
        """Draw ``n`` values from the mixture."""
        drawn: Array = self._kde.resample(n, seed=rng)[0]
        return drawn

    def _sum_kernels(self, x: Array) -> Array:
        """Return ``F(x)`` by summing every kernel."""
        result: Array = np.empty(x.size)
        for start in range(0, x.size, _ROWS_PER_BLOCK):
            rows = slice(start, start + _ROWS_PER_BLOCK)
            result[rows] = ndtr((x[rows, None] - self.values) / self.bandwidth) @ self._kde.weights
        return result

    def _interpolate(self, x: Array) -> Array:
        """Return ``F(x)`` from the table, for ``x`` between the smallest and the largest value."""
        position = (x - self._first) / self._step
        cell = position.astype(np.int64)
        return _evaluate(self._polynomials(cell), position - cell)

    def _tabulate(self) -> Array:
        """Return ``F``, ``F'`` and ``F''`` at all nodes, (3, n_nodes), per node spacing.

        A kernel reaches few nodes, so the work grows with ``n`` alone. The nodes are not too many:
        the values span at most ``2 n^0.7`` bandwidths.
        """
        values, counts = np.unique(self.values, return_counts=True)
        reach = _REACH * _NODES_PER_BANDWIDTH
        nearest = np.rint((values - self._first) / self._step).astype(np.int64)
        n_nodes = int(nearest[-1]) + reach + 2
        node = nearest[:, None] + np.arange(-reach, reach + 1)
        z = (self._first + node * self._step - values[:, None]) / self.bandwidth
        weight = (counts / self.values.size)[:, None]
        density = weight * np.exp(-(z**2) / 2) / (np.sqrt(2 * np.pi) * _NODES_PER_BANDWIDTH)
        terms = (weight * ndtr(z), density, -z * density / _NODES_PER_BANDWIDTH)
        table = np.array([np.bincount(node.ravel(), term.ravel(), n_nodes) for term in terms])
        # Past its reach a kernel counts in full.
        table[0] += np.cumsum(np.bincount(nearest + reach + 1, weight[:, 0], n_nodes))
        return table

    def _polynomials(self, cell: NDArray[np.int64]) -> Array:
        """Return coefficients (6, n) in [0, 1] that meet the table at both ends of each cell."""
        value, slope, curve = self._table[:, cell]
        next_value, next_slope, next_curve = self._table[:, cell + 1]
        rise = next_value - value - slope - curve / 2
        tilt = next_slope - slope - curve
        bend = next_curve - curve
        cubic = 10 * rise - 4 * tilt + bend / 2
        quartic = -15 * rise + 7 * tilt - bend
        quintic = 6 * rise - 3 * tilt + bend / 2
        return np.array([value, slope, curve / 2, cubic, quartic, quintic])


def _evaluate(coefficients: Array, t: Array) -> Array:
    """Return the value at ``t[i]`` of the polynomial in column ``i`` of ``coefficients``."""
    return np.asarray(polyval(t, coefficients, tensor=False), dtype=np.float64)
