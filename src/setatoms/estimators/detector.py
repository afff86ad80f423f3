"""Detect by representation error: the part that all detectors share."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from setatoms import decisions
from setatoms.estimators.base import AtomEstimator
from setatoms.estimators.recipes import Recipe
from setatoms.estimators.standardize import Standardizer, reject_overflow, warn_constant
from setatoms.estimators.tables import read_table
from setatoms.progress import Progress

Scores = NDArray[np.float64]
Rows = NDArray[np.intp]

_SLAB_ROWS = 1 << 16


class AtomDetector(OutlierMixin, AtomEstimator):
    """A detector whose score is how well the atoms represent a row."""

    def _fit(self, X: Any) -> None:
        table = read_table(self, X, fitting=True)
        recipe = self._recipe(*table.shape)
        if self.standardize:
            warn_constant(table, self._names())
        # separate streams: the dictionary does not depend on how the threshold is found
        model_rng, fold_rng = self._generator().spawn(2)
        auto = isinstance(self.contamination, str)
        n_steps = recipe.n_steps + (recipe.shortened().n_steps if auto else 0)
        with Progress(n_steps, type(self).__name__, enabled=bool(self.verbose)) as progress:
            self._learn(table, recipe, model_rng, progress.advance)
            training = self._score(table)
            if auto:
                self.offset_ = self._auto_offset(table, training, recipe, fold_rng, progress)
            else:
                self.offset_ = decisions.share_offset(training, self.contamination)

    def _learn(
        self,
        table: NDArray[np.float64],
        recipe: Recipe,
        rng: np.random.Generator,
        on_step: Callable[[float, str], None],
    ) -> None:
        if self.standardize:
            self.standardizer_ = Standardizer.learn(table, self._names())
        else:
            reject_overflow(table, self._names())
            self.standardizer_ = Standardizer.identity(table.shape[1])
        learned = recipe.learn(self.standardizer_.apply(table), rng, on_step)
        self.kind_ = recipe.kind
        self.components_ = learned.atoms
        self.radii_ = learned.radii
        self.history_ = learned.history

    def _auto_offset(
        self,
        table: NDArray[np.float64],
        training: Scores,
        recipe: Recipe,
        rng: np.random.Generator,
        progress: Progress,
    ) -> float:
        # the two halves together must not take longer than the fit itself
        quick = recipe.shortened()

        def fit_scores(train: Rows, test: Rows) -> tuple[Scores, Scores]:
            half = copy(self)
            # a step on half the rows takes half as long
            half._learn(table[train], quick, rng, lambda _, note: progress.advance(0.5, note))
            return half._score(table[train]), half._score(table[test])

        cross_fitted = decisions.cross_fit(fit_scores, len(table), rng)
        return decisions.unseen_offset(training, cross_fitted)

    def _score(self, table: NDArray[np.float64]) -> Scores:
        scores = np.empty(len(table))
        # slab by slab, so that the standardised copy does not grow with the table
        for start in range(0, len(table), _SLAB_ROWS):
            scores[start : start + _SLAB_ROWS] = self.kind_.errors(
                self._signals(table[start : start + _SLAB_ROWS]),
                self.components_,
                self.radii_,
                n_jobs=self.n_jobs,
            )
        scores /= -np.sqrt(table.shape[1])
        return scores

    def _signals(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rows of a table as the atoms see them."""
        return self.standardizer_.apply(table)

    def score_samples(self, X: Any) -> Scores:
        r"""Return minus the representation error per feature, :math:`-\|r\| / \sqrt{m}`.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The same features in the same order as in `fit`.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            At most 0; the lower, the more abnormal. A row's score does not depend on the others.
        """
        check_is_fitted(self)
        return self._score(read_table(self, X, fitting=False))

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

    def predict(self, X: Any) -> NDArray[np.int_]:
        """Return -1 for outliers and 1 for all other rows.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The same features in the same order as in `fit`.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            -1 where `decision_function` is negative.
        """
        return np.where(self.decision_function(X) < 0, -1, 1)
