"""What several views say of rows: which kind of fault, which columns, what was expected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

RELATION = "broken relation"
EXTREME = "extreme value"
FAR = "far out"
GROUP = "small group"
ALONE = "isolated"
VIEW_NAMES = ("relation", "size", "rarity")
OUTSIDE = "outside"
KINDS = (RELATION, EXTREME, FAR, GROUP, ALONE)

# One column in four, two at most, are few.
_FEW_SHARE, _MOST_FEW = 4, 2
# The share of what is unusual that one or two columns have if the row as a whole is not far out.
_MOST_OF_IT = 0.8


class Range(NamedTuple):
    """The range of the values learned from.

    Attributes
    ----------
    least, most : ndarray of shape (n_features,)
        The ends, in the columns' own units.
    """

    least: Array
    most: Array

    def by_name(self, names: Sequence[str]) -> dict[str, tuple[float, float]]:
        """Return both ends for each name of a column, except where no value was known."""
        ends = zip(names, self.least.tolist(), self.most.tolist(), strict=True)
        return {name: (least, most) for name, least, most in ends if least <= most}


@dataclass(frozen=True)
class Evidence:
    """What is known of rows beside their codes.

    Parameters
    ----------
    rows : ndarray of shape (n, n_features)
        Standardised, inside the learned range; NaN where missing.
    factors : ndarray of shape (n,)
        By how much they were shortened before they were coded.
    implied : ndarray of shape (n, n_features)
        What the other columns imply for each, standardised.
    excess : ndarray of shape (n, n_features)
        By how much each value is outside the learned range.
    outside : ndarray of shape (n,)
        Whether the row is clearly outside, which is then what makes it abnormal.
    parts : ndarray of shape (3, n)
        The parts of relation, size and rarity in the score of a row inside.
    grouped : ndarray of shape (n,)
        Whether the row is one of a small group.
    unseen : ndarray of shape (n, n_features)
        Which values are beyond all that were learned from.
    seen : Range
        What was learned from.
    drops : ndarray of shape (n, n_features), optional
        By how much the score falls when a column is replaced by what the others imply.
    """

    rows: Array
    factors: Array
    implied: Array
    excess: Array
    outside: Mask
    parts: Array
    grouped: Mask
    unseen: Mask
    seen: Range
    drops: Array | None = None

    def part(self, some: slice) -> Evidence:
        """Return the evidence on some of the rows."""
        return Evidence(
            self.rows[some],
            self.factors[some],
            self.implied[some],
            self.excess[some],
            self.outside[some],
            self.parts[:, some],
            self.grouped[some],
            self.unseen[some],
            self.seen,
            None if self.drops is None else self.drops[some],
        )

    def shares(self, relation: Array) -> Array:
        """Return the share (n, n_features) of each column in what is unusual.

        Parameters
        ----------
        relation : ndarray of shape (n, n_features)
            The share of each column in the representation error.

        Notes
        -----
        Of a row inside the learned range this is the mean of that share and of the column's share
        in the squared distance from what the others imply: the first knows the atoms, the second
        is not misled by a code that follows the faulty value. Of a row outside, it is the share in
        how far the row is outside.
        """
        inside = (relation + squared_shares(self._deviations())) / 2
        beyond = np.where(self.outside, self.excess.sum(axis=1), 1.0)
        return np.where(self.outside[:, None], self.excess / beyond[:, None], inside)

    def parts_by_name(self, i: int, score: float) -> dict[str, float]:
        """Return the parts of row `i` in its score, which they add up to."""
        parts = self.parts[:, i].tolist()
        beyond = score - sum(parts) if self.excess[i].any() else 0.0
        return dict(zip(VIEW_NAMES, parts, strict=True)) | {OUTSIDE: beyond}

    def kinds(self) -> list[str]:
        """Return the kind of fault of each row."""
        leading = self.parts.argmax(axis=0)
        sizes = np.where(np.isnan(self.rows), 0.0, self.rows)
        few = np.where(self.outside, self._unseen_in_few(), _of_few(sizes**2, _few(sizes.shape[1])))
        kinds = np.array([RELATION, FAR, ALONE], dtype=object)[leading]
        # alone because two values, or one, do not go with the others
        kinds[(kinds == ALONE) & _of_few(self._deviations() ** 2, _MOST_FEW)] = RELATION
        kinds[self.outside] = FAR
        kinds[(kinds == FAR) & few] = EXTREME
        kinds[(kinds != EXTREME) & self.grouped] = GROUP
        return [str(kind) for kind in kinds]

    def _deviations(self) -> Array:
        """Return how far values (n, n_features) are from what the others imply, 0 where missing."""
        return np.where(np.isnan(self.rows), 0.0, self.rows - self.implied)

    def _unseen_in_few(self) -> Mask:
        """Tell which rows (n,) are beyond what was learned from in one or two columns alone."""
        return np.asarray(self.unseen.sum(axis=1) <= _few(self.unseen.shape[1]))


def squared_shares(deviations: Array) -> Array:
    """Return the share of each column in the squared norms of `deviations` (n, n_features).

    Examples
    --------
    >>> squared_shares(np.array([[3e200, 4e200], [0.0, 0.0]]))
    array([[0.36, 0.64],
           [0.5 , 0.5 ]])
    """
    peaks = np.abs(deviations).max(axis=1, keepdims=True)
    exact = peaks == 0
    # relative to the largest entry, as squares may be beyond the range of floats
    squares = np.where(exact, 1.0, deviations / np.where(exact, 1.0, peaks)) ** 2
    return np.asarray(squares / squares.sum(axis=1, keepdims=True))


def _of_few(amounts: Array, few: int) -> Mask:
    """Tell in which rows a few of the amounts (n, n_features) are nearly all there is."""
    largest = np.sort(amounts, axis=1)[:, -few:].sum(axis=1)
    return np.asarray(largest >= _MOST_OF_IT * amounts.sum(axis=1))


def _few(n_features: int) -> int:
    return min(max(n_features // _FEW_SHARE, 1), _MOST_FEW)
