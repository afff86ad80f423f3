"""From the header of an older version to that of the next, one function for each version.

A new version adds a function here and a file to the tests; no function is ever changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from setatoms.persistence.errors import FlawError

Header = dict[str, Any]


def _from_1_to_2(header: Header) -> Header:
    """Give features and training their own entries; nothing was calibrated or filled yet."""
    try:
        parameters, attributes = dict(header["parameters"]), dict(header["attributes"])
        names, arrays = header["feature_names"], dict(header["arrays"])
        count = attributes.pop("n_features_in_")
        iterations = arrays["history_.error"]["shape"][0]
    except (KeyError, IndexError, TypeError, ValueError):
        raise FlawError("its header is not one of version 1") from None
    parameters["missing"] = "error"
    if "offset_" in attributes:
        attributes["calibration_scores_"] = None
    rest = {name: value for name, value in header.items() if name != "feature_names"}
    return rest | {
        "features": {"count": count, "names": names},
        "training": {"n_rows": None, "iterations": iterations, "error": None},
        "parameters": parameters,
        "attributes": attributes,
    }


def _from_2_to_3(header: Header) -> Header:
    """Detectors had one view and learned from all rows."""
    try:
        parameters, attributes = dict(header["parameters"]), dict(header["attributes"])
    except (KeyError, TypeError, ValueError):
        raise FlawError("its header is not one of version 2") from None
    if "offset_" in attributes:
        parameters["views"] = ["relation"]
        attributes["guard_"] = None
        attributes["n_screened_"] = 0
        attributes["lowest_scores_"] = None
        attributes["training_offset_"] = attributes["offset_"]
    return header | {"parameters": parameters, "attributes": attributes}


def _from_3_to_4(header: Header) -> Header:
    """Put the parts of a dictionary together; those of members were together already."""
    try:
        attributes = dict(header["attributes"])
        if "members_" in attributes:
            members = attributes["members_"]
            attributes["members_"] = [_dictionary(**member["fields"]) for member in members]
        else:
            names = {"kind": "kind_", "atoms": "components_", "radii": "radii_"}
            parts = {part: attributes.pop(name) for part, name in names.items()}
            attributes["dictionary_"] = _dictionary(**parts, history=attributes.pop("history_"))
    except (KeyError, TypeError, ValueError):
        raise FlawError("its header is not one of version 3") from None
    return header | {"attributes": attributes}


def _dictionary(*, kind: Any, atoms: Any, radii: Any, history: Any) -> dict[str, Any]:
    fields = {"kind": kind, "atoms": atoms, "radii": radii, "history": history}
    return {"record": "FittedDictionary", "fields": fields}


UPGRADES: dict[int, Callable[[Header], Header]] = {
    1: _from_1_to_2,
    2: _from_2_to_3,
    3: _from_3_to_4,
}
