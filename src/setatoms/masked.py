"""Masked arrays, whose masks NumPy's conversions ignore."""

from __future__ import annotations

from typing import Any

import numpy as np

_NUMERIC = "biuf"


def gaps_as_nan(X: Any) -> Any:
    """Return a masked array as a plain one, NaN where it is masked; anything else as it is.

    Examples
    --------
    >>> gaps_as_nan(np.ma.array([1, 2], mask=[False, True]))
    array([ 1., nan])
    """
    if not isinstance(X, np.ma.MaskedArray):
        return X
    numeric = X.dtype.kind in _NUMERIC
    dtype = np.result_type(X.dtype, np.float32) if numeric else np.dtype(object)
    return np.where(np.ma.getmaskarray(X), np.nan, X.data.astype(dtype))
