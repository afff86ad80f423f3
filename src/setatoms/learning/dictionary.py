"""A learned dictionary: what estimators keep, and all that scoring and explaining ask."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setatoms.coding import Codes
from setatoms.coding.batch import Coder, as_codes, code, errors
from setatoms.coding.blocks import Layout
from setatoms.learning.history import History
from setatoms.learning.kinds.base import AtomKind
from setatoms.learning.missing import Filled, Mask, fill_rows

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FittedDictionary:
    """Atoms of one kind, ready to represent rows.

    Parameters
    ----------
    kind : AtomKind
        What the atoms are and how a row is coded with them.
    atoms : ndarray of shape (n_atoms, n_features)
        The centres.
    radii : ndarray of shape (n_atoms,)
        The radius of each.
    history : History
        How learning went.
    """

    kind: AtomKind
    atoms: Array
    radii: Array
    history: History

    def __post_init__(self) -> None:
        """Let nobody write to what was learned: what is computed from it would not follow."""
        for name in ("atoms", "radii"):
            array = getattr(self, name)
            if isinstance(array, np.ndarray):
                array = array.view()
                array.flags.writeable = False
                object.__setattr__(self, name, array)

    def code(self, X: Array, *, n_jobs: int | None = -1, actual_atoms: bool = False) -> Codes:
        """Represent the rows of X (n_samples, n_features)."""
        coder = self._coder()
        return as_codes(coder, code(coder, X, n_jobs=n_jobs, members=actual_atoms))

    def errors(self, X: Array, *, n_jobs: int | None = -1) -> Array:
        """Return the representation error of each row of X, the cheapest way."""
        return errors(self._coder(), X, n_jobs=n_jobs)

    def fill(self, X: Array, missing: Mask, *, n_jobs: int | None = -1) -> Filled:
        """Return the rows of X (n_samples, n_features) with `missing` entries as codes imply."""
        return fill_rows(self._coder(), self.kind.gaps, X, missing, n_jobs=n_jobs)

    def _coder(self) -> Coder:
        # what takes time is kept; the rest is work space, and a flag that ends this use alone
        return self.kind.coder(self._layout, self.radii)

    @cached_property
    def _layout(self) -> Layout:
        return self.kind.coder(self.atoms, self.radii).layout

    def __getstate__(self) -> dict[str, Any]:
        """Return what was learned, without what can be computed from it."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
