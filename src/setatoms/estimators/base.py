"""What all estimators share: `fit` either succeeds or changes nothing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_random_state

from setatoms.estimators.lazily import many_questions
from setatoms.estimators.parameters import check_parameters
from setatoms.estimators.recipes import Recipe
from setatoms.estimators.saving import save_model
from setatoms.estimators.summary import sizes_html


class AtomEstimator(BaseEstimator):
    """The common base of detectors and transformers."""

    def fit(
        self,
        X: Any,
        y: object = None,
        sample_weight: Any = None,
        *,
        checkpoint: str | PathLike[str] | None = None,
    ) -> Self:
        """Learn a dictionary from the rows of `X`.

        Parameters
        ----------
        X : array-like, dataframe or Dask collection of shape (n_samples, n_features)
            Finite numbers, at least two rows and two features; with ``missing="fill"`` also NaN.
            Rows of an array or frame of Dask stay where its scheduler has them, and an array that
            NumPy maps from a file need not fit in memory: see ``docs/scale.md``.
        y : Ignored
            Present for API consistency.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts. The model is that of a table in which a row of weight 3
            stands three times, one after the other, and a row of weight 0 not at all. A weight of
            2.3 counts twice or, with probability 0.3, three times. Keep the mean near one: see
            ``docs/habits.md``.
        checkpoint : path-like, optional
            A folder to keep what is done. If `fit` ends early, the same call goes on from there,
            and the model is the same. It takes a number as `random_state`. What was kept is removed
            when `fit` is done, and the folder if nothing else is in it.

        Returns
        -------
        self : object
            The fitted estimator. If `fit` fails or is interrupted, it is as it was before.
        """
        check_parameters(self)
        draft = copy(self)
        for left_over in ("stream_", "_waiting"):
            draft.__dict__.pop(left_over, None)
        with many_questions(X):
            draft._fit(X, sample_weight, checkpoint)
        self.__dict__ = draft.__dict__
        return self

    def save(self, path: str | PathLike[str], notes: Mapping[str, Any] | None = None) -> None:
        """Write the fitted estimator to one file, without pickles; `setatoms.load` reads it.

        A file that exists is replaced once the new one is complete: if `save` fails or is
        interrupted, it is as it was before. The format is described in ``docs/model-format.md``.

        Parameters
        ----------
        path : path-like
            The file, in a folder that exists.
        notes : mapping, optional
            Plain JSON values to keep in the file beside the model; `load` ignores them, and
            ``read_header(path)["notes"]`` returns them.
        """
        save_model(self, path, notes)

    @abstractmethod
    def _fit(
        self, X: Any, sample_weight: Any, checkpoint: str | PathLike[str] | None = None
    ) -> None:
        """Learn from `X` and write the result to this object."""

    @abstractmethod
    def _recipe(self, n_samples: int, n_features: int) -> Recipe:
        """Resolve the parameters for a table of this shape."""

    def _compile_ahead(self, kinds: Iterable[str]) -> None:
        """Compile what learning needs, at the first time: side by side, and with a word."""
        # not before it is used: ``python -m setatoms.warm_up`` warns if it is imported already
        from setatoms.warm_up import compile_ahead, parts_of

        compile_ahead(parts_of(kinds, views=len(getattr(self, "views", ())) > 1))

    def __sklearn_is_fitted__(self) -> bool:
        """Tell whether there is a model: `partial_fit` may still wait for rows to start with."""
        return not {"dictionary_", "members_"}.isdisjoint(vars(self))

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn whether NaN is accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "fill"
        return tags

    def _repr_html_inner(self) -> str:
        """Return scikit-learn's diagram and, once fitted, a table of sizes."""
        return super()._repr_html_inner() + sizes_html(self)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Return the same for those who ask for all forms at once, as notebooks do."""
        forms = super()._repr_mimebundle_(**options)
        if "text/html" in forms:
            forms["text/html"] += sizes_html(self)
        return forms

    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))

    def _names(self) -> Sequence[Any] | None:
        return getattr(self, "feature_names_in_", None)
