"""Choose rows of a result: by position, as in a list, or by the labels of the frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.intp]


class LabelledRows(ABC):
    """A result with one part per row. What is chosen of it is a result of the same kind.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms import VectorAtomDetector
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> detector = VectorAtomDetector(random_state=0).fit(X)
    >>> explanation = detector.explain(X[:4])
    >>> len(explanation[1:]), len(explanation[[0, 2]]), len(explanation.loc[3])
    (3, 2, 1)
    """

    index: Any

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of rows."""

    @abstractmethod
    def _take(self, at: Positions) -> Self:
        """Return the rows at these positions (n_chosen,)."""

    def __getitem__(self, key: Any) -> Self:
        """Return rows by position: a number, a slice, a list of numbers or a mask."""
        try:
            chosen = np.atleast_1d(np.arange(len(self))[key])
        except IndexError as error:
            if isinstance(key, (int, np.integer)):
                raise IndexError(f"row {key} of {len(self)} rows does not exist") from None
            raise IndexError(f"{key!r} gives no positions; labels go to .loc ({error})") from None
        if chosen.ndim != 1:
            raise IndexError(f"{key!r} gives no positions; rows have one dimension")
        return self._take(chosen)

    def __iter__(self) -> Iterator[Self]:
        """Yield the rows one by one."""
        return (self[i] for i in range(len(self)))

    @property
    def loc(self) -> ByLabel[Self]:
        """Rows by label: ``loc[label]`` or ``loc[[label, label]]``.

        Labels are those of a pandas frame, which also knows slices, masks and parts of dates, and
        row numbers for everything else.
        """
        return ByLabel(self)


Rows = TypeVar("Rows", bound=LabelledRows)


class ByLabel(Generic[Rows]):
    """What `loc` returns: takes labels in brackets."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def __getitem__(self, key: Any) -> Rows:
        """Return the rows with these labels; a KeyError names one that no row has."""
        index = self._rows.index
        find = _find_number if isinstance(index, np.ndarray) else _find_label
        return self._rows._take(np.atleast_1d(find(index, key)))


def import_pandas(for_whom: str) -> Any:
    """Return pandas, or raise an error that says how to install it."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(f"{for_whom} needs pandas: pip install pandas") from error
    return pd


def _find_label(index: Any, key: Any) -> Positions:
    """Return where labels are in the index of a pandas frame, by the rules of pandas."""
    import pandas as pd

    return np.asarray(pd.Series(np.arange(len(index)), index=index).loc[key])


def _find_number(index: NDArray[np.intp], key: Any) -> Positions:
    """Return where row numbers are among those of `index`."""
    found = [np.flatnonzero(index == number) for number in np.atleast_1d(key)]
    for number, at in zip(np.atleast_1d(key), found, strict=True):
        if not len(at):
            raise KeyError(f"no row is labelled {number}; labels are the row numbers")
    return np.concatenate(found) if found else np.empty(0, dtype=np.intp)
