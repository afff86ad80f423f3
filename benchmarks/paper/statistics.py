"""What is computed from the areas and errors of many datasets: ranks, ratios, tests, intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import bootstrap, rankdata, wilcoxon

Array = NDArray[np.float64]

_N_RESAMPLES = 10_000
_SEED = 0


@dataclass(frozen=True)
class Interval:
    """A mean over datasets with its bootstrap confidence interval."""

    mean: float
    low: float
    high: float
    n_datasets: int


def rank_among(value: float | None, others: Sequence[float | None]) -> float:
    """Return the rank of `value` among itself and `others`: 1 for the largest, ties averaged.

    ``None`` stands for a method that failed: worse than any that did not, tied with those that
    failed too.

    Examples
    --------
    >>> rank_among(0.9, [0.8, 0.95, None])
    2.0
    >>> rank_among(0.9, [0.9])
    1.5
    """
    ranks = rankdata([math.inf if area is None else -area for area in (value, *others)])
    return float(ranks[0])


def improvement_ratio(adaptive: float, fixed: float) -> float:
    r"""Return the share of the possible improvement in ROC AUC that was reached.

    .. math:: (\alpha_1 - \alpha_0) / (1 - \alpha_0),

    1 when both areas are 1, minus infinity when a perfect area was lost.

    Parameters
    ----------
    adaptive : float
        The area :math:`\alpha_1` of the adaptive method.
    fixed : float
        The area :math:`\alpha_0` of its twin with fixed radii.

    Examples
    --------
    >>> round(improvement_ratio(0.95, 0.9), 12)
    0.5
    """
    if fixed == 1:
        return 1.0 if adaptive == 1 else -math.inf
    return (adaptive - fixed) / (1 - fixed)


def signed_rank(differences: ArrayLike) -> float:
    """Return the p-value of Wilcoxon's two-sided signed-rank test over datasets.

    Parameters
    ----------
    differences : array-like of shape (n_datasets,)
        One paired difference per dataset. The ranks of zeros are split evenly between both signs,
        as Demšar (2006) advises for comparisons of classifiers.

    Returns
    -------
    float
        1 when every difference is zero.
    """
    d = np.asarray(differences, np.float64)
    if not np.any(d):
        return 1.0
    return float(wilcoxon(d, zero_method="zsplit").pvalue)


def holm(p_values: ArrayLike) -> Array:
    """Return the p-values of a family of tests after Holm's step-down correction.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)

    Returns
    -------
    ndarray of shape (n_tests,)
        In the order given; the smallest is multiplied by n_tests, the next by n_tests - 1, and so
        on, none below the one before it, none above 1.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    factors = np.arange(len(p), 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return adjusted


def bootstrap_mean(values: ArrayLike, *, level: float = 0.95) -> Interval:
    """Return the mean over datasets with its percentile bootstrap interval.

    Datasets are drawn with replacement, always by the same random numbers, so that the same store
    gives the same interval.

    Parameters
    ----------
    values : array-like of shape (n_datasets,)
        One value per dataset, at least one.
    level : float, default=0.95
        The share of the resampled means that lies inside.

    Returns
    -------
    Interval
    """
    v = np.asarray(values, np.float64)
    if v.size == 0:
        raise ValueError("values is empty, but a mean needs at least one dataset")
    mean = float(v.mean())
    if v.size == 1:  # the only value there is to draw
        return Interval(mean, mean, mean, 1)
    drawn = bootstrap(
        (v,),
        np.mean,
        n_resamples=_N_RESAMPLES,
        confidence_level=level,
        method="percentile",
        rng=np.random.default_rng(_SEED),
    ).confidence_interval
    return Interval(mean, float(drawn.low), float(drawn.high), int(v.size))
