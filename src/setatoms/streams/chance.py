"""Random numbers that are a function of a seed and the number of a row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Increment and multipliers of SplitMix64 (Steele, Lea, Flood, 2014).
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_PLACES = 2.0**-53


def uniforms(seed: int, purpose: int, numbers: NDArray[np.int64]) -> Array:
    """Return a number (n,) inside (0, 1) for each row of these `numbers` (n,).

    Parameters
    ----------
    seed : int
        That of the stream, at least 0.
    purpose : int
        What they are for: numbers for different purposes are independent.
    numbers : ndarray of shape (n,)
        Which rows, or what else is counted.

    Examples
    --------
    >>> import numpy as np
    >>> few, many = uniforms(7, 0, np.arange(3)), uniforms(7, 0, np.arange(100_000))
    >>> bool((few == many[:3]).all()), round(float(many.mean()), 2)
    (True, 0.5)
    """
    with np.errstate(over="ignore"):
        base = _mix(np.array([seed], np.uint64) * _STEP + np.uint64(purpose))
        mixed = _mix(base + numbers.astype(np.uint64) * _STEP)
    return np.asarray(((mixed >> np.uint64(11)).astype(np.float64) + 0.5) * _PLACES)


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))
