"""What estimators of one dictionary share: the names of what it consists of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setatoms.learning.dictionary import FittedDictionary
from setatoms.learning.history import History
from setatoms.learning.kinds import AtomKind

Array = NDArray[np.float64]


class HasDictionary:
    """An estimator with one dictionary, `dictionary_`."""

    dictionary_: FittedDictionary

    @property
    def components_(self) -> Array:
        """The centres (n_atoms, n_features)."""
        return self.dictionary_.atoms

    @property
    def radii_(self) -> Array:
        """The radius of each atom (n_atoms,)."""
        return self.dictionary_.radii

    @property
    def history_(self) -> History:
        """How learning went."""
        return self.dictionary_.history

    @property
    def kind_(self) -> AtomKind:
        """How rows are coded."""
        return self.dictionary_.kind

    @property
    def dictionaries_(self) -> tuple[FittedDictionary, ...]:
        """The dictionary, alone."""
        return (self.dictionary_,)
