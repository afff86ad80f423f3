"""Whether the parts of a fitted estimator fit together; asked before saving and after loading."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np

from setatoms.decisions import Combination
from setatoms.estimators.array_checks import floats, numbers
from setatoms.estimators.guard_integrity import check_guard
from setatoms.estimators.members import Member
from setatoms.estimators.parameters import check_parameters, check_values
from setatoms.estimators.standardize import Standardizer
from setatoms.learning.atoms import ConeAtoms, GaussianAtoms, VectorAtoms
from setatoms.learning.loop import History
from setatoms.persistence.errors import FlawError, shown

KINDS: dict[str, tuple[type, ...]] = {
    "ConeAtomDetector": (ConeAtoms,),
    "ConeDictionaryLearning": (ConeAtoms,),
    "GaussianAtomDetector": (GaussianAtoms,),
    "GaussianDictionaryLearning": (GaussianAtoms,),
    "SetAtomEnsemble": (ConeAtoms, GaussianAtoms),
    "VectorAtomDetector": (VectorAtoms,),
}

# Learned atoms are unit vectors up to a few roundings; a damaged one is further off.
_NORM_TOLERANCE = 1e-6
_LARGEST_RADIUS = math.sqrt(2)


def check_integrity(estimator: Any) -> None:
    """Raise a FlawError on the first part of a fitted `estimator` that cannot belong to it.

    Checked are types, shapes and ranges of all that scoring reads, and the parameters by the same
    rules as in `fit`.
    """
    n_features = _value(estimator, "n_features_in_")
    if type(n_features) is not int or n_features < 2:
        raise FlawError(f"n_features_in_={shown(n_features)} must be a whole number, at least 2")
    for part in parts_of(estimator):
        n_atoms = _check_atoms(part, n_features)
        _check_kind(part, KINDS[type(estimator).__name__], n_atoms, n_features)
        _check_history(part, n_atoms)
    if _is_detector(estimator):
        _check_standardizer(_value(estimator, "standardizer_"), n_features)
        _check_decisions(estimator)
        check_guard(estimator, len(parts_of(estimator)))
    if _is_ensemble(estimator):
        _check_combination(estimator)
    _check_rules(check_parameters, estimator)


class Names(NamedTuple):
    """What the parts of a dictionary are called."""

    kind: str
    atoms: str
    radii: str
    history: str


class Part(NamedTuple):
    """One dictionary of an estimator, and the names of what it consists of."""

    names: Names
    kind: Any
    atoms: Any
    radii: Any
    history: Any


def parts_of(estimator: Any) -> list[Part]:
    """Return the dictionaries of an estimator: its own, or those of its members."""
    if not _is_ensemble(estimator):
        names = Names("kind_", "components_", "radii_", "history_")
        return [Part(names, *(_value(estimator, name) for name in names))]
    members = _value(estimator, "members_")
    known = type(members) is tuple and all(type(member) is Member for member in members)
    if not known or not members:
        raise FlawError("members_ is not a tuple of at least one Member")
    return [
        Part(Names(*(f"members_[{i}].{field}" for field in Names._fields)), *member)
        for i, member in enumerate(members)
    ]


def _is_detector(estimator: Any) -> bool:
    return hasattr(type(estimator), "score_samples")


def _is_ensemble(estimator: Any) -> bool:
    return type(estimator).__name__ == "SetAtomEnsemble"


def _value(owner: Any, name: str) -> Any:
    try:
        return vars(owner)[name]
    except KeyError:
        raise FlawError(f"{name} is missing") from None


def _check_atoms(part: Part, n_features: int) -> int:
    """Check centres and radii; return how many there are."""
    name = part.names.atoms
    atoms = floats(name, part.atoms, (-1, n_features))
    # bounded first, so that squares cannot overflow
    bounded = (np.abs(atoms) <= 2).all()
    if not bounded or (np.abs(np.linalg.norm(atoms, axis=1) - 1) > _NORM_TOLERANCE).any():
        raise FlawError(f"{name} has rows that are not unit vectors")
    if not len(atoms):
        raise FlawError(f"{name} has no rows")
    radii = floats(part.names.radii, part.radii, (len(atoms),))
    # a vector is a set-atom of radius 0, and no other is
    flat = isinstance(part.kind, VectorAtoms)
    valid = radii == 0 if flat else (radii > 0) & (radii < _LARGEST_RADIUS)
    if not valid.all():
        raise FlawError(f"{part.names.radii} has values outside {'{0}' if flat else '(0, sqrt 2)'}")
    return len(atoms)


def _check_kind(part: Part, expected: tuple[type, ...], n_atoms: int, n_features: int) -> None:
    kind, name = part.kind, part.names.kind
    if type(kind) not in expected:
        listed = " or ".join(cls.__name__ for cls in expected)
        raise FlawError(f"{name} is a {type(kind).__name__}, not {listed}")
    fields = {field.name: getattr(kind, field.name) for field in dataclasses.fields(kind)}
    _check_rules(check_values, fields)
    most = min(n_atoms, n_features)
    if fields.get("n_nonzero", 1) > most:
        raise FlawError(
            f"{name} has n_nonzero={fields['n_nonzero']}, and at most {most} are possible"
        )


def _check_combination(ensemble: Any) -> None:
    combination = _value(ensemble, "combination_")
    if not isinstance(combination, Combination):
        raise FlawError("combination_ is not a Combination")
    _check_rules(check_values, {"rule": combination.rule})
    if (floats("combination_.units", combination.units, (len(ensemble.members_),)) <= 0).any():
        raise FlawError("combination_.units has values that are not positive")


def _check_rules(check: Any, subject: Any) -> None:
    try:
        check(subject)
    except ValueError as error:
        raise FlawError(shown(str(error))[1:-1], "set it to an allowed value") from None


def _check_history(part: Part, n_atoms: int) -> None:
    history, name = part.history, part.names.history
    if not isinstance(history, History):
        raise FlawError(f"{name} is not a History")
    for field in ("error", "objective"):
        numbers(f"{name}.{field}", getattr(history, field), np.float64, (-1,))
    for field in ("unused", "overlaps", "adapted_at"):
        numbers(f"{name}.{field}", getattr(history, field), np.int64, (-1,))
    for field in ("radii", "usage"):
        shape = (len(history.adapted_at), n_atoms)
        numbers(f"{name}.{field}", getattr(history, field), np.float64, shape)


def _check_standardizer(standardizer: Any, n_features: int) -> None:
    if not isinstance(standardizer, Standardizer):
        raise FlawError("standardizer_ is not a Standardizer")
    floats("standardizer_.mean", standardizer.mean, (n_features,))
    if (floats("standardizer_.scale", standardizer.scale, (n_features,)) <= 0).any():
        raise FlawError("standardizer_.scale has values that are not positive")


def _check_decisions(detector: Any) -> None:
    for name in ("offset_", "training_offset_"):
        offset = _value(detector, name)
        if not isinstance(offset, float) or not math.isfinite(offset):
            raise FlawError(f"{name}={shown(offset)} must be a finite number")
    for name in ("calibration_scores_", "lowest_scores_"):
        known = vars(detector).get(name)
        if known is not None and (np.diff(floats(name, known, (-1,))) < 0).any():
            raise FlawError(f"{name} are not sorted")
