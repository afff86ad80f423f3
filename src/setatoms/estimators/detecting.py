"""Detect by representation error: the part that all detectors share, of one dictionary or many."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from setatoms import decisions
from setatoms.estimators.base import AtomEstimator
from setatoms.estimators.deciding import DecidesByScore
from setatoms.estimators.missing import complete, keep_observed, measure, open_gaps
from setatoms.estimators.recipes import Lesson
from setatoms.estimators.standardize import Standardizer, reject_overflow, warn_constant
from setatoms.estimators.tables import read_table
from setatoms.explain import (
    Counterfactual,
    Dictionary,
    Explanation,
    Panel,
    explain_rows,
    mean_rows,
    replace_worst,
)
from setatoms.explain.panel import Combines
from setatoms.learning.atoms import ConeAtoms, GaussianAtoms, VectorAtoms
from setatoms.progress import Progress

Array = NDArray[np.float64]
Scores = NDArray[np.float64]
Rows = NDArray[np.intp]

_SLAB_ROWS = 1 << 16


class ErrorDetector(DecidesByScore, AtomEstimator):
    """A detector whose score is how well dictionaries represent a row."""

    @abstractmethod
    def _keep(self, lesson: Any, learned: Any) -> None:
        """Write what a lesson has learned to this object."""

    @abstractmethod
    def _dictionaries(self) -> tuple[Dictionary, ...]:
        """Return what was learned as explanations want it."""

    @abstractmethod
    def _combination(self) -> Combines:
        """Return how errors of the dictionaries become minus the score."""

    def _compare(self, errors: Array) -> None:
        """Learn what `_combination` needs from errors (n_dictionaries, n) of training rows."""

    def _trial_lesson(self, n_samples: int, n_features: int) -> Any:
        """Return a cheaper lesson that stands for that of this detector in comparisons."""
        return self._recipe(n_samples, n_features).shortened()

    def _fit(self, X: Any) -> None:
        table = read_table(self, X, fitting=True)
        self.n_samples_fit_ = len(table)
        table = keep_observed(table, self._names())
        recipe = self._recipe(*table.shape)
        if self.standardize:
            warn_constant(table, self._names())
        # separate streams: the dictionary does not depend on how the threshold is found
        model_rng, fold_rng = self._generator().spawn(2)
        auto = isinstance(self.contamination, str)
        n_steps = recipe.n_steps + (recipe.shortened().n_steps if auto else 0)
        with Progress(n_steps, type(self).__name__, enabled=bool(self.verbose)) as progress:
            training = self._learn(table, recipe, model_rng, progress.advance)
            if auto:
                cross_fitted = self._cross_fit(table, recipe, fold_rng, progress)
                self.offset_ = decisions.unseen_offset(training, cross_fitted)
                self.calibration_scores_ = decisions.unseen_scores(training, cross_fitted)
            else:
                self.offset_ = decisions.share_offset(training, self.contamination)
                self.calibration_scores_ = None

    def _learn(
        self,
        table: Array,
        recipe: Lesson,
        rng: np.random.Generator,
        on_step: Callable[[float, str], None],
    ) -> Scores:
        """Learn from the rows of a table and return their scores."""
        if self.standardize:
            # half of the rows may hold no value of a column: the units of all rows serve there
            known = getattr(self, "standardizer_", None)
            self.standardizer_ = Standardizer.learn(table, self._names()).completed(known)
        else:
            reject_overflow(table, self._names())
            self.standardizer_ = Standardizer.identity(table.shape[1])
        signals, missing = open_gaps(self.standardizer_.apply(table))
        self._keep(recipe, recipe.learn(signals, rng, on_step, missing))
        errors = self._errors(table)
        self._compare(errors)
        return -self._combination().combine(errors)

    def _cross_fit(
        self, table: Array, recipe: Lesson, rng: np.random.Generator, progress: Progress
    ) -> decisions.CrossFitted:
        # the two halves together must not take longer than the fit itself
        quick = recipe.shortened()

        def fit_scores(train: Rows, test: Rows) -> tuple[Scores, Scores]:
            half = copy(self)
            # a step on half the rows takes half as long
            seen = half._learn(
                table[train], quick, rng, lambda _, note: progress.advance(0.5, note)
            )
            return seen, half._score(table[test])

        return decisions.cross_fit(fit_scores, len(table), rng)

    def _score(self, table: Array) -> Scores:
        scores = np.empty(len(table))
        for part, errors in self._slabs(table):
            scores[part] = -self._combination().combine(errors)
        return scores

    def _errors(self, table: Array) -> Array:
        """Return the representation errors (n_dictionaries, n) of rows."""
        return np.concatenate([errors for _, errors in self._slabs(table)], axis=1)

    def _slabs(self, table: Array) -> Iterator[tuple[slice, Array]]:
        """Yield rows and their errors, few enough for memory not to grow with the table."""
        dictionaries = self._dictionaries()
        for start in range(0, len(table), _SLAB_ROWS):
            part = slice(start, start + _SLAB_ROWS)
            Z = self.standardizer_.apply(table[part])
            yield part, np.array([measure(dictionary, Z) for dictionary in dictionaries])

    def _panel(self) -> Panel:
        return Panel(self._dictionaries(), self._combination())

    def _completed(self, table: Array, part: str) -> list[Array]:
        """Return the `signals` or `values` of rows, gaps closed by each dictionary."""
        Z = self.standardizer_.apply(table)
        return [getattr(complete(dictionary, Z), part) for dictionary in self._dictionaries()]

    def _dictionary_of(
        self, kind: GaussianAtoms | ConeAtoms | VectorAtoms, atoms: Array, radii: Array
    ) -> Dictionary:
        """Return atoms with the units and names of the columns."""
        names = self._names()
        if names is None:
            names = [f"x{j}" for j in range(self.n_features_in_)]
        return Dictionary(
            kind=kind,
            atoms=atoms,
            radii=radii,
            in_own_units=self.standardizer_.restore,
            names=tuple(map(str, names)),
            n_jobs=self.n_jobs,
        )

    def impute(self, X: Any) -> NDArray[np.float64]:
        """Return `X` with missing values replaced by what the other values of the row imply.

        Takes ``missing="fill"``; otherwise NaN is an error here too.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The same features in the same order as in `fit`, NaN where values are missing.

        Returns
        -------
        filled : ndarray of shape (n_samples, n_features)
            In the units of `X`. Observed values are as given, bit for bit; a row without any
            becomes the mean row.
        """
        check_is_fitted(self)
        table = read_table(self, X, fitting=False)
        values = mean_rows(self._completed(table, "values"))
        return np.where(np.isnan(table), self.standardizer_.restore(values), table)

    def score_samples(self, X: Any) -> Scores:
        r"""Return minus how large the representation error of each row is.

        That of one dictionary is per feature, :math:`\|r\| / \sqrt{m}`; an ensemble combines
        those of its members by its `rule`.

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

    def explain(self, X: Any, top: int | None = 3, rank: str = "contribution") -> Explanation:
        """Say which columns make rows abnormal, and what was expected there.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The same features in the same order as in `fit`.
        top : int or None, default=3
            How many columns to list for each row, the most responsible first; None lists all.
        rank : {"contribution", "refill"}, default="contribution"
            What makes a column responsible: its share of the squared error, or by how much the
            score falls when the column is refilled from the others. The second finds broken
            relations better, above all with cones and vectors, and takes about ten times as long
            for each column.

        Returns
        -------
        explanation : Explanation
            With `records`, `sentences` and `frame`. What it says of a row does not depend on the
            others.
        """
        check_is_fitted(self)
        table = read_table(self, X, fitting=False)
        return explain_rows(
            self._panel(),
            table,
            self._completed(table, "signals"),
            -self._score(table),
            -self.offset_,
            top=top,
            rank=rank,
        )

    def counterfactual(self, X: Any, k: int = 1) -> Counterfactual:
        """Replace the `k` worst columns of each row by what the other columns imply.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The same features in the same order as in `fit`.
        k : int, default=1
            How many columns to replace: those whose refill lowers the score most, chosen one after
            the other.

        Returns
        -------
        counterfactual : Counterfactual
            With `rows`, `columns` and the scores before and after.
        """
        check_is_fitted(self)
        table = read_table(self, X, fitting=False)
        return replace_worst(
            self._panel(),
            table,
            self._completed(table, "signals"),
            k,
            lambda rows: -self._score(rows),
            -self.offset_,
        )
