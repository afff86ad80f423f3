"""Ways to rank rows, as functions from rows and a seed to how abnormal each row is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.preprocessing import StandardScaler

Array = NDArray[np.float64]
Score = Callable[[Array, int], Array]


def ours(make: Callable[..., Any]) -> Score:
    """Return one of our detectors as such a function; ranking needs no threshold."""
    return lambda X, seed: -make(contamination=0.1, random_state=seed).fit(X).score_samples(X)


def lof(X: Array, _: int) -> Array:
    """Rank by the local outlier factor."""
    Z = StandardScaler().fit_transform(X)
    return -np.asarray(LocalOutlierFactor().fit(Z).negative_outlier_factor_)


def fifth_neighbour(X: Array, _: int) -> Array:
    """Rank by the distance to the fifth neighbour."""
    Z = StandardScaler().fit_transform(X)
    return np.asarray(NearestNeighbors(n_neighbors=6).fit(Z).kneighbors(Z)[0][:, -1])


def forest(X: Array, seed: int) -> Array:
    """Rank by an isolation forest."""
    return -np.asarray(IsolationForest(random_state=seed).fit(X).score_samples(X))
