"""What else a member of an ensemble says of a row than its error.

A row is coded as `y = sum_j x_j a_j + r`, each actual atom `a_j` from the set around the centre
`d_j` with radius `rho_j`.

- atoms: `sum ||a_j - d_j||^2 / rho_j^2` over the atoms used, minus the logarithm of their
  likelihood;
- objective: the same, plus `||r||^2 + ||x||_1`: what Gauss-L1 minimises, here also of cone codes;
- coefficients: minus the log-likelihood of the code when an atom is used as often as by the
  training rows, with coefficients of a Laplace distribution of the same mean size.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from setatoms.learning import FittedDictionary

Array = NDArray[np.float64]

SLAB_ROWS = 1000


class Coded(NamedTuple):
    """What is kept of the codes of rows: no actual atoms."""

    errors: Array
    atoms: Array
    coefficients: csr_array

    @property
    def objective(self) -> Array:
        """Return what Gauss-L1 minimises, with its default weights."""
        return self.atoms + self.errors**2 + abs(self.coefficients).sum(axis=1)


def code(member: FittedDictionary, Z: Array, n_jobs: int | None) -> Coded:
    """Code standardised rows Z (n, n_features), slab by slab."""
    slabs: list[Coded] = []
    for start in range(0, len(Z), SLAB_ROWS):
        codes = member.code(Z[start : start + SLAB_ROWS], n_jobs=n_jobs, actual_atoms=True)
        leans = np.where(
            codes.support >= 0, member.kind.leans(codes, member.atoms, member.radii), 0.0
        )
        slabs.append(
            Coded(codes.errors.astype(np.float64), np.sum(leans**2, axis=1), codes.coefficients)
        )
    parts: Any = zip(*slabs, strict=True)
    errors, atoms, coefficients = parts
    return Coded(np.concatenate(errors), np.concatenate(atoms), vstack(coefficients, format="csr"))


def atypicality(train: csr_array, test: csr_array) -> tuple[Array, Array]:
    """Return minus the log-likelihood of codes (n, n_atoms) under those of the training rows."""
    n_rows = train.shape[0]
    counts = np.asarray((train != 0).sum(axis=0)).ravel()
    # half a row: an atom that all or no training rows use says something, but not everything
    shares = np.clip(counts, 0.5, n_rows - 0.5) / n_rows
    sizes = np.asarray(abs(train).sum(axis=0)).ravel() / np.maximum(counts, 1)
    sizes = np.where(counts > 0, sizes, max(float(sizes.max()), np.finfo(float).tiny))
    per_use = np.log1p(-shares) - np.log(shares) + np.log(2 * sizes)
    none = -np.sum(np.log1p(-shares))

    def surprise(codes: csr_array) -> Array:
        return none + (codes != 0).astype(float) @ per_use + abs(codes) @ (1 / sizes)

    return surprise(train), surprise(test)
