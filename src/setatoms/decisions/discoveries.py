r"""Flag many rows at once, with a promise on the share of false alarms among them.

Benjamini and Hochberg's rule flags the :math:`k` rows of the smallest p-values, for the largest
:math:`k` with :math:`p_{(k)} \leq \alpha k / m` among :math:`m` rows. The expected share of normal
rows among the flagged ones is then at most :math:`\alpha`, also for conformal p-values, which share
their calibration rows.
"""

from __future__ import annotations

import numbers

import numpy as np
from numpy.typing import ArrayLike, NDArray

PValues = NDArray[np.float64]

# Conformal p-values often meet the bound exactly; rounding of the bound must not decide then.
_ROUNDING = 1e-12


def benjamini_hochberg(p_values: ArrayLike, level: float) -> NDArray[np.bool_]:
    """Tell which rows to flag so that few of them are false alarms.

    Parameters
    ----------
    p_values : array-like of shape (n_samples,)
        From 0 to 1; all rows among which to choose.
    level : float
        The share of normal rows among the flagged ones to accept, between 0 and 1.

    Returns
    -------
    flagged : ndarray of shape (n_samples,)
        True for the rows to flag; none at all where the evidence is too weak.

    References
    ----------
    Y. Benjamini, Y. Hochberg: Controlling the false discovery rate. JRSS B 57 (1995) 289-300.

    S. Bates, E. Candès, L. Lei, Y. Romano, M. Sesia: Testing for outliers with conformal p-values.
    Annals of Statistics 51 (2023) 149-178.

    Examples
    --------
    >>> from setatoms.decisions import benjamini_hochberg
    >>> benjamini_hochberg([0.01, 0.02, 0.3, 0.8], level=0.1)
    array([ True,  True, False, False])
    """
    values = _check_p_values(p_values)
    # a p-value of 0 always passes, so a cut of 0 flags none wrongly
    return values <= benjamini_hochberg_cut(values, level)


def benjamini_hochberg_cut(p_values: ArrayLike, level: float) -> float:
    """Return the largest p-value to flag, or 0 where no row is to be flagged.

    Parameters
    ----------
    p_values : array-like of shape (n_samples,)
        From 0 to 1; all rows among which to choose.
    level : float
        The share of normal rows among the flagged ones to accept, between 0 and 1.

    Examples
    --------
    >>> from setatoms.decisions import benjamini_hochberg_cut
    >>> benjamini_hochberg_cut([0.01, 0.02, 0.3, 0.8], level=0.1)
    0.02
    >>> benjamini_hochberg_cut([0.2, 0.3], level=0.1)
    0.0
    """
    values, counts = np.unique(_check_p_values(p_values), return_counts=True)
    return _cut(values, counts, level)


class PValueCounts:
    """Find the cut over a stream of conformal p-values, in memory that does not grow with it.

    With ``n_calibration`` calibration scores a p-value is one of ``k / (n_calibration + 1)``, so
    it is enough to count how often each occurs. Read the stream once to count and once more to
    flag the rows whose p-value is at most the cut.

    Parameters
    ----------
    n_calibration : int
        Number of calibration scores, ``len(detector.calibration_scores_)``.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms.decisions import PValueCounts
    >>> counts = PValueCounts(n_calibration=99)
    >>> for chunk in (np.array([0.01, 0.3]), np.array([0.02, 0.8])):
    ...     counts.add(chunk)
    >>> counts.cut(level=0.1)
    0.02
    """

    def __init__(self, n_calibration: int) -> None:
        if n_calibration < 1:
            raise ValueError(f"n_calibration={n_calibration!r} must be at least 1")
        self._counts: NDArray[np.int64] = np.zeros(n_calibration + 1, dtype=np.int64)

    def add(self, p_values: ArrayLike) -> None:
        """Count some rows.

        Parameters
        ----------
        p_values : array-like of shape (n_samples,)
            Their p-values, all of one calibration.
        """
        values, steps = _check_p_values(p_values), len(self._counts)
        ranks = np.rint(values * steps).astype(np.int64)
        if (ranks < 1).any() or not np.array_equal(ranks / steps, values):
            raise ValueError(
                f"p_values must be multiples of 1/{steps}, as with {steps - 1} calibration scores; "
                "count p-values of one calibration only"
            )
        self._counts += np.bincount(ranks - 1, minlength=steps)

    def merge(self, others: PValueCounts) -> None:
        """Count the rows that another one has counted, too.

        Parameters
        ----------
        others : PValueCounts
            Counts of the same calibration.
        """
        self._counts += others._counts

    def cut(self, level: float) -> float:
        """Return what `benjamini_hochberg_cut` returns on all rows counted so far.

        Parameters
        ----------
        level : float
            The share of normal rows among the flagged ones to accept, between 0 and 1.
        """
        (seen,) = np.nonzero(self._counts)
        return _cut((seen + 1) / len(self._counts), self._counts[seen], level)


def check_level(name: str, level: object) -> None:
    """Raise a ValueError where a level is none.

    Parameters
    ----------
    name : str
        What the caller calls it, for the message.
    level : object
        Should be a number between 0 and 1.
    """
    if not (isinstance(level, numbers.Real) and 0 < float(level) < 1):
        raise ValueError(
            f"{name}={level!r} must lie between 0 and 1: the share of false alarms to accept, "
            "such as 0.05"
        )


def _cut(values: PValues, counts: NDArray[np.int64], level: float) -> float:
    """Return the cut among increasing `values` that occur `counts` times."""
    check_level("level", level)
    reached = np.cumsum(counts)
    if not len(reached):
        return 0.0
    (passing,) = np.nonzero(values <= level * (1 + _ROUNDING) * reached / reached[-1])
    return float(values[passing[-1]]) if len(passing) else 0.0


def _check_p_values(p_values: ArrayLike) -> PValues:
    values = np.asarray(p_values, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"p_values has shape {values.shape}; give one p-value per row, in one row")
    # written so that NaN fails too
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError("p_values must lie from 0 to 1; pass p-values, not scores")
    return values
