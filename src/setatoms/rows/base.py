"""What can be asked of rows, wherever they are.

All that is learned comes from a few questions: sums over blocks of fixed size, rows in given places
and passes over parts of fixed size. Answers depend on the rows and their order alone, so a model is
the same to the last bit wherever its rows were, and however they were cut.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from setatoms.learning import Signals

T = TypeVar("T")
Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = NDArray[np.intp]
OnStep = Callable[[float, str], None]
OnShare = Callable[[float], None]
OnResult = Callable[[int, Any], None]
Map = Callable[[Array], Array]

# Rows of a block, if that makes no more than so many numbers; at least so many.
_BLOCK_ROWS, _BLOCK_NUMBERS, _FEWEST_ROWS = 1 << 16, 1 << 22, 256


def ignore(*_: Any) -> None:
    """Do nothing: nobody wants to know how far it is."""


def rows_of_a_block(n_features: int) -> int:
    """Return how many rows of so many columns are looked at together.

    Examples
    --------
    >>> rows_of_a_block(20), rows_of_a_block(1024), rows_of_a_block(10**6)
    (65536, 4096, 256)
    """
    return max(_FEWEST_ROWS, min(_BLOCK_ROWS, _BLOCK_NUMBERS // max(n_features, 1)))


class Task(NamedTuple):
    """Something to be done with some of the rows.

    Attributes
    ----------
    places : ndarray of shape (n,)
        Which rows, increasing.
    arguments : tuple
        What else it takes.
    n_steps : float
        How long it takes, in steps of progress.
    """

    places: Places
    arguments: tuple[Any, ...]
    n_steps: float


class Rows(ABC):
    """Rows of numbers; NaN is a gap.

    Attributes
    ----------
    n_rows, n_features : int
        Their shape.
    """

    n_rows: int
    n_features: int

    @abstractmethod
    def map(
        self, function: Callable[..., T], *arguments: Any, on_share: OnShare = ignore
    ) -> list[T]:
        """Return ``function(block, *arguments)`` of each block, in order.

        A block has the `rows_of_a_block` rows that come one after the other in a table, or those
        of them that were chosen; none is empty. `on_share` is told of each share of the rows.
        """

    @abstractmethod
    def take(self, places: Places) -> Array:
        """Return the rows in some increasing places, here; not to be written to."""

    @abstractmethod
    def choose(self, places: Places) -> Rows:
        """Return the rows in some increasing places, where they are."""

    @abstractmethod
    def split(self, keep: Callable[[Array], Mask]) -> tuple[Rows, Rows]:
        """Return the rows that `keep` tells, and the others, where they are."""

    @abstractmethod
    def run(
        self,
        function: Callable[..., T],
        tasks: Sequence[Task],
        on_step: OnStep,
        n_jobs: int | None,
        on_result: OnResult = ignore,
    ) -> list[T]:
        """Return ``function(rows, *arguments, step)`` of each task, several at a time.

        ``on_result(i, result)`` is called as soon as task i is done.
        """

    @abstractmethod
    def spread(
        self, function: Callable[[Array, OnShare], Array], table: Array, on_share: OnShare
    ) -> Array:
        """Return ``function(table, on_share)`` (..., n), of rows (n, n_features) that are here.

        The function looks at each row alone, so parts of the table may be sent elsewhere.
        """

    @abstractmethod
    def signals(self, prepare: Map, n_jobs: int | None, filled: Array | None = None) -> Signals:
        """Return signals for passes over all rows.

        Parameters
        ----------
        prepare : callable
            From rows to signals, each by itself.
        n_jobs : int or None
            Threads; results do not depend on it.
        filled : ndarray of shape (n_rows, n_features), optional
            All signals, their gaps closed, if they are here already.
        """
