"""ADBench's four kinds of synthetic anomalies."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from setatoms.datasets.tables import check_table
from setatoms.datasets.vine import CenterVine

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

_FEWEST_ROWS, _MOST_ROWS = 1_000, 10_000
_MOST_FEATURES = 50
_LARGEST_MIXTURE = 9
_ALPHA = 5
_WIDENING = 1.1


@dataclass(frozen=True)
class _Draws:
    """Where chance comes from: mixtures are seeded anew, all else is drawn from one stream."""

    seed: int
    rng: np.random.RandomState


def adbench_anomalies(
    X: ArrayLike, y: ArrayLike, kind: str = "dependency", seed: int = 1
) -> tuple[Array, Labels]:
    """Make a table of synthetic normal rows and anomalies of one kind, as ADBench does.

    Below 1,000 rows the table is first bootstrapped to 1,000, above 10,000 subsampled to 10,000.
    A model is fitted to the normal rows alone; as many normal rows and as many
    anomalies as there were are drawn from it:

    - ``"dependency"``: normal rows from a centre vine copula, truncated after three trees, with
      Gaussian-kernel marginals; anomalies draw every feature from its marginal, independently.
      Above 50 features 50 are drawn first.
    - ``"local"``: a Gaussian mixture (1 to 9 components, smallest BIC); anomalies from the same
      mixture with covariances times 5.
    - ``"cluster"``: the mixture with means times 5.
    - ``"global"``: normal rows from the mixture; anomalies uniform in every feature between 1.1
      times the smallest and 1.1 times the largest value of the normal rows drawn.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Finite numbers.
    y : array-like of shape (n_samples,)
        0 for a normal row, 1 for an anomaly. Only the number of anomalies matters.
    kind : {"dependency", "local", "cluster", "global"}, default="dependency"
        The kind of anomalies.
    seed : int, default=1
        Seed of all draws, of NumPy's legacy stream that ADBench uses.

    Returns
    -------
    X : ndarray of shape (n_rows, n_kept)
        Normal rows, then anomalies. ``n_kept`` is at most 50 for dependency anomalies, else
        ``n_features``.
    y : ndarray of shape (n_rows,)
        0 for the normal rows, 1 for the anomalies.

    Notes
    -----
    The rows of dependency anomalies are those of ADBench's generator with ``copulas`` 0.14.1, drawn
    from the same random stream, within 1e-4 standard deviations, where BLAS runs on one thread
    there. (With more threads its sums round differently, ties break, and rows move by up to 0.01
    standard deviations.)

    References
    ----------
    S. Han, X. Hu, H. Huang, M. Jiang, Y. Zhao: ADBench: Anomaly Detection Benchmark. NeurIPS 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms.datasets import adbench_anomalies
    >>> rng = np.random.default_rng(0)
    >>> t = rng.normal(size=(300, 1))
    >>> X, y = t + 0.1 * rng.normal(size=(300, 4)), np.repeat([0, 1], [270, 30])
    >>> X_new, y_new = adbench_anomalies(X, y, kind="dependency", seed=1)
    >>> X_new.shape
    (1000, 4)
    """
    table = check_table(X)
    labels = _check_labels(y, len(table))
    if kind not in _KINDS:
        raise ValueError(f"kind={kind!r} is unknown; choose one of {', '.join(map(repr, _KINDS))}")
    draws = _Draws(seed, np.random.RandomState(seed))
    table, labels = _resize(table, labels, draws.rng)
    n_anomalies = int(np.sum(labels == 1))
    if n_anomalies in (0, labels.size):
        raise ValueError(
            f"y has {n_anomalies} anomalies among the {labels.size} rows used; "
            "both normal rows (0) and anomalies (1) are needed"
        )
    normal, anomalous = _KINDS[kind](table[labels == 0], n_anomalies, draws)
    y_new = np.repeat(np.array([0, 1], dtype=np.int64), [len(normal), len(anomalous)])
    return np.concatenate([normal, anomalous]), y_new


def _check_labels(y: ArrayLike, n_samples: int) -> Labels:
    """Return a label of 0 or 1 for every row."""
    labels = np.asarray(y)
    if labels.shape != (n_samples,):
        raise ValueError(f"y has shape {labels.shape}, X {n_samples} rows; give one label per row")
    if not np.isin(labels, (0, 1)).all():
        raise ValueError(f"y holds {np.unique(labels)[:5]}; labels are 0 (normal) and 1 (anomaly)")
    return labels.astype(np.int64)


def _resize(X: Array, y: Labels, rng: np.random.RandomState) -> tuple[Array, Labels]:
    """Bootstrap small tables, subsample large ones."""
    if len(X) < _FEWEST_ROWS:
        rows = rng.choice(len(X), _FEWEST_ROWS, replace=True)
    elif len(X) > _MOST_ROWS:
        rows = rng.choice(len(X), _MOST_ROWS, replace=False)
    else:
        return X, y
    return X[rows], y[rows]


def _dependency(X: Array, n_anomalies: int, draws: _Draws) -> tuple[Array, Array]:
    """Draw normal rows from a vine, anomalies from its marginals; constant features stay so."""
    if X.shape[1] > _MOST_FEATURES:
        X = X[:, draws.rng.choice(X.shape[1], _MOST_FEATURES, replace=False)]
    varies = X.min(axis=0) < X.max(axis=0)
    if varies.sum() < 2:
        raise ValueError(
            f"{varies.sum()} of {varies.size} features vary over the normal rows; dependency "
            "anomalies need two"
        )
    vine = CenterVine.fit(X[:, varies])
    normal = np.tile(X[0], (len(X), 1))
    anomalous = np.tile(X[0], (n_anomalies, 1))
    normal[:, varies] = vine.sample(len(X), draws.rng)
    anomalous[:, varies] = np.column_stack(
        [m.sample(n_anomalies, draws.rng) for m in vine.marginals]
    )
    return normal, anomalous


def _local(X: Array, n_anomalies: int, draws: _Draws) -> tuple[Array, Array]:
    """Draw both from one mixture, anomalies with wider covariances."""
    mixture = _fit_mixture(X, draws.seed)
    normal = mixture.sample(len(X))[0]
    mixture.covariances_ = _ALPHA * mixture.covariances_
    return normal, mixture.sample(n_anomalies)[0]


def _cluster(X: Array, n_anomalies: int, draws: _Draws) -> tuple[Array, Array]:
    """Draw both from one mixture, anomalies around means further out."""
    mixture = _fit_mixture(X, draws.seed)
    normal = mixture.sample(len(X))[0]
    mixture.means_ = _ALPHA * mixture.means_
    return normal, mixture.sample(n_anomalies)[0]


def _global(X: Array, n_anomalies: int, draws: _Draws) -> tuple[Array, Array]:
    """Draw normal rows from a mixture, anomalies uniformly from a box around them."""
    normal = _fit_mixture(X, draws.seed).sample(len(X))[0]
    low, high = _WIDENING * normal.min(axis=0), _WIDENING * normal.max(axis=0)
    # A feature at a time: the order of the draws is part of the protocol.
    columns = [draws.rng.uniform(a, b, size=n_anomalies) for a, b in zip(low, high, strict=True)]
    return normal, np.column_stack(columns)


def _fit_mixture(X: Array, seed: int) -> GaussianMixture:
    """Return the Gaussian mixture of 1 to 9 components with the smallest BIC."""
    mixtures = [
        GaussianMixture(n_components=k, random_state=seed)
        for k in range(1, min(_LARGEST_MIXTURE, len(X)) + 1)
    ]
    # The rows must not depend on the number of threads.
    with threadpool_limits(limits=1), warnings.catch_warnings():
        # Also where a mixture stops before it converged, its BIC says how good it is.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return min((mixture.fit(X) for mixture in mixtures), key=lambda fitted: fitted.bic(X))


_Kind = Callable[[Array, int, _Draws], tuple[Array, Array]]
_KINDS: dict[str, _Kind] = {
    "dependency": _dependency,
    "local": _local,
    "cluster": _cluster,
    "global": _global,
}
