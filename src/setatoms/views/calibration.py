r"""Bring measures of different kinds to one scale.

A measure :math:`v` of a row, on a logarithmic scale, becomes :math:`z = (v - c) / w`, in robust
standard deviations. The centre :math:`c` is the median of the training rows. The unit :math:`w` is
the distance from the median down to the 16 % quantile: what lies *below* the median is normal even
where a third of the rows are anomalies, which would stretch a scale taken from both sides. Half of
the distance up to the 84 % quantile is the least that :math:`w` may be, for measures that have
their smallest value in half of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setatoms.views.elementwise import saturate

Array = NDArray[np.float64]

# No view says more than this, in robust standard deviations.
LARGEST = 20.0
_LOW, _HIGH = 0.16, 0.84
_UPPER_WEIGHT = 0.5
# Differences of logarithms below this, five per cent, are nothing.
LEAST_SPREAD = 0.05


@dataclass(frozen=True)
class Calibration:
    """Centre and unit of several measures.

    Parameters
    ----------
    middle, spread : ndarray of shape (n_measures,)
        The median of each over the training rows, and its unit, which is positive.
    """

    middle: Array
    spread: Array

    @classmethod
    def learn(cls, values: Array, least: Array | float = LEAST_SPREAD) -> Calibration:
        """Take centre and unit of `values` (n_measures, n_samples), which are logarithms.

        No unit is below `least`, one for all measures or one for each.

        Examples
        --------
        >>> import numpy as np
        >>> Calibration.learn(np.arange(101.0)[None]).spread.tolist()
        [34.0]
        """
        low, middle, high = np.quantile(values, (_LOW, 0.5, _HIGH), axis=1)
        spread = np.maximum(middle - low, _UPPER_WEIGHT * (high - middle))
        return cls(middle, np.maximum(spread, least))

    def apply(self, values: Array) -> Array:
        """Return `values` (n_measures, n_samples) in robust standard deviations, at most 20."""
        return saturate((values - self.middle[:, None]) / self.spread[:, None], LARGEST)
