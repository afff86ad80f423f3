r"""One score from several views of a row.

- *relation*: the representation errors of the dictionaries. Each is calibrated on its own; the
  mean of the smaller half of those of each kind is taken, then the mean over kinds.
- *size*: the root mean square of the standardised values.
- *rarity*: the distance to near training rows and how dense these are, half each; see
  `setatoms.views.neighbours`.

Every measure is a logarithm, brought to robust standard deviations :math:`z` by
`setatoms.views.calibration`. With the weights 4, 1 and 1, or those of the views that were chosen,
the number of a row is

.. math::
    \sqrt{\frac{\sum_v w_v \, s(z_v)^2}{\sum_v w_v}}, \quad s(z) = \tfrac{1}{2} \log(1 + e^{2z})

so views that find nothing unusual hardly count, and none can make up for another.

*Rows beyond what was learned.* The learned range of a column is that of the training rows,
extended by three quarters of the distance from the median to either end, and at least by one
standard deviation. The number of a row that is outside by :math:`e` standard deviations in total
is raised to at least :math:`4 \min(e, 1)` and then grows by :math:`\log(1 + e)`. From
:math:`e = 20` on it is :math:`25 + \log(1 + e - 20)`, more than any other row can have: an anomaly
whatever its relations. A constant column that differs counts 20 more.

Relations are never asked further out than training rows reached: a longer row is shortened to that
length, and its error grows in proportion. So a set-atom, which may turn the more freely the longer
a row is, cannot follow a far row wherever it goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms.views.calibration import LARGEST, LEAST_SPREAD, Calibration
from setatoms.views.elementwise import log_at_least, log_of_one_plus, rise
from setatoms.views.neighbours import Neighbours

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

VIEWS = ("relation", "size", "rarity")
# That of the paper: what a row leaves unrepresented, and nothing else.
RELATION_ALONE = ("relation",)
WEIGHTS = {"relation": 4.0, "size": 1.0, "rarity": 1.0}
# The measures behind each view, and their order.
_MEASURES = {"relation": (0,), "size": (1,), "rarity": (2, 3)}
_SHARPNESS = 2.0
# So many standard deviations outside, a row is abnormal whatever else is: at least this number.
_CLEARLY, _LEAST_NUMBER = 1.0, 4.0
# And here it has a number that no other row has.
BEYOND, _NUMBER_BEYOND = 20.0, LARGEST + 5.0
_WIDENING = 0.75
_LEAST_MARGIN = 1.0
# Smaller errors, sizes and distances are nothing.
_LEAST_ERROR, _LEAST_DISTANCE = 1e-4, 1e-2
_LEAST_FACTOR = 1e-9
# Relations are in robust standard deviations already. Where columns are few, most rows leave next
# to nothing, and any that leave a little would seem to leave a lot.
_LEAST_SPREADS = np.array([0.5, LEAST_SPREAD, LEAST_SPREAD, LEAST_SPREAD])
MOST_OUTCASTS = 500
# This many rows are a group.
_FEW = 4


class Inside(NamedTuple):
    """Rows brought to where training rows were.

    Attributes
    ----------
    rows : ndarray of shape (n, n_features)
        With every value inside the learned range; NaN where missing.
    short : ndarray of shape (n, n_features)
        The same, no longer than training rows: what dictionaries may be asked about.
    factors : ndarray of shape (n,)
        By how much rows were shortened, at least 1.
    sizes : ndarray of shape (n,)
        Root mean square of the values of `rows`.
    excess : ndarray of shape (n, n_features)
        By how much each value was outside the range; 20 more if its column was constant.
    """

    rows: Array
    short: Array
    factors: Array
    sizes: Array
    excess: Array

    def take(self, places: NDArray[np.intp]) -> Inside:
        """Return some of the rows."""
        return Inside(*(each[places] for each in self))


class Judged(NamedTuple):
    """What the views say of rows.

    Attributes
    ----------
    numbers : ndarray of shape (n,)
        How abnormal each row is.
    measures : ndarray of shape (4, n)
        Relation, size, distance and density in robust standard deviations.
    outside : ndarray of shape (n,)
        Whether the row is clearly outside the learned range.
    """

    numbers: Array
    measures: Array
    outside: Mask


@dataclass(frozen=True)
class Guard:
    """What scoring by several views needs to know of the training rows.

    Parameters
    ----------
    views : tuple of str
        Which views count.
    least, most : ndarray of shape (n_features,)
        The smallest and the largest value of each column that was learned from, standardised.
    low, high : ndarray of shape (n_features,)
        The learned range of each column, in standardised units.
    longest : float
        The largest root mean square of the values of a training row.
    groups : tuple of str
        The kind of each dictionary.
    errors : Calibration
        Of the errors of each dictionary.
    measures : Calibration
        Of relation, size, distance and density.
    neighbours : Neighbours
        Training rows to compare with.
    outcasts : ndarray of shape (n_features, n_outcasts)
        Training rows that had no say in learning, inside the learned range; a sample of them.
    """

    views: tuple[str, ...]
    least: Array
    most: Array
    low: Array
    high: Array
    longest: float
    groups: tuple[str, ...]
    errors: Calibration
    measures: Calibration
    neighbours: Neighbours
    outcasts: Array

    @classmethod
    def learn(
        cls,
        views: Sequence[str],
        Z: Array,
        filled: Array,
        groups: Sequence[str],
        errors: Array,
        rng: np.random.Generator,
        n_jobs: int | None,
        reach: Reach | None = None,
    ) -> tuple[Guard, Judged]:
        """Learn from training rows; return also what the views say of them.

        Parameters
        ----------
        views : sequence of str
            Which views count.
        Z : ndarray of shape (n_samples, n_features)
            Standardised training rows, NaN where missing.
        filled : ndarray of shape (n_samples, n_features)
            The same without gaps.
        groups : sequence of str
            The kind of each dictionary.
        errors : ndarray of shape (n_dictionaries, n_samples)
            What each dictionary leaves of the rows.
        rng : numpy.random.Generator
            Draws the rows to keep.
        n_jobs : int or None
            Threads; results do not depend on it.
        reach : Reach, optional
            How far all training rows reach, if Z are some of them.
        """
        reach = reach or Reach.of(Z)
        low, high = learned_range(Z, reach)
        neighbours = Neighbours.learn(filled, rng, n_jobs)
        logs = log_at_least(errors, _LEAST_ERROR)
        of_errors = Calibration.learn(logs)
        sizes = row_sizes(Z)
        around = neighbours.measure(Z, n_jobs)
        relation = combine_groups(of_errors.apply(logs), groups)
        values = _log_measures(relation, sizes, around, Z.shape[1])
        guard = cls(
            views=tuple(views),
            least=reach.least,
            most=reach.most,
            low=low,
            high=high,
            longest=reach.longest,
            groups=tuple(groups),
            errors=of_errors,
            measures=Calibration.learn(values, _LEAST_SPREADS),
            neighbours=neighbours,
            outcasts=np.empty((Z.shape[1], 0)),
        )
        z = guard.measures.apply(values)
        return guard, Judged(guard._combine(z), z, np.zeros(len(Z), np.bool_))

    def bring_inside(self, Z: Array) -> Inside:
        """Bring standardised rows Z (n, n_features) to where training rows were."""
        rows = np.clip(np.ascontiguousarray(Z), self.low, self.high)
        sizes = row_sizes(rows)
        factors = np.maximum(sizes / self.longest, 1.0) if self.longest > 0 else np.ones(len(Z))
        short = rows / factors[:, None]
        excess = np.where(np.isnan(Z), 0.0, np.abs(Z - rows))
        excess[(excess > 0) & (self.low == self.high)] += BEYOND
        return Inside(rows, short, factors, sizes, excess)

    def judge(self, inside: Inside, errors: Array, around: Array) -> Judged:
        """Combine the views of rows.

        Parameters
        ----------
        inside : Inside
            The rows.
        errors : ndarray of shape (n_dictionaries, n)
            What dictionaries leave of the short rows.
        around : ndarray of shape (2, n)
            What the neighbours measure of the rows.
        """
        relation = self._relation(errors * inside.factors)
        values = _log_measures(relation, inside.sizes, around, inside.rows.shape[1])
        z = self.measures.apply(values)
        excess = inside.excess.sum(axis=1)
        return Judged(raise_outside(self._combine(z), excess), z, excess >= _CLEARLY)

    def judge_unseen(self, judged: Judged, errors: Array) -> Array:
        """Return the numbers (n,) that rows would have if dictionaries left other `errors`.

        Parameters
        ----------
        judged : Judged
            What the views say of training rows.
        errors : ndarray of shape (n_dictionaries, n)
            What the dictionaries would leave of rows like these that they have not learned from.
        """
        scale = Calibration(self.measures.middle[:1], self.measures.spread[:1])
        relation = scale.apply(self._relation(errors)[None])
        return self._combine(np.vstack([relation, judged.measures[1:]]))

    def _relation(self, errors: Array) -> Array:
        """Return one number for each row (n,) from the errors (n_dictionaries, n)."""
        logs = log_at_least(errors, _LEAST_ERROR)
        return combine_groups(self.errors.apply(logs), self.groups)

    def remembering(self, Z: Array) -> Guard:
        """Return this guard with rows Z (n, n_features) that had no say in learning.

        There should be at most `MOST_OUTCASTS`.
        """
        rows = np.where(np.isnan(Z), 0.0, self.bring_inside(Z).rows)
        return replace(self, outcasts=np.ascontiguousarray(rows.T))

    def among_outcasts(self, inside: Inside) -> Mask:
        """Tell which rows (n,) lie closer to a few outcasts than to the rows learned from."""
        n_outcasts = self.outcasts.shape[1]
        if n_outcasts < _FEW:
            return np.zeros(len(inside.rows), np.bool_)
        others = Neighbours(self.outcasts, np.zeros(n_outcasts), np.zeros(n_outcasts))
        near = others.distances(inside.rows, _FEW - 1)
        return near < self.neighbours.distances(inside.rows, _FEW - 1)

    def parts(self, measures: Array) -> Array:
        """Return the part of each of all views (n_views, n) in the number of rows inside.

        Parts are proportional to the squares and add up to the number.
        """
        squares = weighted_squares(measures, self._weights)
        numbers = _root_of_sum(squares)
        return np.asarray(squares / np.maximum(numbers, _LEAST_FACTOR))

    def _combine(self, measures: Array) -> Array:
        return combine_views(measures, self._weights)

    @property
    def _weights(self) -> dict[str, float]:
        return {view: WEIGHTS[view] for view in self.views}


def combine_views(measures: Array, weights: Mapping[str, float]) -> Array:
    """Return the numbers (n,) of rows inside the learned range.

    Parameters
    ----------
    measures : ndarray of shape (4, n)
        Relation, size, distance and density in robust standard deviations.
    weights : dict
        How much each view counts; one without a weight counts nothing.
    """
    return _root_of_sum(weighted_squares(measures, weights))


def weighted_squares(measures: Array, weights: Mapping[str, float]) -> Array:
    """Return the weighted squares (n_views, n) of what the views say of rows."""
    total = sum(weights.values())
    squares = np.zeros((len(VIEWS), measures.shape[1]))
    for place, view in enumerate(VIEWS):
        if view in weights:
            each = [rise(measures[i], _SHARPNESS) ** 2 for i in _MEASURES[view]]
            squares[place] = weights[view] / total * (sum(each) / len(each))
    return squares


def raise_outside(numbers: Array, excess: Array) -> Array:
    """Return the numbers (n,) of rows that are outside the learned range by `excess` (n,).

    Parameters
    ----------
    numbers : ndarray of shape (n,)
        How unusual the rows are once brought back to the border.
    excess : ndarray of shape (n,)
        How far outside they are, in standard deviations added up over the columns; 0 inside.

    Examples
    --------
    >>> import numpy as np
    >>> raise_outside(np.full(4, 2.0), np.array([0.0, 1.0, 20.0, 1e6])).round(2).tolist()
    [2.0, 4.69, 25.0, 38.82]
    """
    raised = np.maximum(numbers, _LEAST_NUMBER * np.minimum(excess / _CLEARLY, 1.0))
    near = raised + log_of_one_plus(np.minimum(excess, BEYOND))
    far = _NUMBER_BEYOND + log_of_one_plus(np.maximum(excess - BEYOND, 0.0))
    return np.where(excess < BEYOND, near, far)


def _root_of_sum(squares: Array) -> Array:
    # spelled out: a sum over an axis may round differently for a single row
    return np.asarray(np.sqrt(squares[0] + squares[1] + squares[2]))


class Reach(NamedTuple):
    """How far rows reach.

    Attributes
    ----------
    least, most : ndarray of shape (n_features,)
        The ends of each column.
    longest : float
        The size of the longest row.
    """

    least: Array
    most: Array
    longest: float

    @classmethod
    def of(cls, Z: Array) -> Reach:
        """Return how far standardised rows Z (n, n_features) reach."""
        # a column may have no value at all
        ends = (np.fmin.reduce(Z, axis=0), np.fmax.reduce(Z, axis=0))
        return cls(*ends, float(row_sizes(Z).max(initial=0.0)))

    def joined(self, other: Reach) -> Reach:
        """Return how far both reach."""
        return Reach(
            np.fmin(self.least, other.least),
            np.fmax(self.most, other.most),
            max(self.longest, other.longest),
        )


def learned_range(Z: Array, reach: Reach | None = None) -> tuple[Array, Array]:
    """Return the range (n_features,) that standardised training rows stand for.

    They reach further than Z, if Z are some of them.

    Examples
    --------
    >>> import numpy as np
    >>> learned_range(np.array([[-2.0], [0.0], [4.0]]))
    (array([-3.5]), array([7.]))
    """
    least, most, _ = reach or Reach.of(Z)
    middle, known = (least + most) / 2, ~np.isnan(Z).all(axis=0)
    middle[known] = np.clip(np.nanmedian(Z[:, known], axis=0), least[known], most[known])
    varies = most > least
    below = np.maximum(_WIDENING * (middle - least), _LEAST_MARGIN)
    above = np.maximum(_WIDENING * (most - middle), _LEAST_MARGIN)
    # a constant column has no unit to be off by
    return np.where(varies, least - below, least), np.where(varies, most + above, most)


def row_sizes(Z: Array) -> Array:
    """Return the root mean square (n,) of what is observed in rows Z (n, n_features).

    Examples
    --------
    >>> import numpy as np
    >>> row_sizes(np.array([[3.0, 4.0], [np.nan, 2.0], [np.nan, np.nan]])).round(3).tolist()
    [3.536, 2.0, 0.0]
    """
    observed = ~np.isnan(Z)
    squares = np.where(observed, Z, 0.0) ** 2
    return np.asarray(np.sqrt(squares.sum(axis=1) / np.maximum(observed.sum(axis=1), 1)))


def combine_groups(z: Array, groups: Sequence[str]) -> Array:
    """Return the mean over groups of the mean of the smaller half of each (n_samples,).

    Parameters
    ----------
    z : ndarray of shape (n_dictionaries, n_samples)
        Calibrated errors.
    groups : sequence of str
        The kind of each dictionary: of one kind, all may be fooled at once.
    """
    names = list(dict.fromkeys(groups))
    total = np.zeros(z.shape[1])
    for name in names:
        members = np.sort(z[[i for i, group in enumerate(groups) if group == name]], axis=0)
        n_taken = -(-len(members) // 2)
        half = np.zeros(z.shape[1])
        for member in members[:n_taken]:
            half += member
        total += half / n_taken
    return np.asarray(total / len(names))


def _log_measures(relation: Array, sizes: Array, around: Array, n_features: int) -> Array:
    """Stack the measures (4, n); relations are logarithms already."""
    distances, factors = around[0] / np.sqrt(n_features), around[1]
    return np.stack(
        [
            relation,
            log_at_least(sizes, _LEAST_DISTANCE),
            log_at_least(distances, _LEAST_DISTANCE),
            log_at_least(factors, _LEAST_FACTOR),
        ]
    )
