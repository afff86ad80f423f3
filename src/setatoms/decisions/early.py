"""Decide about rows before all models have been asked.

A number that no error of a model lowers is largest if all models not asked yet leave infinitely
much of a row. If it is below the limit even so, nothing that they would say changes the decision.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = NDArray[np.intp]

# Below the limit by less than this share, rounding might decide otherwise.
_CLOSE = 1e-9


def find_beyond(
    limit: float,
    n_rows: int,
    n_models: int,
    ask: Callable[[int, Places], Array],
    combine: Callable[[Places, Array], Array],
) -> Mask:
    """Tell which rows (n_rows,) have a number above the limit, given the errors of all models.

    Rows that are certain to be below it after half of the models, or three quarters, are not given
    to the others.

    Parameters
    ----------
    limit : float
        What the number of a row is compared with.
    n_rows, n_models : int
        How many there are.
    ask : callable
        ``ask(k, rows)`` returns the errors (n,) that model k leaves of these rows.
    combine : callable
        ``combine(rows, errors)`` returns the numbers (n,) of these rows, of errors (n_models, n).
        A larger error never gives a smaller number.

    Examples
    --------
    >>> errors = np.array([[0.0, 9.0, 2.0], [1.0, 9.0, 9.0]])
    >>> find_beyond(
    ...     3.0, 3, 2, lambda k, rows: errors[k, rows], lambda rows, errors: errors.min(axis=0))
    array([False,  True, False])
    """
    open_rows, errors = np.arange(n_rows), np.full((n_models, n_rows), np.inf)
    n_asked, numbers = 0, np.full(n_rows, np.inf)
    for n_known in sorted({-(-n_models // 2), -(-3 * n_models // 4), n_models}):
        for k in range(n_asked, n_known):
            errors[k] = ask(k, open_rows)
        n_asked, numbers = n_known, combine(open_rows, errors)
        if n_asked < n_models:
            uncertain = ~(numbers < limit - _CLOSE * abs(limit))
            open_rows, errors = open_rows[uncertain], errors[:, uncertain]
            if not len(open_rows):
                return np.zeros(n_rows, np.bool_)
    beyond = np.zeros(n_rows, np.bool_)
    beyond[open_rows] = numbers > limit
    return beyond
