"""Anomalies that only break the relations between features."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setatoms.datasets.tables import check_table


def make_dependency_anomalies(
    X: ArrayLike,
    *,
    n_anomalies: int | None = None,
    fraction: float = 0.1,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Mix normal rows with rows whose features are each normal but unrelated.

    An anomalous row ``a`` draws every feature from another normal row chosen at random:
    ``a[j] = X[i_j, j]`` with ``i_1, ..., i_m`` independent and uniform. Each column of the
    anomalies is distributed as in ``X``; only the dependence between columns is lost.

    Parameters
    ----------
    X : array-like of shape (n_normal, n_features)
        The normal rows: finite numbers, at least two rows and two features.
    n_anomalies : int, optional
        Number of anomalous rows. By default ``fraction`` decides.
    fraction : float, default=0.1
        Anomalies per normal row, rounded to a whole number, at least one; ``0.1`` adds one
        anomaly for every ten normal rows. Ignored when ``n_anomalies`` is given.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the draws and of the shuffling.

    Returns
    -------
    X_mixed : ndarray of shape (n_normal + n_anomalies, n_features)
        The normal rows, unchanged, and the anomalous ones, shuffled together.
    y : ndarray of shape (n_normal + n_anomalies,)
        0 for a normal row, 1 for an anomalous one.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms.datasets import make_dependency_anomalies
    >>> t = np.linspace(0.0, 1.0, 40)
    >>> X, y = make_dependency_anomalies(np.column_stack([t, t]), random_state=0)
    >>> X.shape, int(y.sum())
    ((44, 2), 4)
    >>> bool(np.all(X[y == 0, 0] == X[y == 0, 1]))
    True
    """
    normal = check_table(X)
    n_normal, n_features = normal.shape
    count = _count_anomalies(n_anomalies, fraction, n_normal)
    rng = _generator(random_state)
    donors = rng.integers(n_normal, size=(count, n_features))
    anomalous = normal[donors, np.arange(n_features)]
    order = rng.permutation(n_normal + count)
    y = (order >= n_normal).astype(np.int64)
    return np.concatenate([normal, anomalous])[order], y


def _count_anomalies(n_anomalies: int | None, fraction: float, n_normal: int) -> int:
    """Return the number of anomalies asked for, at least one."""
    if n_anomalies is not None:
        if isinstance(n_anomalies, bool) or n_anomalies != int(n_anomalies) or n_anomalies < 1:
            raise ValueError(f"n_anomalies={n_anomalies!r} must be a whole number, at least 1")
        return int(n_anomalies)
    if not (np.isfinite(fraction) and fraction > 0):
        raise ValueError(f"fraction={fraction!r} must be a positive number, such as 0.1")
    return max(1, round(fraction * n_normal))


def _generator(
    random_state: int | np.random.Generator | np.random.RandomState | None,
) -> np.random.Generator:
    """Return a generator seeded by any of scikit-learn's or NumPy's kinds of random state."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)
