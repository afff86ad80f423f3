"""From the scores of a detector to decisions: labels, p-values, calibration."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from setatoms import decisions
from setatoms.estimators.lazily import is_dask, lazily

Scores = NDArray[np.float64]


class DecidesByScore(OutlierMixin):
    """A detector that flags low scores; `fit` writes `offset_` and `calibration_scores_`."""

    contamination: Any
    offset_: float
    calibration_scores_: Scores | None
    fit: Any

    @abstractmethod
    def score_samples(self, X: Any) -> Scores:
        """Return the scores of rows: the lower, the more abnormal."""

    @lazily
    def decision_function(self, X: Any) -> Scores:
        """Return ``score_samples(X) - offset_``, negative for outliers.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The same features in the same order as in `fit`.

        Returns
        -------
        decision : ndarray of shape (n_samples,)
            How far each score is above the threshold.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any, fdr: float | None = None) -> NDArray[np.int_]:
        """Return -1 for outliers and 1 for all other rows.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The same features in the same order as in `fit`.
        fdr : float, optional
            The share of false alarms among the flagged rows to accept, between 0 and 1. The
            threshold is then not `offset_` but comes from the p-values of all rows of `X`, by
            Benjamini and Hochberg's rule; it may flag none.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            -1 where `decision_function` is negative; with `fdr`, where the p-value is small enough.
        """
        if fdr is None:
            return self._decided(X)
        if is_dask(X):
            raise ValueError(
                f"fdr={fdr} looks at the p-values of all rows at once; compute p_values(X) and "
                "give them to setatoms.decisions.benjamini_hochberg"
            )
        decisions.check_level("fdr", fdr)
        return np.where(decisions.benjamini_hochberg(self.p_values(X), fdr), -1, 1)

    @lazily
    def _decided(self, X: Any) -> NDArray[np.int_]:
        return np.where(self._is_flagged(X), -1, 1)

    def _is_flagged(self, X: Any) -> NDArray[np.bool_]:
        """Tell which rows (n_samples,) have a negative decision function."""
        return np.asarray(self.decision_function(X) < 0)

    def fit_predict(self, X: Any, y: object = None, sample_weight: Any = None) -> NDArray[np.int_]:
        """Fit to `X` and return -1 for the outliers among its rows and 1 for all others.

        The same as ``fit(X).predict(X)``. With a float `contamination` that is the share of rows
        flagged. With "auto" the threshold is that for *unseen* rows; training rows score better
        than those, so that usually fewer than 5 % of the normal ones are flagged.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            Rows to learn from and to judge.
        y : Ignored
            Present for API consistency.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts in `fit`; rows of weight 0 are judged like all others.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            -1 where `decision_function` is negative.

        Examples
        --------
        >>> import numpy as np
        >>> from setatoms import VectorAtomDetector
        >>> X = np.random.default_rng(0).normal(size=(200, 4))
        >>> labels = VectorAtomDetector(contamination=0.05, random_state=0).fit_predict(X)
        >>> int((labels == -1).sum())
        10
        """
        return self.fit(X, y, sample_weight).predict(X)

    def calibrate(self, X: Any) -> Self:
        """Let p-values compare with normal rows that took no part in the fit.

        With such rows p-values hold exactly, whatever the model, and with any `contamination`.
        Dictionary, scores and `offset_` stay as they are; the next `fit` forgets the calibration.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            Normal rows, the same features in the same order as in `fit`. The smallest p-value
            will be ``1 / (n_samples + 1)``.

        Returns
        -------
        self : object
            The calibrated detector.
        """
        self.calibration_scores_ = np.sort(self.score_samples(X))
        return self

    @lazily
    def p_values(self, X: Any) -> Scores:
        """Return how probable a normal row is to score as low as each row.

        The p-value of a row is its rank among ``n`` normal rows outside the fit, from
        ``1 / (n + 1)`` to 1. These are the rows given to `calibrate`, or else the training rows,
        as `fit` with ``contamination="auto"`` judges them: by models that did not learn from them.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The same features in the same order as in `fit`; not the training rows themselves,
            whose p-values are too large.

        Returns
        -------
        p_values : ndarray of shape (n_samples,)
            Small for abnormal rows. A row's p-value does not depend on the others.
        """
        check_is_fitted(self)
        if self.calibration_scores_ is None:
            raise ValueError(
                f"p-values need scores of rows outside the fit, and contamination="
                f"{self.contamination!r} gives none; call calibrate(X) with normal rows that were "
                "not in fit, or fit with contamination='auto'"
            )
        return decisions.conformal_p_values(self.score_samples(X), self.calibration_scores_)
