r"""Where to draw the line between normal and abnormal scores.

Scores follow scikit-learn: the lower, the more abnormal, and a row is flagged when its score is
*below* the offset. Scores of this library are minus an error, so they are at most 0.

The rows a model was fitted on score too well, so a threshold for unseen rows needs rows that took
no part in the fit. Two halves of the table, each scored by the model of the other, are such rows;
but their models had half the data, so their scores are too bad, badly so on small tables. Both
faults shrink in proportion to one over the number of rows, which lets each correct the other.

*By rank*, where the training scores reach far enough. If the unseen rows of a half exceed a
threshold that a share :math:`\alpha` of the seen ones exceed with the share :math:`\beta`, all rows
together make half the way: on a tail that falls exponentially, :math:`\sqrt{\alpha \beta}` of the
training rows lie beyond the threshold that the share :math:`\beta` of unseen rows will exceed.

*By value*, where they do not, because atoms have learned single rows. With :math:`p` parameters
and :math:`n` rows, least squares leaves the squared error :math:`\sigma^2 (1 - p/n)` on its own
rows, :math:`\sigma^2 (1 + p/n)` on unseen rows, and :math:`\sigma^2 (1 + 2p/n)` on unseen rows of
halves. We know the first and the third and want the second, which is a third of the first and two
thirds of the third.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
Rows = NDArray[np.intp]

UNSEEN_SHARE = 0.05
_LONGER_TAIL = 1.15


class CrossFitted(NamedTuple):
    """Every row as the model of the other half of the rows sees it.

    Attributes
    ----------
    scores : ndarray of shape (n_samples,)
        Its score.
    ranks : ndarray of shape (n_samples,)
        The share of the rows that this model was fitted on which score as low or lower.
    """

    scores: Scores
    ranks: Scores


def share_offset(scores: Scores, share: float) -> float:
    """Return the offset below which `share` of the `scores` (n_samples,) lie.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Lower is more abnormal.
    share : float
        The share of them to flag.

    Examples
    --------
    >>> import numpy as np
    >>> scores = -np.arange(1.0, 11.0)
    >>> int(np.sum(scores < share_offset(scores, 0.2)))
    2
    """
    return float(np.quantile(scores, share))


def draw_halves(n_samples: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Return the increasing indices of two random halves of the rows.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    rng : numpy.random.Generator
        Draws the halves.
    """
    order = rng.permutation(n_samples)
    return np.sort(order[: n_samples // 2]), np.sort(order[n_samples // 2 :])


def cross_fit(
    fit_scores: Callable[[Rows, Rows], tuple[Scores, Scores]],
    n_samples: int,
    rng: np.random.Generator,
) -> CrossFitted:
    """Score every row by a model fitted on the half of the rows it is not in.

    Parameters
    ----------
    fit_scores : callable
        ``fit_scores(train, test)`` fits on the rows `train` and returns the scores of both, `train`
        and `test`, which are given as increasing indices.
    n_samples : int
        Number of rows, at least two.
    rng : numpy.random.Generator
        Draws the halves.
    """
    halves = draw_halves(n_samples, rng)
    scores, ranks = np.empty(n_samples), np.empty(n_samples)
    for train, test in (halves, halves[::-1]):
        seen, scores[test] = fit_scores(train, test)
        ranks[test] = np.searchsorted(np.sort(seen), scores[test], side="right") / len(seen)
    return CrossFitted(scores, ranks)


def unseen_offset(
    training: Scores, cross_fitted: CrossFitted, share: float = UNSEEN_SHARE
) -> float:
    """Estimate the offset below which `share` of unseen normal rows score.

    Parameters
    ----------
    training : ndarray of shape (n_samples,)
        Scores of the training rows by the model of all rows.
    cross_fitted : CrossFitted
        The same rows seen by models of half the rows.
    share : float, default=0.05
        The share of unseen rows to flag.
    """
    return unseen_quantile(unseen_scores(training, cross_fitted), share)


def unseen_quantile(unseen: Scores, share: float = UNSEEN_SHARE) -> float:
    """Return the offset below which a new normal row scores with probability `share`.

    Parameters
    ----------
    unseen : ndarray of shape (n_samples,)
        What `unseen_scores` returns.
    share : float, default=0.05
        The share of unseen rows to flag.
    """
    return float(np.quantile(unseen, share, method="weibull"))


def unseen_errors(seen: Scores, cross_fitted: Scores, weight: float) -> Scores:
    """Estimate what models would leave of the training rows had they not learned from them.

    Squares of both are averaged, as above. Where atoms are many for the rows, as they often are,
    the rows that were learned from say nothing of others: their weight is 0.

    Parameters
    ----------
    seen : ndarray of shape (n_models, n_samples)
        Errors of the models of all rows.
    cross_fitted : ndarray of shape (n_models, n_samples)
        Errors of models of half the rows on the other half.
    weight : float
        That of `seen`, from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> unseen_errors(np.array([[0.0, 3.0]]), np.array([[3.0, 3.0]]), 0.0).tolist()
    [[3.0, 3.0]]
    """
    # hypot and not squares: errors may be huge
    return np.hypot(seen * np.sqrt(weight), cross_fitted * np.sqrt(1.0 - weight))


def bulk_quantile(unseen: Scores, share: float = UNSEEN_SHARE) -> float:
    """Return the offset below which a new normal row scores with probability `share`.

    Only the better three quarters of `unseen` are looked at, so that anomalies among the others do
    not count: the tail is taken to fall exponentially from the median on, by a half to the quarter,
    and a bit longer than that, as tails of clean tables do.

    Parameters
    ----------
    unseen : ndarray of shape (n_samples,)
        What `unseen_scores` returns.
    share : float, default=0.05
        The share of unseen rows to flag.
    """
    quarter, middle = np.quantile(unseen, (0.25, 0.5))
    return float(middle - _LONGER_TAIL * np.log2(0.5 / share) * (middle - quarter))


def unseen_scores(training: Scores, cross_fitted: CrossFitted) -> Scores:
    """Estimate the scores that as many unseen normal rows would get, in increasing order.

    Parameters
    ----------
    training : ndarray of shape (n_samples,)
        Scores of the training rows by the model of all rows.
    cross_fitted : CrossFitted
        The same rows seen by models of half the rows.
    """
    n_samples = len(training)
    shares = np.arange(1, n_samples + 1) / (n_samples + 1)
    optimistic, pessimistic = np.sort(training), np.sort(cross_fitted.scores)
    levels = np.sort(cross_fitted.ranks)
    by_rank = np.interp(np.sqrt(levels * shares), shares, optimistic)
    # hypot and not squares: scores may be huge
    by_value = -np.hypot(optimistic * np.sqrt(1 / 3), pessimistic * np.sqrt(2 / 3))
    return np.sort(np.where(levels * (n_samples // 2) >= 1, by_rank, by_value))
