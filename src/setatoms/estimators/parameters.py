"""What each constructor parameter may be, checked in `fit`."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from setatoms.decisions import RULES
from setatoms.estimators.members import BUDGETS, DIVERSITIES
from setatoms.learning.kinds import KINDS, AtomKind
from setatoms.views import VIEWS


@dataclass(frozen=True)
class ParameterRule:
    """A test of one value and the words that complete ``name=value must be ...``."""

    holds: Callable[[Any], bool]
    words: str


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_real(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


def _whole(least: int, most: int | None = None) -> ParameterRule:
    words = f"a whole number, at least {least}"
    if most is None:
        return ParameterRule(lambda value: _is_whole(value) and value >= least, words)
    return ParameterRule(
        lambda value: _is_whole(value) and least <= value <= most, f"{words} and at most {most:,}"
    )


def _one_of(*names: str | None) -> ParameterRule:
    listed = " or ".join(repr(name) for name in names)
    return ParameterRule(
        lambda value: (value is None or isinstance(value, str)) and value in names, listed
    )


def _is_switch(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _are_views(value: Any) -> bool:
    listed = isinstance(value, (tuple, list)) and all(view in VIEWS for view in value)
    return listed and len(value) == len(set(value)) > 0


_POSITIVE = ParameterRule(lambda value: _is_real(value) and value > 0, "a positive number")
_NOT_NEGATIVE = ParameterRule(lambda value: _is_real(value) and value >= 0, "a number, at least 0")
_SWITCH = ParameterRule(_is_switch, "True or False")

# Far beyond what changes a result. They bound how long a model from somebody else can take.
_MOST_SWEEPS = 1_000_000
_MOST_CD_SWEEPS = 1_000
_MOST_ITERATIONS = 1_000_000

# A name means the same in every estimator. Parameters that depend on the table or on one
# another (n_atoms, radii, init, ...) are checked where they are put to use.
_RULES = {
    "adapt": _one_of("l1", "l0", None),
    "adapt_every": _whole(1),
    "budget": _one_of(*BUDGETS),
    "cd_sweeps": _whole(0, _MOST_CD_SWEEPS),
    "contamination": ParameterRule(
        lambda value: (
            (isinstance(value, str) and value == "auto") or (_is_real(value) and 0 < value <= 0.5)
        ),
        "'auto' or the share of training rows to flag, above 0 and at most 0.5",
    ),
    "diversity": _one_of(*DIVERSITIES),
    "fit_max_sweeps": _whole(1, _MOST_SWEEPS),
    "fit_tol": _NOT_NEGATIVE,
    "gamma": _POSITIVE,
    "half_life": ParameterRule(
        lambda value: value is None or (_is_real(value) and value >= 1),
        "a number of rows, at least 1, or None to forget nothing",
    ),
    "kind": ParameterRule(
        lambda value: isinstance(value, AtomKind) or (isinstance(value, str) and value in KINDS),
        "the name of a kind of atoms, or such a kind",
    ),
    "lam": _POSITIVE,
    "learn": _SWITCH,
    "learn_tol": _NOT_NEGATIVE,
    "max_sweeps": _whole(1, _MOST_SWEEPS),
    "min_separation": _NOT_NEGATIVE,
    "missing": _one_of("error", "fill"),
    "n_iter": _whole(1, _MOST_ITERATIONS),
    "n_jobs": ParameterRule(
        lambda value: value is None or (_is_whole(value) and value != 0),
        "a number of threads, or -1 for all cores",
    ),
    "n_members": ParameterRule(
        lambda value: value is None or (_is_whole(value) and value >= 1),
        "a whole number, at least 1, or None to leave it to budget",
    ),
    "n_nonzero": _whole(1),
    "rotation": _one_of("symmetric", "by-radius"),
    "rule": _one_of(*RULES),
    "sparse_output": _SWITCH,
    "standardize": _SWITCH,
    "subsample": ParameterRule(
        lambda value: value is None or (_is_real(value) and 0 < value <= 1),
        "a share of rows, above 0 and at most 1, or None",
    ),
    "tol": _NOT_NEGATIVE,
    "verbose": ParameterRule(
        lambda value: _is_switch(value) or (_is_whole(value) and value >= 0),
        "True or False, or a level from 0",
    ),
    "views": ParameterRule(
        _are_views,
        f"a tuple of at least one of {', '.join(map(repr, VIEWS))}, such as ('relation',)",
    ),
}


def check_parameters(estimator: Any) -> None:
    """Raise a ValueError on the first parameter of `estimator` that breaks its rule."""
    parameters = estimator.get_params(deep=False)
    check_values(parameters)
    if isinstance(parameters.get("kind"), AtomKind):
        check_kind(parameters["kind"])


def check_kind(kind: AtomKind) -> None:
    """Raise a ValueError on the first field of a kind of atoms that breaks its rule.

    Those of the library's kinds mean what they mean in estimators; others check themselves.
    """
    if type(kind).__module__.startswith("setatoms."):
        check_values(vars(kind))
    kind.check()


def check_values(values: Mapping[str, Any]) -> None:
    """Raise a ValueError on the first of the named `values` that breaks the rule of its name."""
    for name, value in values.items():
        rule = _RULES.get(name)
        if rule is not None and not rule.holds(value):
            raise ValueError(f"{name}={value!r} must be {rule.words}")
