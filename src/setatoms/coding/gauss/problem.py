"""What Gauss-L1 is asked: the equations, the atoms, when a signal is done, and where to start.

Divided by ``lam``, the objective of a signal ``y`` has two kinds of constants, the *spread*
``v_j = lam rho_j^2`` of an atom and the *threshold* ``h = gamma/(2 lam)``:

    sum_j ||a_j - d_j||^2 / v_j  +  ||r||^2  +  2 h ||x||_1,      r = y - sum_j x_j a_j.

At a stationary point every actual atom leans towards the one common residual,

    a_j = alpha_j d_j + beta_j r,      beta_j = v_j z_j,      z_j = alpha_j x_j,

so a code is known by its ``z``. With ``e = y - sum_j z_j d_j`` and ``u_j = <d_j, e>``:

    r = e / (1 + tau),      tau = sum_j v_j z_j^2 / alpha_j,
    alpha_j = sqrt(1 - beta_j^2 ||r||^2 + (beta_j c_j)^2) - beta_j c_j,      c_j = <d_j, r>,

and an atom in use satisfies ``<a_j, r> = h sign(x_j)``, which in terms of ``z`` reads

    u_j + q_j z_j / alpha_j = (1 + tau) h sign(z_j) / alpha_j,      q_j = v_j ||e||^2 / (1 + tau);

one at rest has ``|u_j| <= (1 + tau) h``. All of this lives in the Gram domain: ``u`` follows from
the correlations ``D y`` and the Gram matrix, ``||e||^2`` from both. It is a lasso whose diagonal is
a little weaker.

A signal is coded in *sweeps*, or rounds. A greedy lasso gives the atoms to start with (`start`).
Each sweep solves the equations above on the atoms in use (`newton`), dropping an atom whose
coefficient reaches zero, then takes in atoms at rest that violate their bound (`look`); `rounds`
goes from one to the next. A signal for which a sweep fails to lower the objective, or whose
coefficients cancel so that rounding leaves nothing of the equations, goes on alone, by Newton's
method in ``x`` and ``r`` (`alone`), as does, from nothing, one whose atoms may lean too far for
``z``. Coordinate descent (`descent`) finishes what that cannot, if rounding stops it.
"""

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
    """A layout of Gaussian atoms with the constants of the equations."""

    layout: Layout
    spreads: NDArray[np.float64]  # (n_padded,): lam rho^2, 1 where it pads
    threshold: float  # gamma / (2 lam)
    widest: float  # the largest spread of an atom
    farthest: float  # ||y||^2 beyond it, or below one over it, is too much for this precision
    lam: float


class Budget(NamedTuple):
    """When a signal is done."""

    max_sweeps: int
    tol: float
    resolution: float  # smallest share of a number that rounding leaves
    start_share: float  # greedy steps that are smaller, as a share of the threshold, are not taken
