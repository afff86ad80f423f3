"""What a vector can do, whether it is being compiled or computed by NumPy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

# A vector fills a line of the cache: eight numbers in double precision, sixteen in single.
VECTOR_BYTES = 64
# Small systems of equations are worked on in pairs of vectors: one of them alone would keep the
# processor waiting for its last result.
PAIR = 2


def count_lanes(dtype: DTypeLike) -> int:
    """Return how many numbers of this type a vector has.

    >>> count_lanes("float64"), count_lanes("float32")
    (8, 16)
    """
    return VECTOR_BYTES // np.dtype(dtype).itemsize


def count_sides(dtype: DTypeLike) -> int:
    """Return how many numbers of this type a pair of vectors has."""
    return PAIR * count_lanes(dtype)


LANES = count_lanes(np.float64)


def padded(length: int, dtype: DTypeLike = np.float64) -> int:
    """Return ``length`` rounded up to whole vectors."""
    lanes = count_lanes(dtype)
    return -(-length // lanes) * lanes


class Vector(ABC):
    """Numbers in a kernel under construction, with ordinary operators."""

    @abstractmethod
    def constant(self, number: float) -> Vector:
        """Return a vector of this number."""

    @abstractmethod
    def __add__(self, other: Vector | float) -> Vector: ...

    @abstractmethod
    def __sub__(self, other: Vector | float) -> Vector: ...

    @abstractmethod
    def __mul__(self, other: Vector | float) -> Vector: ...

    @abstractmethod
    def __truediv__(self, other: Vector | float) -> Vector: ...

    @abstractmethod
    def __neg__(self) -> Vector: ...

    @abstractmethod
    def __abs__(self) -> Vector: ...

    def __rsub__(self, other: float) -> Vector:
        return self.constant(other) - self

    def __rtruediv__(self, other: float) -> Vector:
        return self.constant(other) / self

    @abstractmethod
    def sqrt(self) -> Vector:
        """Return the square roots."""

    @abstractmethod
    def at_most(self, other: Vector | float) -> Vector:
        """Return the smaller of each pair."""

    @abstractmethod
    def at_least(self, other: Vector | float) -> Vector:
        """Return the larger of each pair."""

    @abstractmethod
    def where_negative(self, test: Vector, otherwise: Vector | float) -> Vector:
        """Return these numbers where ``test < 0`` and others elsewhere."""


# What a body returns: numbers to write, numbers to reduce.
Lanes = tuple[Sequence[Vector], Sequence[Vector]]


class Loop(NamedTuple):
    """A loop over the vectors of arrays; see `setatoms.lanes.lane_kernel`."""

    n_arrays: int
    n_scalars: int
    body: Callable[..., Lanes]
    writes: Sequence[int]
    reduces: Sequence[str]
    pairs: Sequence[int] = ()
    any_length: bool = False
    one_pair: bool = False

    @property
    def in_pairs(self) -> bool:
        """Whether a step is over two vectors of each array."""
        return self.one_pair or len(self.pairs) > 0
