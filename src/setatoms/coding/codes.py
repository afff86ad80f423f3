"""What a coder returns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array


@dataclass(frozen=True)
class Codes:
    """Sparse representations of a batch of signals.

    Attributes
    ----------
    support : ndarray of shape (n_samples, width), int32
        Atoms used by each signal in order of selection, padded with -1.
    values : ndarray of shape (n_samples, width)
        Their coefficients, padded with 0.
    residuals : ndarray of shape (n_samples, n_features)
        What the representation leaves of each signal.
    errors : ndarray of shape (n_samples,)
        Euclidean norms of the residuals.
    n_atoms : int
        Number of atoms in the dictionary.
    actual_atoms : ndarray of shape (n_samples, width, n_features) or None
        The members of the set-atoms that were used, padded with 0. On request only.
    objective : ndarray of shape (n_samples,) or None
        Value of the objective that Gauss-L1 minimises. Gauss-L1 only.
    n_sweeps : ndarray of shape (n_samples,), int32, or None
        Sweeps spent on each signal. Gauss-L1 only.
    """

    support: NDArray[np.int32]
    values: NDArray[np.floating]
    residuals: NDArray[np.floating]
    errors: NDArray[np.floating]
    n_atoms: int
    actual_atoms: NDArray[np.floating] | None = None
    objective: NDArray[np.floating] | None = None
    n_sweeps: NDArray[np.int32] | None = None

    @cached_property
    def coefficients(self) -> csr_array:
        """Coefficients as a CSR array of shape (n_samples, n_atoms), indices sorted."""
        used = self.support >= 0
        ends = np.concatenate(([0], np.cumsum(used.sum(axis=1))))
        shape = (len(self.support), self.n_atoms)
        matrix = csr_array((self.values[used], self.support[used], ends), shape=shape)
        matrix.sort_indices()
        return matrix
