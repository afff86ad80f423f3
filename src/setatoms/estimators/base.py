"""What all estimators share: `fit` either succeeds or changes nothing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from setatoms.estimators.parameters import check_parameters
from setatoms.estimators.recipes import Recipe


class AtomEstimator(BaseEstimator):
    """The common base of detectors and transformers."""

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn a dictionary from the rows of `X`.

        Parameters
        ----------
        X : array-like or dataframe of shape (n_samples, n_features)
            Finite numbers, at least two rows and two features.
        y : Ignored
            Present for API consistency.

        Returns
        -------
        self : object
            The fitted estimator. If `fit` fails or is interrupted, it is as it was before.
        """
        check_parameters(self)
        draft = copy(self)
        draft._fit(X)
        self.__dict__ = draft.__dict__
        return self

    @abstractmethod
    def _fit(self, X: Any) -> None:
        """Learn from `X` and write the result to this object."""

    @abstractmethod
    def _recipe(self, n_samples: int, n_features: int) -> Recipe:
        """Resolve the parameters for a table of this shape."""

    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))

    def _names(self) -> Sequence[Any] | None:
        return getattr(self, "feature_names_in_", None)
