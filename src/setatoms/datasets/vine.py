"""The centre vine of the benchmark: fit to a table, sample many rows at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau
from threadpoolctl import threadpool_limits

from setatoms.datasets.marginals import KernelMarginal
from setatoms.datasets.pair_copulas import EPSILON, PairCopula, choose_copula

Array = NDArray[np.float64]

_N_TREES = 3
_LARGEST_CONDITIONAL = 0.99


@dataclass(frozen=True)
class StarTree:
    """A tree that joins its centre to every other variable not yet a centre.

    Attributes
    ----------
    centre : int
        The variable in the middle.
    copulas : dict of int to PairCopula
        The copula between the centre and each other variable, given the centres of the trees
        before; strongest dependence first. The first variable is the centre of the next tree.
    """

    centre: int
    copulas: dict[int, PairCopula]

    def pair_of(self, variable: int) -> tuple[set[int], PairCopula] | None:
        """Return the first pair, and its copula, that ``variable`` belongs to."""
        other = next(iter(self.copulas)) if variable == self.centre else variable
        if other not in self.copulas:
            return None
        return {self.centre, other}, self.copulas[other]


@dataclass(frozen=True)
class CenterVine:
    """A vine copula of at most three star-shaped trees with Gaussian-kernel marginals.

    It answers to the centre vine of ``copulas`` 0.14.1, by which ADBench makes its dependency
    anomalies, and its samples are that library's samples from the same random stream.
    """

    marginals: list[KernelMarginal]
    trees: list[StarTree]

    @classmethod
    @np.errstate(divide="ignore", over="ignore")  # an infinity here ends as a probability of 0 or 1
    def fit(cls, X: Array) -> CenterVine:
        """Fit marginals and pair copulas to ``X`` of shape (n_samples, n_features).

        Every feature must vary, and there must be at least two.
        """
        # On more threads BLAS rounds differently, which breaks ties, and rows then move a little.
        with threadpool_limits(limits=1, user_api="blas"):
            marginals = [KernelMarginal(feature) for feature in np.ascontiguousarray(X.T)]
            given = [marginal.ranks() for marginal in marginals]
        centre, others = 0, list(range(1, X.shape[1]))
        others = _strongest_first(others, [_kendall(X[:, 0], X[:, j]) for j in others])
        trees = []
        for _ in range(min(_N_TREES, X.shape[1] - 1)):
            taus = {j: _kendall(*(given[k] for k in sorted((centre, j)))) for j in others}
            copulas = {j: choose_copula(given[centre], given[j], taus[j]) for j in others}
            trees.append(StarTree(centre, copulas))
            for j, copula in copulas.items():
                given[j] = _inside(copula.conditional(given[j], given[centre]))
            centre, *rest = others
            others = _strongest_first(rest, [taus[j] for j in rest])
        return cls(marginals, trees)

    def sample(self, n_samples: int, rng: np.random.RandomState) -> Array:
        """Return rows (n_samples, n_features), drawing uniforms and a first variable for each."""
        n_features = len(self.marginals)
        uniforms = np.empty((n_samples, n_features))
        first = np.empty(n_samples, dtype=np.int64)
        for row in range(n_samples):
            uniforms[row] = rng.uniform(size=n_features)
            first[row] = rng.randint(n_features)
        ranks = np.empty_like(uniforms)
        for variable in range(n_features):
            rows = first == variable
            ranks[rows] = self._ranks_from(variable, uniforms[rows])
        # The library returns infinity beyond these bounds; such a row would be of no use.
        ranks = np.clip(ranks, EPSILON, 1 - EPSILON)
        columns = [m.quantiles(p) for m, p in zip(self.marginals, ranks.T, strict=True)]
        return np.column_stack(columns)

    @np.errstate(divide="ignore", over="ignore")
    def _ranks_from(self, first: int, uniforms: Array) -> Array:
        """Turn uniforms (n, n_features) into dependent ranks, starting at variable ``first``."""
        ranks = np.empty_like(uniforms)
        rank = ranks[:, first] = uniforms[:, first]
        for variable, previous, starts_anew, copulas in self._steps(first):
            if starts_anew:
                rank = uniforms[:, variable]
            for copula in copulas:
                inverse = copula.inverse(rank, uniforms[:, previous])
                rank = np.clip(inverse, EPSILON, _LARGEST_CONDITIONAL)
            ranks[:, variable] = rank
        return ranks

    def _steps(self, first: int) -> Iterator[tuple[int, int, bool, list[PairCopula]]]:
        """Yield, for each variable after ``first``: it, the one before, and how it is drawn.

        The order is a depth-first walk over the first tree. A variable is drawn anew from its own
        uniform only when the deepest tree that could hold a pair of it does; otherwise
        the rank of the variable before goes on. Always the uniform of the variable before is the
        condition. That is what the library does, faithful to no vine, and what the published
        benchmark data are made of.
        """
        root = self.trees[0].centre
        leaves = [j for j in range(len(self.marginals) - 1, -1, -1) if j not in (root, first)]
        order = [first, *([] if first == root else [root]), *leaves]
        for k in range(1, len(order)):
            variable, previous = order[k], order[k - 1]
            found = [self._copula(level, variable, order[:k]) for level in range(min(k, _N_TREES))]
            starts_anew = k <= _N_TREES and found[-1] is not None
            yield variable, previous, starts_anew, [c for c in reversed(found) if c is not None]

    def _copula(self, level: int, variable: int, visited: list[int]) -> PairCopula | None:
        """Return the copula of ``variable`` in a tree if all that it involves was visited."""
        if level == 0:
            pair = {variable, visited[-1]}
            leaf = pair - {self.trees[0].centre}
            return self.trees[0].copulas[leaf.pop()] if len(leaf) == 1 else None
        found = self.trees[level].pair_of(variable)
        if found is None:
            return None
        pair, copula = found
        centres = {tree.centre for tree in self.trees[:level]}
        return copula if pair | centres <= {variable, *visited} else None


def _kendall(a: Array, b: Array) -> float:
    """Return Kendall's tau, 0 where one of the two is constant."""
    return float(np.nan_to_num(kendalltau(a, b).statistic))


def _strongest_first(variables: list[int], taus: list[float]) -> list[int]:
    """Sort variables by decreasing absolute tau."""
    # One more entry, always last, as in the library, whose sort is not stable.
    strengths = np.append(-10.0, np.abs(taus))
    order = np.argsort(strengths)[::-1][:-1] - 1
    return [variables[i] for i in order]


def _inside(p: Array) -> Array:
    """Replace exact 0 and 1, from which no inverse leads back."""
    return np.where(p <= 0, EPSILON, np.where(p >= 1, 1 - EPSILON, p))
