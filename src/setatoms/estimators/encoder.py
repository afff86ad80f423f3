"""Frames as people have them into numbers, by the rules of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

_NEEDS = 'TableEncoder needs DuckDB: pip install "setatoms[cli]"'


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc,unused-ignore]
    """Turn a frame of numbers, text and dates into numbers that detectors take.

    Columns of numbers are taken as they are, also where text writes them (``"$1,200.50"``,
    ``"12 kg"``); true and false become 1 and 0; text with few values can become a feature for each
    value. Row numbers, identifiers, dates and other text are left out. `notes_` says what became of
    each column. These are the rules of ``setatoms detect``, and a model that the command line saved
    can be asked for its encoder.

    A pandas frame becomes a pandas frame with the same index, a polars frame a polars frame, so
    that detectors behind the encoder know the names of their columns. ``set_output`` chooses one of
    the two for any input, and ``set_output(transform="default")`` a plain array.

    Parameters
    ----------
    index : str, optional
        Column that names the rows. It is no feature, and becomes the index of pandas frames.
    drop : sequence of str
        Columns to leave out.
    use : sequence of str
        Columns to take for measurements, whatever they look like.
    encode : sequence of str
        Columns of text that become one feature for each of their values.
    one_hot : bool, default=False
        Whether to do that with every column of text that has few values.
    missing : sequence of str
        Further words for a missing value.

    Attributes
    ----------
    encoding_ : Encoding
        The columns in use, and how.
    notes_ : list of str
        What became of columns and cells, a sentence each.
    n_features_in_ : int
        How many columns the frame had.
    feature_names_in_ : ndarray of shape (n_columns,)
        Their names.

    Examples
    --------
    >>> import pandas as pd
    >>> from setatoms import TableEncoder
    >>> frame = pd.DataFrame(
    ...     {"id": [7, 8, 9], "cost": ["$5", "$1,200", None], "ok": ["yes", "no", "yes"]}
    ... )
    >>> encoder = TableEncoder().fit(frame)
    >>> encoder.transform(frame)
         cost   ok
    0     5.0  1.0
    1  1200.0  0.0
    2     NaN  1.0
    >>> encoder.notes_[0]
    "'id': dropped, identifiers or codes, by their name; `use` takes it for a measurement"
    """

    def __init__(
        self,
        *,
        index: str | None = None,
        drop: Sequence[str] = (),
        use: Sequence[str] = (),
        encode: Sequence[str] = (),
        one_hot: bool = False,
        missing: Sequence[str] = (),
    ) -> None:
        self.index = index
        self.drop = drop
        self.use = use
        self.encode = encode
        self.one_hot = one_hot
        self.missing = missing

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Choose the columns of a frame and how they become numbers.

        Parameters
        ----------
        X : pandas or polars frame of shape (n_rows, n_columns)
            At least two rows.
        y : Ignored
            Present for API consistency.

        Returns
        -------
        self : object
            The fitted encoder.
        """
        self.__dict__.pop("encoding_", None)
        table = self._open(X)
        chosen = self._choose(table)
        self.encoding_, self.notes_ = chosen.encoding, chosen.notes
        self.feature_names_in_ = np.array(table.names, dtype=object)
        self.n_features_in_ = len(table.names)
        return self

    def transform(self, X: Any) -> Any:
        """Return the numbers of a frame, NaN where missing.

        Parameters
        ----------
        X : pandas or polars frame of shape (n_rows, n_columns)
            With the columns in use, in any order; others are ignored.

        Returns
        -------
        features : frame or ndarray of shape (n_rows, n_features)
            A frame of the same kind, unless ``set_output`` or ``sklearn.set_config`` asks for
            something else.
        """
        from setatoms.files import feature_chunks

        check_is_fitted(self)
        parts = [rows.features for rows in feature_chunks(self._open(X), self.encoding_)]
        features = np.concatenate([np.empty((0, len(self.encoding_.features))), *parts])
        return features if self._output_is_chosen(X) else self._framed(features, X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the features.

        Parameters
        ----------
        input_features : Ignored
            Present for API consistency.

        Returns
        -------
        names : ndarray of shape (n_features,)
            A column of numbers keeps its name; a feature of a value is ``column=value``.
        """
        check_is_fitted(self)
        return np.array(self.encoding_.features, dtype=object)

    @classmethod
    def of_model(cls, path: str | PathLike[str]) -> TableEncoder:
        """Return the encoder of a model that the command line saved.

        Parameters
        ----------
        path : path-like
            The file of the model.
        """
        from setatoms.persistence import read_header

        try:
            from setatoms.files import Encoding
        except ImportError as error:
            raise ImportError(_NEEDS) from error
        table = read_header(path).get("notes", {}).get("table")
        if table is None:
            raise ValueError(f"{path} has no encoder: it was saved in Python, of numbers alone")
        encoder = cls()
        encoder.encoding_, encoder.notes_ = Encoding.from_json(table), []
        names = [column.name for column in encoder.encoding_.columns]
        encoder.feature_names_in_ = np.array(names, dtype=object)
        encoder.n_features_in_ = len(names)
        return encoder

    def save(self, detector: Any, path: str | PathLike[str]) -> None:
        """Save a detector that learned from what this encoder made, for raw tables.

        The command line then reads files by the same rules, and `of_model` returns the encoder.

        Parameters
        ----------
        detector : detector
            Fitted to what `transform` returned.
        path : path-like
            Where the model goes.
        """
        check_is_fitted(self)
        detector.save(path, notes={"table": self.encoding_.to_json()})

    def _choose(self, table: Any) -> Any:
        from setatoms.files import Choice, choose_columns

        choice = Choice(self.index, self.drop, self.use, self.encode, self.one_hot)
        return choose_columns(table, choice, least_columns=1)

    def _output_is_chosen(self, X: Any) -> bool:
        """Tell whether scikit-learn was asked for another kind of output than that of `X`."""
        own = getattr(self, "_sklearn_output_config", {}).get("transform")
        chosen = own or get_config()["transform_output"]
        return chosen != _library(X) and (own is not None or chosen != "default")

    def _open(self, X: Any) -> Any:
        try:
            from setatoms.files import ReadOptions, open_frame
        except ImportError as error:
            raise ImportError(_NEEDS) from error
        options, known = ReadOptions(missing=self.missing), getattr(self, "encoding_", None)
        return open_frame(X, options if known is None else known.options(options))

    def _framed(self, features: NDArray[np.float64], X: Any) -> Any:
        """Return features (n_rows, n_features) as a frame of the kind of `X`, if that is known."""
        names = list(self.encoding_.features)
        match _library(X):
            case "pandas":
                named = X.set_index(self.index) if self.index in X.columns else X
                return type(X)(features, index=named.index, columns=names)
            case "polars":
                return type(X)(features, schema=names, orient="row")
        return features


def _library(X: Any) -> str:
    return type(X).__module__.partition(".")[0]
