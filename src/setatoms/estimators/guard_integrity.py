"""Whether what a detector's views compare with fits the rest of it."""

from __future__ import annotations

import math
from typing import Any

from setatoms.estimators.array_checks import floats
from setatoms.persistence.errors import FlawError, shown
from setatoms.views import Calibration, Guard, Neighbours

_N_MEASURES = 4


def check_guard(detector: Any, n_dictionaries: int) -> None:
    """Raise a FlawError unless `guard_` and `n_screened_` can belong to the fitted `detector`."""
    state, n_features = vars(detector), detector.n_features_in_
    n_screened, guard = state.get("n_screened_"), state.get("guard_")
    if type(n_screened) is not int or n_screened < 0:
        raise FlawError(f"n_screened_={shown(n_screened)} must be a whole number, at least 0")
    if tuple(detector.views) == ("relation",):
        if guard is not None:
            raise FlawError("guard_ is there, and views=('relation',) has none")
        return
    if not isinstance(guard, Guard):
        raise FlawError("guard_ is not a Guard")
    if guard.views != tuple(detector.views):
        raise FlawError(f"guard_.views={shown(guard.views)} are not the views of the detector")
    known = type(guard.groups) is tuple and all(type(group) is str for group in guard.groups)
    if not known or len(guard.groups) != n_dictionaries:
        raise FlawError(f"guard_.groups does not name {n_dictionaries} kinds")
    _check_range(guard, n_features)
    _check_calibration("guard_.errors", guard.errors, n_dictionaries)
    _check_calibration("guard_.measures", guard.measures, _N_MEASURES)
    _check_neighbours(guard.neighbours, n_features)
    floats("guard_.outcasts", guard.outcasts, (n_features, -1))


def _check_range(guard: Guard, n_features: int) -> None:
    for name in ("least", "most", "low", "high"):
        floats(f"guard_.{name}", getattr(guard, name), (n_features,))
    if not ((guard.low <= guard.least) & (guard.least <= guard.most)).all():
        raise FlawError("guard_.low, least and most are not in this order")
    if not (guard.most <= guard.high).all():
        raise FlawError("guard_.most is above guard_.high")
    longest = guard.longest
    if not isinstance(longest, float) or not math.isfinite(longest) or longest < 0:
        raise FlawError(f"guard_.longest={shown(longest)} must be a finite number, at least 0")


def _check_calibration(name: str, calibration: Any, n_measures: int) -> None:
    if not isinstance(calibration, Calibration):
        raise FlawError(f"{name} is not a Calibration")
    floats(f"{name}.middle", calibration.middle, (n_measures,))
    if (floats(f"{name}.spread", calibration.spread, (n_measures,)) <= 0).any():
        raise FlawError(f"{name}.spread has values that are not positive")


def _check_neighbours(neighbours: Any, n_features: int) -> None:
    if not isinstance(neighbours, Neighbours):
        raise FlawError("guard_.neighbours is not a Neighbours")
    columns = floats("guard_.neighbours.columns", neighbours.columns, (n_features, -1))
    n_rows = columns.shape[1]
    if n_rows < 2:
        raise FlawError(f"guard_.neighbours.columns has {n_rows} rows to compare with, below 2")
    for name in ("reach", "density"):
        if (floats(f"guard_.neighbours.{name}", getattr(neighbours, name), (n_rows,)) < 0).any():
            raise FlawError(f"guard_.neighbours.{name} has negative values")
