r"""How unusual a score is: p-values from the scores of normal rows outside the fit.

A conformal p-value is the rank of a row among :math:`n` calibration rows,
:math:`p = (1 + \#\{c_i \leq s\}) / (1 + n)`. If the row is normal, that is, exchangeable with the
calibration rows, then :math:`P(p \leq \alpha) \leq \alpha` for every :math:`\alpha`, whatever the
model. The smallest p-value is :math:`1 / (n + 1)`: few calibration rows give coarse p-values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Scores = NDArray[np.float64]


def conformal_p_values(scores: ArrayLike, calibration: ArrayLike) -> Scores:
    """Return the share of calibration scores as low or lower, counting the row itself.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        The lower, the more abnormal.
    calibration : array-like of shape (n_calibration,)
        Scores of normal rows that took no part in the fit, in any order.

    Returns
    -------
    p_values : ndarray of shape (n_samples,)
        At least ``1 / (n_calibration + 1)``, at most 1; small for abnormal rows.

    Examples
    --------
    >>> from setatoms.decisions import conformal_p_values
    >>> conformal_p_values([-9.0, -2.5, -0.5], calibration=[-4.0, -3.0, -2.0, -1.0])
    array([0.2, 0.6, 1. ])
    """
    known = np.sort(np.asarray(calibration, dtype=np.float64))
    below = np.searchsorted(known, np.asarray(scores, dtype=np.float64), side="right")
    return (1 + below) / (1 + len(known))
