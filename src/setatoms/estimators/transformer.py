"""Write rows as sparse codes: the part that all transformers share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from setatoms.coding import Codes
from setatoms.estimators.base import AtomEstimator
from setatoms.estimators.missing import complete, keep_observed, open_gaps
from setatoms.estimators.recipes import Recipe
from setatoms.estimators.single import HasDictionary
from setatoms.estimators.standardize import reject_overflow
from setatoms.estimators.tables import read_table
from setatoms.estimators.weights import repeat_rows
from setatoms.progress import Progress


class AtomTransformer(
    HasDictionary, ClassNamePrefixFeaturesOutMixin, TransformerMixin, AtomEstimator
):
    """A transformer from rows to their coefficients on the atoms.

    There is no ``inverse_transform``: each row chose its own actual atoms inside the sets, so the
    coefficients alone do not determine it. `reconstruct` codes the rows and returns what the code
    represents.
    """

    def _fit(self, X: Any, sample_weight: Any) -> None:
        rng = self._generator()
        table = read_table(self, X, fitting=True)
        table = repeat_rows(table, sample_weight, lambda: rng.spawn(1)[0])
        self.n_samples_fit_ = len(table)
        table = keep_observed(table, self._names())
        reject_overflow(table, self._names())
        recipe = self._recipe(*table.shape)
        self._compile_ahead(recipe.kind_names)
        name = type(self).__name__
        with Progress(recipe.n_steps, name, enabled=bool(self.verbose)) as progress:
            rows, missing = open_gaps(table)
            learned = recipe.learn(rows, rng, progress.advance, missing)
        self.dictionary_ = learned.dictionary

    @abstractmethod
    def _recipe(self, n_samples: int, n_features: int) -> Recipe:
        """Resolve the parameters for a table of this shape."""

    def transform(self, X: Any) -> NDArray[np.float64] | sparse.csr_array:
        """Return the coefficients of each row of `X`.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The same features in the same order as in `fit`.

        Returns
        -------
        coefficients : ndarray or csr_array of shape (n_samples, n_atoms)
            Sparse with ``sparse_output=True``, otherwise dense.
        """
        coefficients = self._code(X)[1].coefficients
        return coefficients if self.sparse_output else coefficients.toarray()

    def reconstruct(self, X: Any) -> NDArray[np.float64]:
        """Return what the codes of `X` represent: `X` minus the residuals.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            The same features in the same order as in `fit`.

        Returns
        -------
        approximation : ndarray of shape (n_samples, n_features)
            The sum of each row's actual atoms times their coefficients.
        """
        rows, codes = self._code(X)
        return rows - codes.residuals

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
            Observed values are as given, bit for bit; a row without any becomes 0.
        """
        check_is_fitted(self)
        return complete(self.dictionary_, read_table(self, X, fitting=False), self.n_jobs).values

    def _code(self, X: Any) -> tuple[NDArray[np.float64], Codes]:
        check_is_fitted(self)
        table = read_table(self, X, fitting=False)
        rows = complete(self.dictionary_, table, self.n_jobs).signals
        return rows, self.dictionary_.code(rows, n_jobs=self.n_jobs)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
