"""What a row would have to be to look normal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from setatoms.explain.html_form import counterfactual_html
from setatoms.explain.panel import Panel, mean_rows
from setatoms.explain.refill import refill_each, settle
from setatoms.explain.selecting import LabelledRows, Positions, import_pandas
from setatoms.explain.text_form import counterfactual_text

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, repr=False)
class Counterfactual(LabelledRows):
    """Rows with their worst columns replaced by what the others imply.

    Rows are chosen by position, ``found[3]``, and by the labels of the frame they came from,
    ``found.loc["pump 7"]``; what comes of it is of the same kind.

    Attributes
    ----------
    rows : ndarray of shape (n_samples, n_features)
        The rows in their own units; all other entries are as given.
    columns : list of tuple of str
        The columns replaced in each row, the most helpful first.
    score_before, score_after : ndarray of shape (n_samples,)
        Minus `score_samples` of the rows as given and as they are here: higher is more anomalous.
    flagged_before, flagged_after : ndarray of shape (n_samples,)
        Whether these scores are beyond the threshold.
    given : ndarray of shape (n_samples, n_features)
        The rows as they were, NaN where values were missing.
    places : list of tuple of int
        The numbers of `columns`.
    names : tuple of str
        What all columns are called.
    index : pandas Index or ndarray of shape (n_samples,)
        The labels of the rows: the index of the frame, otherwise their numbers.
    seen : mapping of str to (float, float)
        The smallest and the largest value of each column that were learned from.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms import GaussianAtomDetector
    >>> depth = np.random.default_rng(0).normal(size=(300, 1))
    >>> noise = 0.1 * np.random.default_rng(1).normal(size=(300, 3))
    >>> detector = GaussianAtomDetector(random_state=0).fit(depth * [1, 2, -1] + noise)
    >>> found = detector.counterfactual([[1.0, 2.0, -1.0], [1.0, 2.0, 1.0]])
    >>> found[1]
    Counterfactual of 1 row, 1 flagged before and 0 after
      row  score          replaced
      1    6.1... -> 0.3...  x2 1 -> -0.97
    """

    rows: Array
    columns: list[tuple[str, ...]]
    score_before: Array
    score_after: Array
    flagged_before: Mask
    flagged_after: Mask
    given: Array
    places: list[tuple[int, ...]]
    names: tuple[str, ...]
    index: Any
    seen: Mapping[str, tuple[float, float]]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        """Return the highest scores and what was replaced, in a few lines."""
        return counterfactual_text(self)

    def _repr_html_(self) -> str:
        """Return a table with bars for what was observed and what replaced it, for notebooks."""
        return counterfactual_html(self)

    def replaced(self, i: int) -> list[tuple[str, float, float]]:
        """Return the columns replaced in row `i`: their names, the values before and after.

        Parameters
        ----------
        i : int
            The position of the row, from 0.
        """
        before, after = self.given[i].tolist(), self.rows[i].tolist()
        return [(self.names[j], before[j], after[j]) for j in self.places[i]]

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a frame, with the labels of rows and columns."""
        pd = import_pandas("Counterfactual.frame")
        return pd.DataFrame(self.rows, index=self.index, columns=self.names)

    def _take(self, at: Positions) -> Counterfactual:
        return replace(
            self,
            rows=self.rows[at],
            columns=[self.columns[i] for i in at],
            score_before=self.score_before[at],
            score_after=self.score_after[at],
            flagged_before=self.flagged_before[at],
            flagged_after=self.flagged_after[at],
            given=self.given[at],
            places=[self.places[i] for i in at],
            index=self.index[at],
        )


def replace_worst(
    panel: Panel,
    table: Array,
    signals: Sequence[Array],
    k: int,
    score: Callable[[Array], Array],
    threshold: float,
) -> Counterfactual:
    """Replace `k` columns of each row, chosen one after the other.

    Each time the column is taken whose refill, together with those taken before, leaves the
    smallest error. This finds the columns that are wrong and not those that only look wrong
    because a neighbour is.

    Parameters
    ----------
    panel : Panel
        The fitted model. Of several dictionaries each fills in its own values, and the means of
        these are taken.
    table : ndarray of shape (n_samples, n_features)
        The rows in their own units, NaN where missing.
    signals : sequence of ndarray of shape (n_samples, n_features)
        The same rows as each dictionary sees them, missing entries filled.
    k : int
        How many columns to replace, at least one and fewer than there are.
    score : callable
        From rows in their own units to scores, higher for more anomalous ones.
    threshold : float
        Scores above it are anomalies.
    """
    missing = np.isnan(table)
    free, order = missing.copy(), np.full((len(table), k), -1)
    filled = [Z.copy() for Z in signals]
    for step in range(k):
        order[:, step] = _replace_next(panel, filled, free)
        pairs = zip(panel.dictionaries, filled, strict=True)
        filled = [settle(dictionary, Z, free, panel.n_jobs) for dictionary, Z in pairs]
    rows = np.where(free & ~missing, panel.in_own_units(mean_rows(filled)), table)
    return _compared(table, rows, order, panel.names, score, threshold)


