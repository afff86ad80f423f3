"""What every generator asks of the table it is given."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setatoms.masked import gaps_as_nan


def check_table(X: ArrayLike) -> NDArray[np.float64]:
    """Return ``X`` as a finite float64 table of at least two rows and two features."""
    try:
        table = np.asarray(gaps_as_nan(X), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X must hold numbers only ({error}); encode or drop the rest") from error
    if table.ndim != 2:
        raise ValueError(f"X has {table.ndim} dimension(s); give a table (n_samples, n_features)")
    if min(table.shape) < 2:
        raise ValueError(
            f"X has shape {table.shape}; anomalies need at least two rows and two features"
        )
    broken = ~np.isfinite(table)
    if broken.any():
        columns = np.flatnonzero(broken.any(axis=0)).tolist()
        n_rows = int(broken.any(axis=1).sum())
        raise ValueError(
            f"X has NaN or infinity in column(s) {columns}, {n_rows} row(s); impute or drop them"
        )
    return table
