"""A fitted estimator into a file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from setatoms import __version__
from setatoms.estimators.codec import Arrays, encode
from setatoms.estimators.integrity import ALLOWED_KINDS, check_integrity, dictionaries_of
from setatoms.persistence.errors import FlawError, blaming
from setatoms.persistence.models import StoredModel, write_model
from setatoms.versions import find_versions

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")

# In the header under `features`, where they are found without knowing the estimators.
_FEATURES = ("n_features_in_", "feature_names_in_")


def save_model(
    estimator: Any, path: str | PathLike[str], notes: Mapping[str, Any] | None = None
) -> None:
    """Write a fitted estimator to a file, whole or not at all."""
    check_is_fitted(estimator)
    with blaming("save the model to", path):
        _check_before(estimator)
        stored = store(estimator)
        if notes:
            stored.header["notes"] = dict(notes)
    write_model(path, stored)


def store(estimator: Any) -> StoredModel:
    """Return what a file holds of a fitted estimator whose parts fit together."""
    arrays: Arrays = {}
    parameters = {
        key: encode(value, f"parameters.{key}", arrays)
        for key, value in estimator.get_params(deep=False).items()
    }
    attributes = {
        key: encode(value, key, arrays)
        for key, value in vars(estimator).items()
        if _is_fitted_name(key) and key not in _FEATURES
    }
    header = _summary(estimator) | {"parameters": parameters, "attributes": attributes}
    return StoredModel(header, arrays)


def _check_before(estimator: Any) -> None:
    """Raise if what was saved could not be loaded."""
    name = type(estimator).__name__
    if name not in ALLOWED_KINDS or not type(estimator).__module__.startswith("setatoms."):
        raise FlawError(f"it is a {name}, none of {', '.join(ALLOWED_KINDS)}", "pickle it instead")
    try:
        check_integrity(estimator)
    except FlawError as flaw:
        raise FlawError(flaw.fact, "put that right, or fit the estimator again") from None


def _is_fitted_name(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


def _summary(estimator: Any) -> dict[str, Any]:
    """Return what a reader of the header alone wants to know."""
    names = getattr(estimator, "feature_names_in_", None)
    histories = [each.history for each in dictionaries_of(estimator).values()]
    last = float(np.mean([h.error[-1] if len(h.error) else np.nan for h in histories]))
    return {
        "estimator": type(estimator).__name__,
        "saved": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "versions": {"setatoms": __version__} | find_versions(_PACKAGES),
        "features": {
            "count": estimator.n_features_in_,
            "names": None if names is None else list(map(str, names)),
        },
        "training": {
            "n_rows": getattr(estimator, "n_samples_fit_", None),
            "iterations": max(len(history.error) for history in histories),
            "error": last if np.isfinite(last) else None,
        },
    }
