"""Weights of rows: a row of weight 3 is learned from as if it stood in the table three times."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_FEWEST_ROWS = 2
# Weights with a larger mean are hardly meant as counts, and the table would hardly fit.
_MOST_COPIES = 1_000


def repeat_rows(table: Array, weights: Any, rng: np.random.Generator) -> Array:
    """Return each row of `table` (n_samples, n_features) as often as its weight says.

    Parameters
    ----------
    table : ndarray of shape (n_samples, n_features)
        The rows.
    weights : array-like of shape (n_samples,) or None
        At least 0; None leaves the table as it is.
    rng : numpy.random.Generator
        Decides on fractions.

    Examples
    --------
    >>> import numpy as np
    >>> repeat_rows(np.array([[1.0], [2.0], [3.0]]), [2, 0, 1], np.random.default_rng(0)).tolist()
    [[1.0], [1.0], [3.0]]
    """
    if weights is None:
        return table
    copies = count_copies(check_weights(weights, len(table)), rng)
    if copies.sum() < _FEWEST_ROWS:
        raise ValueError(
            f"sample_weight leaves {copies.sum()} of {len(table)} rows, and learning takes at "
            "least two: a weight is how often a row counts, so multiply weights that sum to 1 by "
            "the number of rows"
        )
    return np.repeat(table, copies, axis=0)


def count_copies(weights: Array, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return how often each row counts: its weight (n_samples,), rounded up or down.

    Sums of the weights in random order are rounded, so that the total is that of the weights to
    the next whole number, and the expected number of copies of a row is its weight.

    Examples
    --------
    >>> import numpy as np
    >>> copies = count_copies(np.full(10, 1.5), np.random.default_rng(0))
    >>> int(copies.sum()), sorted(set(copies.tolist()))
    (15, [1, 2])
    """
    whole = np.floor(weights)
    fractions = weights - whole
    copies = whole.astype(np.intp)
    if fractions.any():
        order = rng.permutation(len(weights))
        sums = np.floor(np.cumsum(fractions[order]) + rng.random())
        copies[order] += np.diff(sums, prepend=0.0).astype(np.intp)
    return copies


def check_weights(weights: Any, n_samples: int) -> Array:
    """Return weights as numbers (n_samples,), if they can be."""
    checked = np.asarray(weights, dtype=np.float64)
    if checked.shape != (n_samples,):
        raise ValueError(
            f"sample_weight has shape {checked.shape}, and X has {n_samples} rows; give one weight "
            "for each row"
        )
    if not np.isfinite(checked).all() or (checked < 0).any():
        wrong = int(np.argmax(~(np.isfinite(checked) & (checked >= 0))))
        raise ValueError(
            f"sample_weight[{wrong}]={checked[wrong]:g} is no number from 0 on; a weight is how "
            "often a row counts, and 0 leaves it out"
        )
    if not checked.any():
        raise ValueError("sample_weight is zero for all rows; give those to learn from a weight")
    if checked.sum() > _MOST_COPIES * n_samples:
        raise ValueError(
            f"sample_weight has the mean {checked.mean():g}: a weight is how often a row counts; "
            "divide weights by their mean"
        )
    return checked
