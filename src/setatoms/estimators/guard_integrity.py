"""Whether what a detector's views compare with fits the rest of it."""

from __future__ import annotations

from typing import Any

from setatoms.estimators.array_checks import between
from setatoms.persistence.errors import FlawError, shown
from setatoms.views import RELATION_ALONE, Calibration, Guard, Neighbours

_N_MEASURES = 4
# Far beyond what can be learned from values up to 1e60, and their squares are finite.
_MOST = 1e75
# Logarithms of positive numbers, and differences of them.
_MOST_LOG, _LEAST_SPREAD = 1e3, 1e-3
_MOST_DENSITY = 1e15


def check_guard(detector: Any, n_dictionaries: int) -> None:
    """Raise a FlawError unless `guard_` and `n_screened_` can belong to the fitted `detector`."""
    n_screened = vars(detector).get("n_screened_")
    if type(n_screened) is not int or n_screened < 0:
        raise FlawError(f"n_screened_={shown(n_screened)} must be a whole number, at least 0")
    check_parts(detector, vars(detector).get("guard_"), n_dictionaries)


def check_parts(detector: Any, guard: Any, n_dictionaries: int) -> None:
    """Raise a FlawError unless a guard can belong to the `detector`, now or at an earlier time."""
    n_features = detector.n_features_in_
    if tuple(detector.views) == RELATION_ALONE:
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
    between("guard_.outcasts", guard.outcasts, (n_features, -1), -_MOST, _MOST)


def _check_range(guard: Guard, n_features: int) -> None:
    for name in ("least", "most", "low", "high"):
        between(f"guard_.{name}", getattr(guard, name), (n_features,), -_MOST, _MOST)
    if not ((guard.low <= guard.least) & (guard.least <= guard.most)).all():
        raise FlawError("guard_.low, least and most are not in this order")
    if not (guard.most <= guard.high).all():
        raise FlawError("guard_.most is above guard_.high")
    longest = guard.longest
    if not isinstance(longest, float) or not 0 <= longest <= _MOST:
        raise FlawError(f"guard_.longest={shown(longest)} must be a number from 0 to {_MOST:g}")


def _check_calibration(name: str, calibration: Any, n_measures: int) -> None:
    if not isinstance(calibration, Calibration):
        raise FlawError(f"{name} is not a Calibration")
    between(f"{name}.middle", calibration.middle, (n_measures,), -_MOST_LOG, _MOST_LOG)
    between(f"{name}.spread", calibration.spread, (n_measures,), _LEAST_SPREAD, _MOST_LOG)


def _check_neighbours(neighbours: Any, n_features: int) -> None:
    if not isinstance(neighbours, Neighbours):
        raise FlawError("guard_.neighbours is not a Neighbours")
    columns = between(
        "guard_.neighbours.columns", neighbours.columns, (n_features, -1), -_MOST, _MOST
    )
    n_rows = columns.shape[1]
    if n_rows < 2:
        raise FlawError(f"guard_.neighbours.columns has {n_rows} rows to compare with, below 2")
    between("guard_.neighbours.reach", neighbours.reach, (n_rows,), 0.0, _MOST)
    between("guard_.neighbours.density", neighbours.density, (n_rows,), 0.0, _MOST_DENSITY)
