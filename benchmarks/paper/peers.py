"""Detectors that are not ours: PyOD's, scikit-learn's, or a user's own."""

from __future__ import annotations

import contextlib
import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.preprocessing import MinMaxScaler

from benchmarks.paper.methods import Scored
from benchmarks.paper.rows import Rows
from benchmarks.paper.sources import Array

_WARM_ROWS = 200
_warm: set[str] = set()  # the methods that have run in this process


@dataclass(frozen=True)
class Peer:
    """Any detector, given rows scaled to [0, 1] by the training part as in ADBench.

    Parameters
    ----------
    name : str
        The name under which results are stored.
    make : str or callable
        Class or function that returns a detector, or where it is: ``"module:name"``. Of the
        arguments `random_state`, `n_features` and `verbose` it is given those it has. The detector
        needs `fit`, and either `score_samples` (higher for more normal rows, as in scikit-learn)
        or `decision_function` (higher for more abnormal rows, as in PyOD).
    configs : dict, optional
        Further arguments of `make` for each configuration; by default ``{"default": {}}``.
    needs : tuple of str, default=()
        Packages that must be installed.
    compiles : bool, default=False
        Whether its first fit in a process compiles code, which is not to be timed.

    Examples
    --------
    >>> from sklearn.ensemble import IsolationForest
    >>> Peer("forest of 500", IsolationForest, {"default": {"n_estimators": 500}}).name
    'forest of 500'
    """

    name: str
    make: str | Callable[..., Any]
    configs: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"default": {}})
    needs: tuple[str, ...] = ()
    compiles: bool = False

    @property
    def repeated(self) -> tuple[str, ...]:
        """The first configuration: the others are studied with one seed."""
        return (next(iter(self.configs)),)

    @property
    def studied(self) -> tuple[str, ...]:
        """All configurations."""
        return tuple(self.configs)

    def score(self, rows: Rows, config: str, seed: int) -> Scored:
        """Learn from ``rows.train`` and rank ``rows.test``."""
        scaler = MinMaxScaler().fit(rows.train)
        train, test = scaler.transform(rows.train), scaler.transform(rows.test)
        if self.compiles and self.name not in _warm:
            _warm.add(self.name)
            with contextlib.suppress(Exception):  # what is wrong shows below, in full
                self._rank(train[:_WARM_ROWS], test[:_WARM_ROWS], config, seed)
        abnormality, seconds = self._rank(train, test, config, seed)
        return Scored(abnormality, None, seconds)

    def _rank(self, train: Array, test: Array, config: str, seed: int) -> tuple[Array, float]:
        """Return how abnormal the rows of `test` are, and the time that took."""
        _seed_all(seed, torch_too="torch" in self.needs)
        detector = self._build(config, seed, train.shape[1])
        began = time.perf_counter()
        detector.fit(train)
        abnormality = _abnormality(detector, test)
        return abnormality, time.perf_counter() - began

    def _build(self, config: str, seed: int, n_features: int) -> Any:
        make = _import(self.make) if isinstance(self.make, str) else self.make
        offered = {"random_state": seed, "n_features": n_features, "verbose": 0}
        taken = inspect.signature(make).parameters
        arguments = {name: value for name, value in offered.items() if name in taken}
        return make(**arguments, **self.configs[config])


def own_method(place: str) -> Peer:
    """Return the detector that ``"module:name"`` makes, under that name, after trying to find it.

    Parameters
    ----------
    place : str
        Such as ``"my_detectors:make_forest"``.
    """
    try:
        _import(place)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"no method {place!r}: {error}; give module:name, with the module where Python finds it"
        ) from error
    return Peer(place.partition(":")[2], place)


def _import(place: str) -> Callable[..., Any]:
    module, _, name = place.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


def _abnormality(detector: Any, X: Array) -> Array:
    """Return how abnormal each row of `X` is (n_rows,)."""
    if hasattr(detector, "score_samples"):
        return -np.asarray(detector.score_samples(X), dtype=np.float64).ravel()
    return np.asarray(detector.decision_function(X), dtype=np.float64).ravel()


def _seed_all(seed: int, *, torch_too: bool) -> None:
    """Seed the streams that detectors share, and hold PyTorch to one thread."""
    np.random.seed(seed)  # noqa: NPY002  some of PyOD's detectors draw from the global stream
    if torch_too:
        import torch

        # sums that are split over threads round differently
        torch.set_num_threads(1)
        torch.manual_seed(seed)
