r"""From the errors of several models to one score of a row.

Errors of different models are not on one scale: a model with more or wider atoms leaves less. A
rule divides them by units learned from the training rows and then pools what is left. With the unit
:math:`u_k` of model :math:`k`, the median of its errors on the training rows, most rules pool the
ratios :math:`\|r_k\| / u_k`, so that 1 is the error of a typical training row, whatever the models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# A model that is exact on most rows must not drown the others: its unit is at least this share of
# the largest.
_LEAST_UNIT = 1e-3
# Far beyond any real ratio, and sums over models stay inside the float range.
_LARGEST_RATIO = 1e300


@dataclass(frozen=True)
class CombiningRule:
    """How to bring the errors of models to one scale, and how to pool them.

    Parameters
    ----------
    scale : callable
        From errors (n_models, n_samples) of the training rows and the kind of each model to the
        unit of each (n_models,), not negative.
    weigh : callable
        From ratios (n_models, n_samples) to the weight of each, which sum to one over models.
    """

    scale: Callable[[Array, Sequence[str]], Array]
    weigh: Callable[[Array], Array]


@dataclass(frozen=True)
class PerFeature:
    """One model alone: its error over the root of the number of features.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    """

    n_features: int

    def combine(self, errors: Array) -> Array:
        """Return the errors (1, n_samples) of the model per feature (n_samples,)."""
        return np.asarray(errors[0] / np.sqrt(self.n_features))

    def shares(self, errors: Array) -> Array:
        """Return ones: it is all its own."""
        return np.ones_like(errors)


@dataclass(frozen=True)
class Combination:
    """A rule with the units it has learned.

    Parameters
    ----------
    rule : str
        One of `RULES`.
    units : ndarray of shape (n_models,)
        What the errors of each model are divided by.
    """

    rule: str
    units: Array

    @classmethod
    def learn(cls, rule: str, errors: Array, kinds: Sequence[str]) -> Combination:
        """Take units from errors (n_models, n_samples) on the training rows.

        Examples
        --------
        >>> import numpy as np
        >>> errors = np.array([[1.0, 2.0, 9.0], [10.0, 20.0, 30.0]])
        >>> Combination.learn("mean", errors, ["cone", "cone"]).combine(errors)
        array([0.5, 1. , 3. ])
        """
        units = RULES[rule].scale(errors, kinds)
        largest = units.max()
        return cls(rule, np.maximum(units, _LEAST_UNIT * largest) if largest > 0 else units + 1.0)

    def combine(self, errors: Array) -> Array:
        """Return one number per row (n_samples,) from the errors (n_models, n_samples)."""
        ratios = self._ratios(errors)
        return _add_up(RULES[self.rule].weigh(ratios) * ratios)

    def shares(self, errors: Array) -> Array:
        """Return which share of the number of a row each model has (n_models, n_samples)."""
        ratios = self._ratios(errors)
        # relative to the largest, as a sum of huge and of tiny ones has the same shares
        peaks = ratios.max(axis=0)
        parts = RULES[self.rule].weigh(ratios) * (ratios / np.where(peaks > 0, peaks, 1.0))
        totals = _add_up(parts)
        return np.where(totals > 0, parts / np.where(totals > 0, totals, 1.0), 1.0 / len(parts))

    def _ratios(self, errors: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.minimum(errors / self.units[:, None], _LARGEST_RATIO)


def _add_up(parts: Array) -> Array:
    """Return the sum over models of parts (n_models, n_samples), in their order.

    NumPy adds up a single column in another order, and a row's score must not depend on others.
    """
    total = np.zeros(parts.shape[1])
    for part in parts:
        total += part
    return total


def own_median(errors: Array, _kinds: Sequence[str]) -> Array:
    """Return the median error of each model."""
    return np.asarray(np.median(errors, axis=1))


def median_of_kind(errors: Array, kinds: Sequence[str]) -> Array:
    """Return, for each model, the mean of the medians of all models of its kind."""
    medians, names = np.median(errors, axis=1), np.array(kinds)
    return np.array([medians[names == kind].mean() for kind in kinds])


def no_unit(errors: Array, _kinds: Sequence[str]) -> Array:
    """Return ones: errors are added as they are."""
    return np.ones(len(errors))


def alike(ratios: Array) -> Array:
    """Return equal weights."""
    return np.full(ratios.shape, 1.0 / len(ratios))


def middle(ratios: Array) -> Array:
    """Weigh the ratio in the middle, or the two, as the median does."""
    n_models = len(ratios)
    return _between(ratios, (n_models - 1) // 2, n_models // 2 + 1)


def upper_half(ratios: Array) -> Array:
    """Weigh the larger half of the ratios alike: rows that some models cannot represent."""
    return _between(ratios, len(ratios) // 2, len(ratios))


def lower_half(ratios: Array) -> Array:
    """Weigh the smaller half of the ratios alike: rows that no model can represent."""
    return _between(ratios, 0, -(-len(ratios) // 2))


def lower_quarter(ratios: Array) -> Array:
    """Weigh the smallest quarter of the ratios alike."""
    return _between(ratios, 0, -(-len(ratios) // 4))


def least(ratios: Array) -> Array:
    """Weigh the smallest ratio alone."""
    return _between(ratios, 0, 1)


def _between(ratios: Array, start: int, stop: int) -> Array:
    """Weigh the ratios from one place to another, in increasing order, alike."""
    order = np.argsort(ratios, axis=0, kind="stable")
    weights = np.zeros(ratios.shape)
    np.put_along_axis(weights, order[start:stop], 1.0 / (stop - start), axis=0)
    return weights


RULES: dict[str, CombiningRule] = {
    "lower-half": CombiningRule(own_median, lower_half),
    "mean": CombiningRule(own_median, alike),
    "mean-by-kind": CombiningRule(median_of_kind, alike),
    "plain-mean": CombiningRule(no_unit, alike),
    "median": CombiningRule(own_median, middle),
    "upper-half": CombiningRule(own_median, upper_half),
    "lower-quarter": CombiningRule(own_median, lower_quarter),
    "least": CombiningRule(own_median, least),
}