def replace_by_implied(
    table: Array,
    k: int,
    imply: Callable[[Array], Array],
    score: Callable[[Array], Array],
    threshold: float,
    names: Sequence[str],
) -> Counterfactual:
    """Replace `k` columns of each row by what the others imply, one after the other.

    Each time the column is taken whose replacement, together with those before, leaves the lowest
    score. Columns replaced before are missing when others are to imply something.

    Parameters
    ----------
    table : ndarray of shape (n_samples, n_features)
        The rows in their own units, NaN where missing.
    k : int
        How many columns to replace, at least one and fewer than there are.
    imply : callable
        From rows to what the other columns imply for each entry, both in their own units.
    score : callable
        From rows in their own units to scores, higher for more anomalous ones.
    threshold : float
        Scores above it are anomalies.
    names : sequence of str
        What the columns are called.
    """
    missing, rows = np.isnan(table), table.copy()
    free, order = missing.copy(), np.full((len(table), k), -1)
    each = np.arange(len(table))
    for step in range(k):
        implied = imply(np.where(free, np.nan, rows))
        after = np.where(free, np.inf, score_replaced(rows, implied, score))
        chosen = np.argmin(after, axis=1)
        at = each[(~free).sum(axis=1) > 1]
        rows[at, chosen[at]] = implied[at, chosen[at]]
        free[at, chosen[at]] = True
        order[at, step] = chosen[at]
    # with all of them missing, each of those replaced is implied by what was never wrong
    rows = np.where(free & ~missing, imply(np.where(free, np.nan, rows)), table)
    return _compared(table, rows, order, names, score, threshold)


def score_replaced(
    table: Array, implied: Array, score: Callable[[Array], Array]
) -> NDArray[np.float64]:
    """Return the scores (n, n_features) of rows with one entry each replaced by what is implied.

    Parameters
    ----------
    table : ndarray of shape (n, n_features)
        The rows as they are.
    implied : ndarray of shape (n, n_features)
        What to put in place of each entry.
    score : callable
        ``score(rows)`` returns one number for each row.
    """
    scores = np.empty(table.shape)
    for j in range(table.shape[1]):
        rows = table.copy()
        observed = ~np.isnan(table[:, j])
        rows[observed, j] = implied[observed, j]
        scores[:, j] = score(rows)
    return scores


def _compared(
    table: Array,
    rows: Array,
    order: NDArray[np.intp],
    names: Sequence[str],
    score: Callable[[Array], Array],
    threshold: float,
) -> Counterfactual:
    """Score rows before and after columns were replaced, in this order (n, k), -1 for none."""
    before, after = score(table), score(rows)
    places = [tuple(j for j in row if j >= 0) for row in order.tolist()]
    return Counterfactual(
        rows=rows,
        columns=[tuple(names[j] for j in row) for row in places],
        score_before=before,
        score_after=after,
        flagged_before=before > threshold,
        flagged_after=after > threshold,
        given=table.copy(),
        places=places,
        names=tuple(names),
        index=np.arange(len(table)),
        seen={},
    )


def _replace_next(panel: Panel, filled: Sequence[Array], free: Mask) -> NDArray[np.intp]:
    """Refill the best column of each row of `filled` and mark it `free`, both in place.

    Returns its number, or -1 where only one observed column is left to imply anything.
    """
    pairs = zip(panel.dictionaries, filled, strict=True)
    refilled = [refill_each(dictionary, Z, free, panel.n_jobs) for dictionary, Z in pairs]
    errors = np.array([each.errors.ravel() for each in refilled])
    chosen = np.argmin(panel.combination.combine(errors).reshape(free.shape), axis=1)
    rows = np.flatnonzero((~free).sum(axis=1) > 1)
    for Z, each in zip(filled, refilled, strict=True):
        Z[rows, chosen[rows]] = each.values[rows, chosen[rows]]
    free[rows, chosen[rows]] = True
    numbers = np.full(len(free), -1)
    numbers[rows] = chosen[rows]
    return numbers


def check_count(k: int, n_features: int) -> None:
    """Raise a ValueError unless `k` of the columns can be replaced.

    Parameters
    ----------
    k : int
        How many columns to replace.
    n_features : int
        How many there are.
    """
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or not 1 <= k < n_features:
        raise ValueError(
            f"k={k!r} must be a whole number of columns, at least 1 and below the {n_features} "
            "there are: the others say what to replace them by"
        )
