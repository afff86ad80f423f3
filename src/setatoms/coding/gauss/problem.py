"""What Gauss-L1 is asked: the atoms, when a signal is done, and where to start."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms.coding.blocks import Layout


class KnownCodes(NamedTuple):
    """Codes to start from: atoms and z of each signal; with no rows, from nothing."""

    support: NDArray[np.int32]  # (n, width), -1 pads
    z: NDArray[np.float64]  # (n, width)

    def rows(self, start: int, stop: int) -> KnownCodes:
        """Return views of some rows."""
        return KnownCodes(self.support[start:stop], self.z[start:stop])


NO_CODES = KnownCodes(np.empty((0, 0), np.int32), np.empty((0, 0)))


class Gaussians(NamedTuple):
    """A layout of Gaussian atoms with the constants of `setatoms.coding.gauss.active_set`."""

    layout: Layout
    spreads: NDArray[np.float64]  # (n_padded,): lam rho^2, 1 where it pads
    threshold: float  # gamma / (2 lam)
    widest: float  # the largest spread of an atom
    lam: float


class Budget(NamedTuple):
    """When a signal is done."""

    max_sweeps: int
    tol: float
