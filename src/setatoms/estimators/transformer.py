"""Write rows as sparse codes: the part that all transformers share."""

from __future__ import annotations

from abc import abstractmethod
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from setatoms.coding import Codes
from setatoms.estimators.base import AtomEstimator
from setatoms.estimators.checkpoint import Checkpoint
from setatoms.estimators.missing import complete
from setatoms.estimators.reading import read_rows
from setatoms.estimators.recipes import Recipe
from setatoms.estimators.single import HasDictionary
from setatoms.estimators.standardize import reject_overflow
from setatoms.estimators.stream_transforming import TransformerFromStream
from setatoms.estimators.tables import read_table
from setatoms.progress import Progress


class AtomTransformer(
    HasDictionary,
    TransformerFromStream,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    AtomEstimator,
):
    """A transformer from rows to their coefficients on the atoms.

    There is no ``inverse_transform``: each row chose its own actual atoms inside the sets, so the
    coefficients alone do not determine it. `reconstruct` codes the rows and returns what the code
    represents.
    """

    def _fit(
        self, X: Any, sample_weight: Any, checkpoint: str | PathLike[str] | None = None
    ) -> None:
        rng = self._generator()
        # the stream of weights is apart: the dictionary does not depend on it
        rows = read_rows(self, X, sample_weight, rng.spawn(1)[0])
        reject_overflow(rows, self._names())
        recipe = self._recipe(rows.n_rows, rows.n_features)
        self._compile_ahead(recipe.kind_names)
        kept = Checkpoint(checkpoint, self, rows)
        name = type(self).__name__
        with Progress(recipe.n_steps, name, enabled=bool(self.verbose)) as progress:
            stage = kept.stage("all")
            learned = recipe.learn(rows, np.asarray, rng, progress.advance, stage)
        self.dictionary_ = learned.dictionary
        kept.remove()

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
