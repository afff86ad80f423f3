"""How much rows of the past count."""

from __future__ import annotations

import math


def fading(n_rows: float, half_life: float | None) -> float:
    """Return what is left of the weight of a row after `n_rows` more rows.

    Parameters
    ----------
    n_rows : float
        How many rows came after it.
    half_life : float or None
        Rows after which a row counts half; None forgets nothing.

    Examples
    --------
    >>> fading(500, half_life=1_000) ** 2, fading(500, half_life=None)
    (0.5000000000000001, 1.0)
    """
    return 1.0 if half_life is None else 2.0 ** (-n_rows / half_life)


def count_past(n_rows: int, half_life: float | None) -> float:
    """Return the weight of `n_rows` consecutive rows, the last of which counts as one.

    Parameters
    ----------
    n_rows : int
        How many rows.
    half_life : float or None
        Rows after which a row counts half; None forgets nothing.

    Examples
    --------
    >>> count_past(10, None), round(count_past(1_000_000, 100), 1)
    (10.0, 144.8)
    """
    if half_life is None:
        return float(n_rows)
    rate = math.log(2.0) / half_life
    return math.expm1(-rate * n_rows) / math.expm1(-rate)
