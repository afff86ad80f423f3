"""Whether the parts of a fitted estimator fit together; asked before saving and after loading."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from setatoms.decisions import LEVELS, Combination
from setatoms.estimators.array_checks import between, floats, numbers
from setatoms.estimators.guard_integrity import check_guard, check_parts
from setatoms.estimators.parameters import check_kind, check_parameters, check_values
from setatoms.estimators.standardize import Standardizer
from setatoms.estimators.stream_integrity import check_stream
from setatoms.learning.dictionary import FittedDictionary
from setatoms.learning.history import History
from setatoms.learning.kinds import KINDS
from setatoms.persistence.errors import FlawError, shown

# The kinds of atoms that estimators may have; None: every kind with radii.
ALLOWED_KINDS: dict[str, tuple[str, ...] | None] = {
    "ConeAtomDetector": ("cone",),
    "ConeDictionaryLearning": ("cone",),
    "GaussianAtomDetector": ("gaussian",),
    "GaussianDictionaryLearning": ("gaussian",),
    "SetAtomDetector": None,
    "SetAtomEnsemble": None,
    "VectorAtomDetector": ("vector",),
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
    _check_rules(check_parameters, estimator)
    dictionaries = dictionaries_of(estimator)
    for name, dictionary in dictionaries.items():
        _check_kind(name, dictionary, ALLOWED_KINDS[type(estimator).__name__])
        _check_atoms(name, dictionary, n_features)
        _check_history(name, dictionary)
    if _is_detector(estimator):
        _check_standardizer(_value(estimator, "standardizer_"), n_features)
        _check_decisions(estimator)
        check_guard(estimator, len(dictionaries))
    if _is_ensemble(estimator):
        _check_combination(_value(estimator, "combination_"), len(estimator.members_))
    if "stream_" in vars(estimator):
        _check_stream(estimator)


def _check_stream(estimator: Any) -> None:
    """Check what is kept of a stream, and the model in it that watches for change."""
    check_stream(estimator)
    reference, n_features = estimator.stream_.reference, estimator.n_features_in_
    for i, dictionary in enumerate(reference.dictionaries):
        name = f"stream_.reference.dictionaries[{i}]"
        _check_kind(name, dictionary, ALLOWED_KINDS[type(estimator).__name__])
        _check_atoms(name, dictionary, n_features)
        _check_history(name, dictionary)
    if _is_detector(estimator):
        _check_standardizer(reference.standardizer, n_features)
        check_parts(estimator, reference.guard, len(reference.dictionaries))
    if _is_ensemble(estimator):
        _check_combination(reference.combination, len(reference.dictionaries))


def dictionaries_of(estimator: Any) -> dict[str, FittedDictionary]:
    """Return the dictionaries of an estimator, its own or its members, by what they are called."""
    if not _is_ensemble(estimator):
        dictionary = _value(estimator, "dictionary_")
        if type(dictionary) is not FittedDictionary:
            raise FlawError("dictionary_ is not a FittedDictionary")
        return {"dictionary_": dictionary}
    members = _value(estimator, "members_")
    known = type(members) is tuple and all(type(each) is FittedDictionary for each in members)
    if not known or not members:
        raise FlawError("members_ is not a tuple of at least one FittedDictionary")
    return {f"members_[{i}]": member for i, member in enumerate(members)}


def _is_detector(estimator: Any) -> bool:
    return hasattr(type(estimator), "score_samples")


def _is_ensemble(estimator: Any) -> bool:
    return type(estimator).__name__ == "SetAtomEnsemble"


def _value(owner: Any, name: str) -> Any:
    try:
        return vars(owner)[name]
    except KeyError:
        raise FlawError(f"{name} is missing") from None


def _check_kind(name: str, dictionary: FittedDictionary, allowed: tuple[str, ...] | None) -> None:
    kind = dictionary.kind
    possible = {
        known
        for known in KINDS.values()
        if (known.has_radii if allowed is None else known.name in allowed)
    }
    if type(kind) not in possible:
        listed = " or ".join(sorted(known.__name__ for known in possible))
        raise FlawError(f"{name}.kind is a {type(kind).__name__}, not {listed}")


def _check_atoms(name: str, dictionary: FittedDictionary, n_features: int) -> None:
    """Check centres, radii, and whether rows can be coded with so many."""
    kind = dictionary.kind
    atoms = floats(f"{name}.atoms", dictionary.atoms, (-1, n_features))
    if not len(atoms):
        raise FlawError(f"{name}.atoms has no rows")
    # bounded first, so that squares cannot overflow
    if kind.has_unit_atoms and (
        not (np.abs(atoms) <= 2).all()
        or (np.abs(np.linalg.norm(atoms, axis=1) - 1) > _NORM_TOLERANCE).any()
    ):
        raise FlawError(f"{name}.atoms has rows that are not unit vectors")
    radii = floats(f"{name}.radii", dictionary.radii, (len(atoms),))
    # a vector is a set-atom of radius 0, and no other is
    valid = (radii > 0) & (radii < _LARGEST_RADIUS) if kind.has_radii else radii == 0
    if not valid.all():
        rule = "(0, sqrt 2)" if kind.has_radii else "{0}"
        raise FlawError(f"{name}.radii has values outside {rule}")
    _check_rules(check_kind, kind)
    n_nonzero = getattr(kind, "n_nonzero", 1)
    if n_nonzero > len(atoms):
        raise FlawError(f"{name}.kind has n_nonzero={n_nonzero}, and there are {len(atoms)} atoms")


def _check_combination(combination: Any, n_members: int) -> None:
    if not isinstance(combination, Combination):
        raise FlawError("combination_ is not a Combination")
    _check_rules(check_values, {"rule": combination.rule})
    if (floats("combination_.units", combination.units, (n_members,)) <= 0).any():
        raise FlawError("combination_.units has values that are not positive")


def _check_rules(check: Any, subject: Any) -> None:
    try:
        check(subject)
    except ValueError as error:
        raise FlawError(shown(str(error))[1:-1], "set it to an allowed value") from None


def _check_history(name: str, dictionary: FittedDictionary) -> None:
    history, name = dictionary.history, f"{name}.history"
    if not isinstance(history, History):
        raise FlawError(f"{name} is not a History")
    for field in ("error", "objective"):
        numbers(f"{name}.{field}", getattr(history, field), np.float64, (-1,))
    for field in ("unused", "overlaps", "adapted_at"):
        numbers(f"{name}.{field}", getattr(history, field), np.int64, (-1,))
    for field in ("radii", "usage"):
        shape = (len(history.adapted_at), len(dictionary.atoms))
        numbers(f"{name}.{field}", getattr(history, field), np.float64, shape)


def _check_standardizer(standardizer: Any, n_features: int) -> None:
    if not isinstance(standardizer, Standardizer):
        raise FlawError("standardizer_ is not a Standardizer")
    floats("standardizer_.mean", standardizer.mean, (n_features,))
    if (floats("standardizer_.scale", standardizer.scale, (n_features,)) <= 0).any():
        raise FlawError("standardizer_.scale has values that are not positive")


def _check_columns(detector: Any) -> None:
    """Check what is known of the columns that were learned from."""
    n_features, largest = detector.n_features_in_, np.finfo(np.float64).max
    quantiles = _value(detector, "column_quantiles_")
    between("column_quantiles_", quantiles, (n_features, len(LEVELS)), -largest, largest)
    if (np.diff(quantiles, axis=1) < 0).any():
        raise FlawError("column_quantiles_ are not sorted")
    between("missing_shares_", _value(detector, "missing_shares_"), (n_features,), 0.0, 1.0)


def _check_decisions(detector: Any) -> None:
    for name in ("offset_", "training_offset_"):
        offset = _value(detector, name)
        if not isinstance(offset, float) or not math.isfinite(offset):
            raise FlawError(f"{name}={shown(offset)} must be a finite number")
    _check_columns(detector)
    for name in ("calibration_scores_", "lowest_scores_"):
        known = vars(detector).get(name)
        if known is not None and (np.diff(floats(name, known, (-1,))) < 0).any():
            raise FlawError(f"{name} are not sorted")
