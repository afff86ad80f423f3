"""Detect by representation error: the part that all detectors share, of one dictionary or many."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from setatoms import decisions
from setatoms.estimators.deciding import DecidesByScore
from setatoms.estimators.explaining import ExplainsRows
from setatoms.estimators.missing import keep_observed, measure, open_gaps
from setatoms.estimators.recipes import OnStep, Recipe
from setatoms.estimators.standardize import Standardizer, reject_overflow, warn_constant
from setatoms.estimators.tables import read_table
from setatoms.estimators.weights import repeat_rows
from setatoms.explain import mean_rows
from setatoms.progress import Progress
from setatoms.views import RELATION_ALONE, Guard, Inside, Judged, Neighbours, Reach, screen_rows

Array = NDArray[np.float64]
Scores = NDArray[np.float64]
Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]

_SLAB_ROWS = 1 << 16
# What it takes to score training rows for units and thresholds, as a share of learning.
_JUDGING = 0.2
# So many rows without gaps, or half of them, can tell what to close gaps with.
_ENOUGH_WHOLE = 1_000
# Units and thresholds are those of so many training rows, at random, if there are more.
_MOST_JUDGED = 50_000
# So many of the lowest scores of training rows are kept, for limits on the number of alarms.
_LOWEST = 1_001


class Training(NamedTuple):
    """What is known of the rows that were learned from, or of some of them.

    Attributes
    ----------
    scores : ndarray of shape (n_samples,)
        Their scores.
    errors : ndarray of shape (n_dictionaries, n_samples)
        What each dictionary leaves of them.
    judged : Judged or None
        What the views say of them; None for the relation alone.
    rows : ndarray of shape (n_samples, n_features)
        The rows themselves, their gaps closed by what the others imply.
    """

    scores: Scores
    errors: Array
    judged: Judged | None
    rows: Array


class ErrorDetector(DecidesByScore, ExplainsRows):
    """A detector whose score is how well dictionaries represent a row, guarded by other views."""

    views: Any
    # that of training errors in the estimate of errors on unseen rows
    _seen_weight = 0.0

    @abstractmethod
    def _keep(self, learned: Any) -> None:
        """Write what a recipe has learned to this object."""

    def _compare(self, errors: Array) -> None:
        """Learn what `_combination` needs from errors (n_dictionaries, n) of training rows."""

    def _trial_recipe(self, n_samples: int, n_features: int) -> Any:
        """Return a cheaper recipe that stands for that of this detector in comparisons."""
        return self._recipe(n_samples, n_features).shortened()

    def _fit(self, X: Any, sample_weight: Any) -> None:
        # separate streams: the dictionary does not depend on how the threshold is found
        model_rng, fold_rng, judging_rng, copies_rng = self._generator().spawn(4)
        table = read_table(self, X, fitting=True)
        table = repeat_rows(table, sample_weight, lambda: copies_rng)
        self.n_samples_fit_ = len(table)
        table = keep_observed(table, self._names())
        if self.standardize:
            warn_constant(table, self._names())
        self.column_quantiles_, self.missing_shares_ = decisions.profile(table)
        kept = self._rows_to_learn_from(table)
        self.n_screened_ = int(len(table) - kept.sum())
        rows = table if kept.all() else table[kept]
        recipe = self._recipe(*rows.shape)
        self._compile_ahead(recipe.kind_names)
        judged = self._rows_to_judge(len(table), judging_rng)
        among_kept = np.flatnonzero(judged[kept])
        auto = isinstance(self.contamination, str)
        cross_fits = auto and not recipe.leaves_unseen(len(rows))
        n_steps = (1.0 + _JUDGING) * recipe.n_steps
        n_steps += recipe.shortened().n_steps if cross_fits else 0
        with Progress(n_steps, type(self).__name__, enabled=bool(self.verbose)) as progress:
            training = self._learn(rows, recipe, model_rng, progress.advance, among_kept)
            outcasts = self._score_outcasts(table, ~kept, judged)
            everything = np.sort(np.concatenate([training.scores, outcasts]))
            self.lowest_scores_ = everything[:_LOWEST] if judged.all() else None
            self.calibration_scores_ = None
            if auto:
                unseen = training.scores
                if cross_fits:
                    unseen = self._unseen_scores(
                        rows, among_kept, training, recipe, fold_rng, progress
                    )
                self.calibration_scores_ = np.sort(np.concatenate([unseen, outcasts]))
                self.offset_ = self._robust_offset(self.calibration_scores_)
                self.training_offset_ = (
                    self.offset_ if self._relation_alone else self._robust_offset(everything)
                )
            else:
                self.offset_ = decisions.share_offset(everything, self.contamination)
                self.training_offset_ = self.offset_

    def _score_outcasts(self, table: Array, outcasts: Mask, judged: Mask) -> Scores:
        """Return the scores of training rows that had no say in learning, and remember them."""
        if outcasts.any():
            self.guard_ = self.guard_.remembering(self.standardizer_.apply(table[outcasts]))
        return self._score(table[outcasts & judged])

    def _rows_to_judge(self, n_rows: int, rng: np.random.Generator) -> Mask:
        """Return which training rows (n_rows,) tell units and thresholds."""
        judged = np.ones(n_rows, np.bool_)
        if n_rows > _MOST_JUDGED and not self._relation_alone:
            judged[:] = False
            judged[rng.choice(n_rows, _MOST_JUDGED, replace=False, shuffle=False)] = True
        return judged

    def _rows_to_learn_from(self, table: Array) -> Mask:
        """Return which rows (n_samples,) have a say in learning."""
        if self._relation_alone:
            return np.ones(len(table), np.bool_)
        return screen_rows(table, self.n_jobs)

    def _robust_offset(self, scores: Scores) -> float:
        """Return the threshold that 5 % of normal rows are below, of rows with such `scores`.

        Where they hold anomalies, the bulk tells better than the tail what is normal.
        """
        offset = decisions.unseen_quantile(scores)
        return offset if self._relation_alone else max(offset, decisions.bulk_quantile(scores))

    @property
    def _relation_alone(self) -> bool:
        return tuple(self.views) == RELATION_ALONE

    def _learn(
        self,
        table: Array,
        recipe: Recipe,
        rng: np.random.Generator,
        on_step: OnStep,
        chosen: Rows | None = None,
    ) -> Training:
        """Learn from the rows of a table and return what is known of those `chosen`, or of all."""
        self._learn_dictionaries(table, recipe, rng, on_step)
        every = chosen is None or len(chosen) == len(table)
        some = table if every else table[chosen]
        self.guard_ = None
        closed = some if self._relation_alone else self._close_gaps(some)
        effort = _JUDGING * recipe.n_steps / len(self.dictionaries_)
        errors = self._errors(closed, lambda share: on_step(share * effort, "scoring"))
        self._compare(errors)
        if self._relation_alone:
            return Training(-self._combination().combine(errors), errors, None, closed)
        Z = self.standardizer_.apply(some)
        filled = Z if closed is some else self.standardizer_.apply(closed)
        kinds = [dictionary.kind.name for dictionary in self.dictionaries_]
        self.guard_, judged = Guard.learn(
            self.views, Z, filled, kinds, errors, rng.spawn(1)[0], self.n_jobs,
            None if every else self._reach(table),
        )  # fmt: skip
        return Training(-judged.numbers, errors, judged, closed)

    def _close_gaps(self, table: Array) -> Array:
        """Return training rows with gaps closed by what rows near them have there.

        Dictionaries close gaps too, but lean to the mean: with few columns such rows look unusual.
        """
        missing = np.isnan(table)
        if not missing.any():
            return table
        Z = self.standardizer_.apply(table)
        whole = Z[~missing.any(axis=1)]
        if len(whole) < min(_ENOUGH_WHOLE, len(Z) / 2):
            whole = mean_rows(self._completed(Z, "values"))
        near = Neighbours.learn(whole, np.random.default_rng(0), self.n_jobs)
        rows = np.flatnonzero(missing.any(axis=1))
        closed = table.copy()
        closed[rows] = self.standardizer_.restore(near.close(Z[rows], self.n_jobs))
        closed[~missing] = table[~missing]
        return closed

    def _reach(self, table: Array) -> Reach:
        parts = (self.standardizer_.apply(table[part]) for part in _slabs(table))
        return reduce(Reach.joined, map(Reach.of, parts))

    def _learn_dictionaries(
        self, table: Array, recipe: Recipe, rng: np.random.Generator, on_step: OnStep
    ) -> None:
        if self.standardize:
            # half of the rows may hold no value of a column: the units of all rows serve there
            known = getattr(self, "standardizer_", None)
            self.standardizer_ = Standardizer.learn(table, self._names()).completed(known)
        else:
            reject_overflow(table, self._names())
            self.standardizer_ = Standardizer.identity(table.shape[1])
        signals, missing = open_gaps(self.standardizer_.apply(table))
        self._keep(recipe.learn(signals, rng, on_step, missing))

    def _unseen_scores(
        self,
        table: Array,
        judged: Rows,
        training: Training,
        recipe: Recipe,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Scores:
        """Estimate the scores that as many unseen normal rows as are `judged` would get."""
        # the two halves together must not take longer than the fit itself
        quick = recipe.shortened()

        def step(_: float, note: str) -> None:
            # a step on half the rows takes half as long
            progress.advance(0.5, note)

        if training.judged is None:
            return decisions.unseen_scores(
                training.scores, self._cross_fit_scores(table, quick, rng, step)
            )
        errors = np.empty_like(training.errors)
        halves = decisions.draw_halves(len(table), rng)
        for train, test in (halves, halves[::-1]):
            half = copy(self)
            half._learn_dictionaries(table[train], quick, rng, step)
            mine = np.isin(judged, test, assume_unique=True)
            errors[:, mine] = half._errors(training.rows[mine])
        unseen = decisions.unseen_errors(training.errors, errors, self._seen_weight)
        return -self.guard_.judge_unseen(training.judged, unseen)

    def _cross_fit_scores(
        self, table: Array, quick: Recipe, rng: np.random.Generator, step: OnStep
    ) -> decisions.CrossFitted:
        def fit_scores(train: Rows, test: Rows) -> tuple[Scores, Scores]:
            half = copy(self)
            seen = half._learn(table[train], quick, rng, step).scores
            return seen, half._score(table[test])

        return decisions.cross_fit(fit_scores, len(table), rng)

    def _score(self, table: Array) -> Scores:
        scores = np.empty(len(table))
        for part in _slabs(table):
            if self.guard_ is None:
                scores[part] = -self._combination().combine(self._errors(table[part]))
            else:
                scores[part] = -self._judge(table[part])[1].numbers
        return scores

    def _judge(self, table: Array) -> tuple[Inside, Judged]:
        """Return rows as dictionaries are asked about them, gaps closed, and what the views say."""
        inside = self.guard_.bring_inside(self.standardizer_.apply(table))
        inside = inside._replace(short=self._closed(inside))
        errors = self._errors_of(inside.short)
        return inside, self.guard_.judge(inside, errors, self.n_jobs)

    def _closed(self, inside: Inside) -> Array:
        """Return rows as dictionaries are asked about them, gaps closed by what others imply."""
        missing = np.isnan(inside.short)
        rows = np.flatnonzero(missing.any(axis=1))
        if not len(rows):
            return inside.short
        closed = inside.short.copy()
        filled = self.guard_.neighbours.close(inside.rows[rows], self.n_jobs)
        closed[rows] = filled / inside.factors[rows, None]
        return np.where(missing, closed, inside.short)

    def _errors(self, table: Array, on_share: Callable[[float], None] | None = None) -> Array:
        """Return the representation errors (n_dictionaries, n) of rows.

        `on_share` is told after each dictionary of what share of the rows.
        """
        errors = np.empty((len(self.dictionaries_), len(table)))
        # slab by slab: the standardised table is never there as a whole
        for part in _slabs(table):
            Z = self.standardizer_.apply(table[part])
            for row, dictionary in zip(errors, self.dictionaries_, strict=True):
                row[part] = measure(dictionary, Z, self.n_jobs)
                if on_share is not None:
                    on_share(len(Z) / len(table))
        return errors

    def _errors_of(self, Z: Array) -> Array:
        """Return the representation errors (n_dictionaries, n) of standardised rows."""
        return np.array([measure(each, Z, self.n_jobs) for each in self.dictionaries_])

    def score_samples(self, X: Any) -> Scores:
        r"""Return minus how abnormal each row is, by all `views` together.

        The number is in robust standard deviations, see `setatoms.views.guard`. With
        ``views=("relation",)`` it is how large the representation error is: that of one dictionary
        per feature, :math:`\|r\| / \sqrt{m}`; an ensemble combines those of its members by its
        `rule`.

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

    def compare(self, X: Any) -> decisions.BatchComparison:
        """Tell whether a batch of rows is like those that were learned from, as a whole.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The same features in the same order as in `fit`.

        Returns
        -------
        comparison : BatchComparison
            The share of rows flagged and that expected, columns whose values moved, columns with
            more gaps; `fits` and `sentence` sum it up.
        """
        check_is_fitted(self)
        table = read_table(self, X, fitting=False)
        counts = self.count_batch()
        counts.add(table, int((self._score(table) < self.offset_).sum()))
        return counts.compare()

    def count_batch(self) -> decisions.BatchCounts:
        """Return something that compares a batch with the rows learned from, chunk by chunk."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(self.n_features_in_)]
        usual = decisions.UNSEEN_SHARE if self.contamination == "auto" else self.contamination
        return decisions.BatchCounts(
            list(map(str, names)), self.column_quantiles_, self.missing_shares_, float(usual)
        )


def _slabs(table: Array) -> Iterator[slice]:
    """Yield parts of the rows, few enough for memory not to grow with the table."""
    for start in range(0, len(table), _SLAB_ROWS):
        yield slice(start, start + _SLAB_ROWS)
