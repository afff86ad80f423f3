"""A fitted estimator from a file."""

from __future__ import annotations

import re
from os import PathLike
from typing import Any

import numpy as np

from setatoms.estimators.codec import Arrays, decode
from setatoms.estimators.cone import ConeAtomDetector, ConeDictionaryLearning
from setatoms.estimators.ensemble import SetAtomEnsemble
from setatoms.estimators.gaussian import GaussianAtomDetector, GaussianDictionaryLearning
from setatoms.estimators.integrity import check_integrity
from setatoms.estimators.saving import store
from setatoms.estimators.set_atoms import SetAtomDetector
from setatoms.estimators.vector import VectorAtomDetector
from setatoms.persistence.errors import FlawError, blaming, shown
from setatoms.persistence.models import StoredModel, check_storable, read_model

# The only classes that a file can ask for.
_ESTIMATORS: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        ConeAtomDetector,
        ConeDictionaryLearning,
        GaussianAtomDetector,
        GaussianDictionaryLearning,
        SetAtomDetector,
        SetAtomEnsemble,
        VectorAtomDetector,
    )
}
_FITTED_NAME = re.compile(r"[a-z][a-z0-9_]{0,60}_")


def load(path: str | PathLike[str]) -> Any:
    """Return the fitted estimator that ``save`` wrote to a file.

    The file is checked before anything is built: checksums, types, shapes, ranges. It cannot run
    code. Its checksums find damage, not malice: who can write the file can choose the model.

    Parameters
    ----------
    path : path-like
        A file that the method ``save`` of an estimator wrote.

    Returns
    -------
    estimator : estimator
        Gives the same scores, bit for bit, as the one that was saved.

    Raises
    ------
    ModelFileError
        If the file is no model, is damaged, or is from a newer version of the library.
    OSError
        If it cannot be opened.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> import setatoms
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> detector = setatoms.VectorAtomDetector(n_atoms=3, random_state=0).fit(X)
    >>> path = tempfile.mkdtemp() + "/noise.setatoms"
    >>> detector.save(path)
    >>> same = setatoms.load(path)
    >>> bool((same.score_samples(X) == detector.score_samples(X)).all())
    True
    """
    stored = read_model(path)
    with blaming("load the model", path):
        return _build(stored)


def _build(stored: StoredModel) -> Any:
    """Return the estimator in a file, if its parts fit together."""
    header, arrays = stored.header, dict(stored.arrays)
    cls = _ESTIMATORS.get(header["estimator"])
    if cls is None:
        raise FlawError(
            f"it holds a {shown(header['estimator'])}, none of {', '.join(_ESTIMATORS)}",
            "load it with the version of setatoms that saved it, or a newer one",
        )
    estimator = cls(**_decode_parameters(cls, header["parameters"], arrays))
    state = _decode_attributes(estimator, header["attributes"], arrays)
    if arrays:
        raise FlawError(f"it has arrays that belong nowhere, {shown(sorted(arrays))}")
    vars(estimator).update(state | _features(header["features"]))
    check_integrity(estimator)
    check_storable(store(estimator))  # what loads can be saved again
    return estimator


def _decode_parameters(cls: Any, parameters: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    unknown = sorted(parameters.keys() - set(cls._get_param_names()))
    if unknown:
        raise FlawError(f"{cls.__name__} has no parameters {shown(unknown)}")
    return {name: decode(value, arrays) for name, value in parameters.items()}


def _decode_attributes(
    estimator: Any, attributes: dict[str, Any], arrays: Arrays
) -> dict[str, Any]:
    for name in attributes:
        # a value must not hide a method
        if not _FITTED_NAME.fullmatch(name) or hasattr(type(estimator), name):
            raise FlawError(f"an estimator does not learn {shown(name)}")
    return {name: decode(value, arrays) for name, value in attributes.items()}


def _features(features: dict[str, Any]) -> dict[str, Any]:
    state: dict[str, Any] = {"n_features_in_": features["count"]}
    if features["names"] is not None:
        state["feature_names_in_"] = np.array(features["names"], dtype=object)
    return state
