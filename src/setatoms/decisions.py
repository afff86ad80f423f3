r"""Where to draw the line between normal and abnormal scores.

Scores follow scikit-learn: the lower, the more abnormal, and a row is flagged when its score is
*below* the offset. Scores of this library are minus an error, so they are at most 0.

The rows a model was fitted on score too well. With :math:`p` free parameters and :math:`n` rows,
least squares leaves the squared error :math:`\sigma^2 (1 - p/n)` on its own rows and
:math:`\sigma^2 (1 + p/n)` on unseen ones. Cross-fitting in two halves sees
:math:`\sigma^2 (1 + 2p/n)`: honest, but about models of half the rows, so too pessimistic for the
model of all rows, badly so on small tables. The three differ by multiples of one unknown, so the
one we need lies a third of the way back from the cross-fitted value to the training value:

.. math::
    1 + p/n = \tfrac{1}{3} (1 - p/n) + \tfrac{2}{3} (1 + 2p/n)

`unseen_offset` applies this to the squares of the two quantiles.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
Rows = NDArray[np.intp]

UNSEEN_SHARE = 0.05


def share_offset(scores: Scores, share: float) -> float:
    """Return the offset below which `share` of the `scores` (n_samples,) lie.

    Examples
    --------
    >>> import numpy as np
    >>> scores = -np.arange(1.0, 11.0)
    >>> int(np.sum(scores < share_offset(scores, 0.2)))
    2
    """
    return float(np.quantile(scores, share))


def cross_fit(
    fit_scores: Callable[[Rows, Rows], Scores], n_samples: int, rng: np.random.Generator
) -> Scores:
    """Score every row by a model fitted on the half of the rows it is not in.

    Parameters
    ----------
    fit_scores : callable
        ``fit_scores(train, test)`` fits on the rows `train` and returns the scores of the rows
        `test`, both given as increasing indices.
    n_samples : int
        Number of rows, at least two.
    rng : numpy.random.Generator
        Draws the halves.

    Returns
    -------
    scores : ndarray of shape (n_samples,)
    """
    order = rng.permutation(n_samples)
    first, second = np.sort(order[: n_samples // 2]), np.sort(order[n_samples // 2 :])
    scores = np.empty(n_samples)
    scores[second] = fit_scores(first, second)
    scores[first] = fit_scores(second, first)
    return scores


def unseen_offset(training: Scores, cross_fitted: Scores, share: float = UNSEEN_SHARE) -> float:
    """Estimate the offset below which `share` of unseen normal rows score.

    Parameters
    ----------
    training : ndarray of shape (n_samples,)
        Scores of the training rows by the model of all rows.
    cross_fitted : ndarray of shape (n_samples,)
        Scores of the same rows by models of half the rows that had not seen them.
    share : float, default=0.05
        The share of unseen rows to flag.

    Returns
    -------
    offset : float
        Minus the root of a third of the squared training quantile and two thirds of the squared
        cross-fitted one.
    """
    optimistic = share_offset(training, share)
    pessimistic = share_offset(cross_fitted, share)
    # hypot and not squares: scores may be huge
    return -float(np.hypot(optimistic * np.sqrt(1 / 3), pessimistic * np.sqrt(2 / 3)))
