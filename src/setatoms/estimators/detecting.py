"""Detect by representation error: the part that all detectors share, of one dictionary or many."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import partial, reduce
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from setatoms import decisions
from setatoms.decisions.early import find_beyond
from setatoms.estimators.checkpoint import Checkpoint, Stage
from setatoms.estimators.deciding import DecidesByScore
from setatoms.estimators.explaining import ExplainsRows
from setatoms.estimators.lazily import lazily
from setatoms.estimators.missing import measure, measure_all
from setatoms.estimators.reading import is_mapped, read_rows
from setatoms.estimators.recipes import Recipe, draw_places
from setatoms.estimators.standardize import Standardizer, reject_overflow, warn_constant
from setatoms.estimators.tables import read_table
from setatoms.explain import mean_rows
from setatoms.progress import Progress
from setatoms.rows import (
    Columns,
    MappedRows,
    OnShare,
    OnStep,
    Places,
    Rows,
    ignore,
    rows_of_a_block,
    summarise,
)
from setatoms.views import (
    MOST_OUTCASTS,
    RELATION_ALONE,
    Guard,
    Inside,
    Judged,
    Neighbours,
    Reach,
    Screen,
)

Array = NDArray[np.float64]
Scores = NDArray[np.float64]

# What it takes to score training rows for units and thresholds, as a share of learning.
_JUDGING = 0.2
# So many rows without gaps, or half of them, can tell what to close gaps with.
_ENOUGH_WHOLE = 1_000
# What looks abnormal, units and thresholds are told by so many training rows, at random, if there
# are more; thresholds of the relation alone by this many.
_MOST_SCREENED, _MOST_JUDGED, _MANY = 20_000, 20_000, 1_000_000
_ROWS_OF_PROFILE = 20_000
# What a checkpoint holds: the model, and those of both halves for the threshold.
_STAGES = ("all", "half-1", "half-2")
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
    rows : ndarray of shape (n_samples, n_features) or None
        The rows themselves, their gaps closed by what the others imply; None for the relation
        alone.
    """

    scores: Scores
    errors: Array
    judged: Judged | None
    rows: Array | None


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

    def _fit(
        self, X: Any, sample_weight: Any, checkpoint: str | PathLike[str] | None = None
    ) -> None:
        # separate streams: the dictionary does not depend on how the threshold is found
        model_rng, fold_rng, judging_rng, copies_rng, screening_rng = self._generator().spawn(5)
        rows = read_rows(self, X, sample_weight, copies_rng)
        done = Checkpoint(checkpoint, self, rows)
        stages = [done.stage(name) for name in _STAGES]
        columns = summarise(rows)
        if self.standardize:
            warn_constant(columns, self._names())
        self._profile(rows, columns)
        kept, outcasts = self._part(rows, screening_rng)
        self.n_screened_ = outcasts.n_rows
        recipe = self._recipe(kept.n_rows, kept.n_features)
        self._compile_ahead(recipe.kind_names)
        judged, judged_outcasts = self._draw_judged(kept.n_rows, outcasts.n_rows, judging_rng)
        every_row = len(judged) + len(judged_outcasts) == rows.n_rows
        auto = isinstance(self.contamination, str)
        cross_fits = auto and kept.n_rows <= _MANY and not recipe.leaves_unseen(kept.n_rows)
        n_steps = (1.0 + _JUDGING) * recipe.n_steps
        n_steps += recipe.shortened().n_steps if cross_fits else 0
        with Progress(n_steps, type(self).__name__, enabled=bool(self.verbose)) as progress:
            training = self._learn(kept, recipe, model_rng, progress.advance, judged, stages[0])
            left_out = self._score_outcasts(outcasts, judged_outcasts)
            everything = np.sort(np.concatenate([training.scores, left_out]))
            self.lowest_scores_ = everything[:_LOWEST] if every_row else None
            self.calibration_scores_ = None
            if auto:
                unseen = training.scores
                if cross_fits:
                    unseen = self._unseen_scores(
                        kept, judged, training, recipe, fold_rng, progress, stages[1:]
                    )
                self.calibration_scores_ = np.sort(np.concatenate([unseen, left_out]))
                self.offset_ = self._robust_offset(self.calibration_scores_)
                self.training_offset_ = (
                    self.offset_ if self._relation_alone else self._robust_offset(everything)
                )
            else:
                self.offset_ = decisions.share_offset(everything, self.contamination)
                self.training_offset_ = self.offset_
        done.remove()

    def _profile(self, rows: Rows, columns: Columns) -> None:
        """Remember what columns are like, for comparisons with other tables."""
        some = rows.take(np.arange(0, rows.n_rows, max(1, rows.n_rows // _ROWS_OF_PROFILE)))
        self.column_quantiles_ = decisions.profile(some, columns.least, columns.most)
        self.missing_shares_ = columns.n_missing / rows.n_rows

    def _part(self, rows: Rows, rng: np.random.Generator) -> tuple[Rows, Rows]:
        """Return the rows that have a say in learning, and the others."""
        screen = None
        if not self._relation_alone:
            sample = rows.take(draw_places(rows.n_rows, rng, _MOST_SCREENED))
            screen = Screen.learn(sample, self.n_jobs)
        if screen is None:
            return rows, rows.choose(np.arange(0))
        kept, outcasts = rows.split(partial(screen.keeps, n_jobs=self.n_jobs))
        # of a large table, what a sample tells may leave too little
        if 2 * kept.n_rows < rows.n_rows or (_count_values(kept) < min(2, rows.n_rows)).any():
            return rows, rows.choose(np.arange(0))
        return kept, outcasts

    def _draw_judged(
        self, n_kept: int, n_outcasts: int, rng: np.random.Generator
    ) -> tuple[Places, Places]:
        """Return the places of the rows that tell units and thresholds, of both parts."""
        most = _MANY if self._relation_alone else _MOST_JUDGED
        share = min(1.0, most / (n_kept + n_outcasts))
        of_outcasts = math.ceil(share * n_outcasts)
        return (
            draw_places(n_kept, rng, most - of_outcasts),
            draw_places(n_outcasts, rng, of_outcasts),
        )

    def _score_outcasts(self, outcasts: Rows, judged: Places) -> Scores:
        """Return the scores of training rows that had no say in learning, and remember them."""
        if outcasts.n_rows:
            step = -(-outcasts.n_rows // MOST_OUTCASTS)
            some = outcasts.take(np.arange(0, outcasts.n_rows, step))
            self.guard_ = self.guard_.remembering(self.standardizer_.apply(some))
        return self._score(outcasts.take(judged))

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
        rows: Rows,
        recipe: Recipe,
        rng: np.random.Generator,
        on_step: OnStep,
        chosen: Places | None = None,
        stage: Stage | None = None,
    ) -> Training:
        """Learn from rows and return what is known of those `chosen`, or of all."""
        self._learn_dictionaries(rows, recipe, rng, on_step, stage)
        every = chosen is None or len(chosen) == rows.n_rows
        some = rows if chosen is None or every else rows.choose(chosen)
        self.guard_ = None
        effort = _JUDGING * recipe.n_steps

        def on_share(share: float) -> None:
            on_step(share * effort, "scoring")

        if self._relation_alone:
            errors = np.concatenate(some.map(self._errors, on_share=on_share), axis=1)
            self._compare(errors)
            return Training(-self._combination().combine(errors), errors, None, None)
        table = some.take(np.arange(some.n_rows))
        closed = self._close_gaps(table)
        errors = rows.spread(self._errors, closed, on_share)
        self._compare(errors)
        reach = None if every else self._reach(rows)
        judged = self._learn_guard(table, closed, errors, rng.spawn(1)[0], reach)
        return Training(-judged.numbers, errors, judged, closed)

    def _learn_guard(
        self,
        table: Array,
        closed: Array,
        errors: Array,
        rng: np.random.Generator,
        reach: Reach | None = None,
    ) -> Judged:
        """Learn what the views compare with; return what they say of the same rows.

        Parameters
        ----------
        table, closed : ndarray of shape (n, n_features)
            Rows with their gaps, and without; the same array if there are none.
        errors : ndarray of shape (n_dictionaries, n)
            What the dictionaries leave of them.
        rng : numpy.random.Generator
            Draws the rows to keep.
        reach : Reach, optional
            How far all training rows reach, if these are some of them.
        """
        Z = self.standardizer_.apply(table)
        filled = Z if closed is table else self.standardizer_.apply(closed)
        kinds = [dictionary.kind.name for dictionary in self.dictionaries_]
        self.guard_, judged = Guard.learn(
            self.views, Z, filled, kinds, errors, rng, self.n_jobs, reach
        )
        return judged

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

    def _reach(self, rows: Rows) -> Reach:
        return reduce(Reach.joined, rows.map(_reach_of, self.standardizer_))

    def _learn_dictionaries(
        self,
        rows: Rows,
        recipe: Recipe,
        rng: np.random.Generator,
        on_step: OnStep,
        stage: Stage | None = None,
    ) -> None:
        if self.standardize:
            # half of the rows may hold no value of a column: the units of all rows serve there
            known = getattr(self, "standardizer_", None)
            self.standardizer_ = Standardizer.learn(rows, self._names()).completed(known)
        else:
            reject_overflow(rows, self._names())
            self.standardizer_ = Standardizer.identity(rows.n_features)
        self._keep(recipe.learn(rows, self.standardizer_.apply, rng, on_step, stage))

    def _unseen_scores(
        self,
        rows: Rows,
        judged: Places,
        training: Training,
        recipe: Recipe,
        rng: np.random.Generator,
        progress: Progress,
        stages: Sequence[Stage | None],
    ) -> Scores:
        """Estimate the scores that as many unseen normal rows as are `judged` would get."""
        # the two halves together must not take longer than the fit itself
        quick = recipe.shortened()

        def step(_: float, note: str) -> None:
            # a step on half the rows takes half as long
            progress.advance(0.5, note)

        if training.judged is None or training.rows is None:
            return decisions.unseen_scores(
                training.scores, self._cross_fit_scores(rows, quick, rng, step, stages)
            )
        errors = np.empty_like(training.errors)
        halves = decisions.draw_halves(rows.n_rows, rng)
        for (train, test), stage in zip((halves, halves[::-1]), stages, strict=True):
            half = copy(self)
            half._learn_dictionaries(rows.choose(train), quick, rng, step, stage)
            mine = np.isin(judged, test, assume_unique=True)
            errors[:, mine] = rows.spread(half._errors, training.rows[mine], ignore)
        unseen = decisions.unseen_errors(training.errors, errors, self._seen_weight)
        return -self.guard_.judge_unseen(training.judged, unseen)

    def _cross_fit_scores(
        self,
        rows: Rows,
        quick: Recipe,
        rng: np.random.Generator,
        step: OnStep,
        stages: Sequence[Stage | None],
    ) -> decisions.CrossFitted:
        waiting = iter(stages)

        def fit_scores(train: Places, test: Places) -> tuple[Scores, Scores]:
            half = copy(self)
            learned = half._learn(rows.choose(train), quick, rng, step, stage=next(waiting))
            seen = learned.scores
            return seen, np.concatenate(rows.choose(test).map(half._score))

        return decisions.cross_fit(fit_scores, rows.n_rows, rng)

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
        inside = self._bring_inside(table)
        errors = self._errors_of(inside.short)
        around = self.guard_.neighbours.measure(inside.rows, self.n_jobs)
        return inside, self.guard_.judge(inside, errors, around)

    def _bring_inside(self, table: Array) -> Inside:
        inside = self.guard_.bring_inside(self.standardizer_.apply(table))
        return inside._replace(short=self._closed(inside))

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

    def _errors(self, table: Array, on_share: OnShare = ignore) -> Array:
        """Return the representation errors (n_dictionaries, n) of rows."""
        errors = np.empty((len(self.dictionaries_), len(table)))
        # slab by slab: the standardised table is never there as a whole
        for part in _slabs(table):
            Z = self.standardizer_.apply(table[part])
            for row, of_one in zip(
                errors, measure_all(self.dictionaries_, Z, self.n_jobs), strict=True
            ):
                row[part] = of_one
                on_share(len(Z) / len(table) / len(self.dictionaries_))
        return errors

    def _errors_of(self, Z: Array) -> Array:
        """Return the representation errors (n_dictionaries, n) of standardised rows."""
        return np.array(list(measure_all(self.dictionaries_, Z, self.n_jobs)))

    @lazily
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
        if is_mapped(X):
            return np.concatenate(MappedRows(X).map(self.score_samples))
        return self._score(read_table(self, X, fitting=False, widen=False))

    def _is_flagged(self, X: Any) -> NDArray[np.bool_]:
        check_is_fitted(self)
        if is_mapped(X):
            return np.concatenate(MappedRows(X).map(self._is_flagged))
        return self._flag(read_table(self, X, fitting=False, widen=False))

    def _flag(self, table: Array) -> NDArray[np.bool_]:
        return np.concatenate([self._flag_slab(table[part]) for part in _slabs(table)])

    def _flag_slab(self, table: Array) -> NDArray[np.bool_]:
        """Tell which rows score below the threshold, asking dictionaries until that is certain."""
        if self.guard_ is None:
            Z, combination = self.standardizer_.apply(table), self._combination()
            return self._find_flagged(Z, lambda _rows, errors: combination.combine(errors))
        inside = self._bring_inside(table)
        around = self.guard_.neighbours.measure(inside.rows, self.n_jobs)

        def combine(rows: Places, errors: Array) -> Array:
            return self.guard_.judge(inside.take(rows), errors, around[:, rows]).numbers

        return self._find_flagged(inside.short, combine)

    def _find_flagged(
        self, Z: Array, combine: Callable[[Places, Array], Array]
    ) -> NDArray[np.bool_]:
        def ask(k: int, rows: Places) -> Array:
            some = Z if len(rows) == len(Z) else Z[rows]
            return measure(self.dictionaries_[k], some, self.n_jobs)

        return find_beyond(-self.offset_, len(Z), len(self.dictionaries_), ask, combine)

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
        counts.add(table, int(self._flag(table).sum()))
        return counts.compare()

    def count_batch(self) -> decisions.BatchCounts:
        """Return counts that compare a batch with the rows learned from, filled chunk by chunk."""
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
    size = rows_of_a_block(table.shape[1])
    for start in range(0, len(table), size):
        yield slice(start, start + size)


def _reach_of(X: Array, standardizer: Standardizer) -> Reach:
    return Reach.of(standardizer.apply(X))


def _count_values(rows: Rows) -> Array:
    """Return how many values each column has (n_features,)."""
    return rows.n_rows - summarise(rows).n_missing
