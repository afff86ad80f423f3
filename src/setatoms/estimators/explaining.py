"""Say why rows score as they do, and what would have been normal: what all detectors share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from setatoms.estimators.base import AtomEstimator
from setatoms.estimators.lazily import lazily
from setatoms.estimators.missing import complete
from setatoms.estimators.standardize import Standardizer
from setatoms.estimators.tables import read_table, row_labels
from setatoms.explain import (
    Counterfactual,
    Evidence,
    Explanation,
    Panel,
    Range,
    check_count,
    check_rank,
    check_top,
    explain_rows,
    mean_rows,
    replace_by_implied,
    replace_worst,
    score_replaced,
)
from setatoms.explain.panel import Combines
from setatoms.learning.dictionary import FittedDictionary
from setatoms.views import Inside, Judged

Array = NDArray[np.float64]
Scores = NDArray[np.float64]
Found = TypeVar("Found", Explanation, Counterfactual)


class ExplainsRows(AtomEstimator):
    """A fitted detector that says which columns did it, what was expected, and fills gaps."""

    column_quantiles_: Array
    guard_: Any
    n_features_in_: int
    offset_: float
    standardizer_: Standardizer

    @property
    @abstractmethod
    def dictionaries_(self) -> tuple[FittedDictionary, ...]:
        """All dictionaries: of an ensemble its members, otherwise one."""

    @abstractmethod
    def _combination(self) -> Combines:
        """Return how errors of the dictionaries become minus the score of the relation."""

    @abstractmethod
    def _score(self, table: Array) -> Scores:
        """Return the scores of rows."""

    @abstractmethod
    def _judge(self, table: Array) -> tuple[Inside, Judged]:
        """Return rows as dictionaries may be asked about them, and what the views say."""

    def atom_usage(self, X: Any) -> list[Array]:
        """Return the share of rows that use each atom.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The same features in the same order as in `fit`.

        Returns
        -------
        shares : list of ndarray of shape (n_atoms,)
            One for each of `dictionaries_`.
        """
        check_is_fitted(self)
        Z = self.standardizer_.apply(read_table(self, X, fitting=False))
        shares = []
        for dictionary, signals in zip(
            self.dictionaries_, self._completed(Z, "signals"), strict=True
        ):
            used = dictionary.code(signals, n_jobs=self.n_jobs).coefficients.indices
            shares.append(np.bincount(used, minlength=len(dictionary.atoms)) / len(Z))
        return shares

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
        values = mean_rows(self._completed(self.standardizer_.apply(table), "values"))
        return np.where(np.isnan(table), self.standardizer_.restore(values), table)

    @lazily
    def explain(
        self, X: Any, top: int | None = 3, rank: str = "contribution", *, atoms: bool = True
    ) -> Explanation:
        """Say which columns make rows abnormal, and what was expected there.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The same features in the same order as in `fit`.
        top : int or None, default=3
            How many columns to list for each row, the most responsible first; None lists all.
        rank : {"contribution", "refill"}, default="contribution"
            What makes a column responsible: its share of what is unusual, or by how much the score
            falls when the column is replaced by what the others imply. The second finds broken
            relations better and scores every row once for each column; with
            ``views=("relation",)`` it takes about ten times as long.
        atoms : bool, default=True
            Whether to list the atoms that represent each row; without them it is faster.

        Returns
        -------
        explanation : Explanation
            With `records`, `kinds`, `sentences` and `frame`; rows are chosen by position
            (``explanation[3]``) and by the labels of a pandas frame (``explanation.loc[label]``).
            What it says of a row does not depend on the others.
        """
        check_is_fitted(self)
        check_top(top)
        check_rank(rank)
        table = read_table(self, X, fitting=False)
        if self.guard_ is None:
            signals = self._completed(self.standardizer_.apply(table), "signals")
            scores, evidence = -self._score(table), None
        else:
            inside, judged = self._judge(table)
            signals, scores = [inside.short] * len(self.dictionaries_), judged.numbers
            evidence = self._evidence(table, inside, judged, with_drops=rank == "refill")
        explanation = explain_rows(
            self._panel(),
            table,
            signals,
            scores,
            -self.offset_,
            top=top,
            rank=rank,
            evidence=evidence,
            with_atoms=atoms,
        )
        return self._labelled(explanation, X)

    def _evidence(
        self, table: Array, inside: Inside, judged: Judged, *, with_drops: bool
    ) -> Evidence:
        """Return what the views say of rows, for explanations."""
        guard, restore = self.guard_, self.standardizer_.restore
        implied = guard.neighbours.imply(inside.rows, self.n_jobs)
        drops = None
        if with_drops:
            replaced = score_replaced(table, restore(implied), lambda rows: -self._score(rows))
            drops = judged.numbers[:, None] - replaced
        return Evidence(
            rows=inside.rows,
            factors=inside.factors,
            implied=implied,
            excess=inside.excess,
            outside=judged.outside,
            parts=guard.parts(judged.measures),
            grouped=guard.among_outcasts(inside),
            unseen=(inside.rows < guard.least) | (inside.rows > guard.most),
            seen=self._seen(),
            drops=drops,
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
            With `rows`, `columns` and the scores before and after; rows are chosen as in an
            explanation.
        """
        check_is_fitted(self)
        table = read_table(self, X, fitting=False)
        check_count(k, table.shape[1])
        if self.guard_ is not None:
            found = replace_by_implied(
                table,
                k,
                self._implied,
                lambda rows: -self._score(rows),
                -self.offset_,
                self._labels(),
            )
        else:
            found = replace_worst(
                self._panel(),
                table,
                self._completed(self.standardizer_.apply(table), "signals"),
                k,
                lambda rows: -self._score(rows),
                -self.offset_,
            )
        return self._labelled(found, X)

    def _labelled(self, found: Found, X: Any) -> Found:
        """Return what was found with the labels of the rows of `X` and what was learned from."""
        labels = row_labels(X, len(found))
        return replace(found, index=labels, seen=self._seen().by_name(self._labels()))

    def _seen(self) -> Range:
        """Return the smallest and the largest values learned from, in the columns' own units."""
        if self.guard_ is None:
            return Range(self.column_quantiles_[:, 0], self.column_quantiles_[:, -1])
        restore = self.standardizer_.restore
        return Range(restore(self.guard_.least[None])[0], restore(self.guard_.most[None])[0])

    def _implied(self, table: Array) -> Array:
        """Return what the other columns imply for each entry of rows, in the columns' own units."""
        inside = self.guard_.bring_inside(self.standardizer_.apply(table))
        return self.standardizer_.restore(self.guard_.neighbours.imply(inside.rows, self.n_jobs))

    def _completed(self, Z: Array, part: str) -> list[Array]:
        """Return the `signals` or `values` of standardised rows, gaps closed by each dictionary."""
        return [getattr(complete(each, Z, self.n_jobs), part) for each in self.dictionaries_]

    def _panel(self) -> Panel:
        return Panel(
            dictionaries=self.dictionaries_,
            combination=self._combination(),
            in_own_units=self.standardizer_.restore,
            names=self._labels(),
            n_jobs=self.n_jobs,
        )

    def _labels(self) -> tuple[str, ...]:
        """Return what the columns are called, or x0, x1 and so on."""
        names = self._names()
        if names is None:
            names = [f"x{j}" for j in range(self.n_features_in_)]
        return tuple(map(str, names))
