"""What a header of the current version consists of."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from setatoms.persistence.errors import FlawError, shown

# Little-endian numbers, by the names that NumPy gives them, and the bytes of each.
ITEM_SIZES = {
    "<f8": 8, "<f4": 4, "<f2": 2,
    "<i8": 8, "<i4": 4, "<i2": 2, "|i1": 1,
    "<u8": 8, "<u4": 4, "<u2": 2, "|u1": 1,
    "|b1": 1,
}  # fmt: skip
MOST_DIMENSIONS = 8
MOST_NUMBERS = 2**32
MOST_ARRAYS = 50_000

_ARRAY_NAME = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*")
_ARRAY_NAME_LENGTH = 200
_DIGEST = re.compile(r"[0-9a-f]{64}")

Check = Callable[[Any], bool]


def check_form(header: dict[str, Any]) -> None:
    """Raise a FlawError unless a header has exactly the entries of a model, each of its kind."""
    _check_entries("header", {"notes": {}} | header, _HEADER)
    _check_entries("features", header["features"], _FEATURES)
    _check_entries("training", header["training"], _TRAINING)
    if not 0 < len(header["arrays"]) <= MOST_ARRAYS:
        raise FlawError(f"its header lists {len(header['arrays'])} arrays")
    for name, array in header["arrays"].items():
        if len(name) > _ARRAY_NAME_LENGTH or not _ARRAY_NAME.fullmatch(name):
            raise FlawError(f"its header names an array {shown(name)}")
        _check_entries(f"array {name}", array, _ARRAY)
    names, count = header["features"]["names"], header["features"]["count"]
    if names is not None and len(names) != count:
        raise FlawError(f"its header names {len(names)} features of {count}")


def array_bytes(array: dict[str, Any]) -> int:
    """Return how many bytes the numbers of an array take that a header describes."""
    return ITEM_SIZES[array["dtype"]] * math.prod(array["shape"])


def _check_entries(what: str, entries: Any, checks: dict[str, Check]) -> None:
    if not isinstance(entries, dict):
        raise FlawError(f"its header has {shown(entries)} for {what}")
    if entries.keys() != checks.keys():
        different = sorted(entries.keys() ^ checks.keys())
        raise FlawError(f"its header lacks or should not have {shown(different)} in {what}")
    for name, check in checks.items():
        if not check(entries[name]):
            raise FlawError(f"its header has {name}={shown(entries[name])} in {what}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_shape(value: Any) -> bool:
    is_short_list = isinstance(value, list) and len(value) <= MOST_DIMENSIONS
    # empty arrays too must have a shape that NumPy can make
    return (
        is_short_list
        and all(map(_is_count, value))
        and math.prod(max(side, 1) for side in value) <= MOST_NUMBERS
    )


def _optional(check: Check) -> Check:
    return lambda value: value is None or check(value)


_HEADER: dict[str, Check] = {
    "format": _is_text,
    "version": _is_count,
    "estimator": _is_text,
    "saved": _is_text,
    "versions": lambda value: _is_object(value) and all(map(_is_text, value.values())),
    "features": _is_object,
    "training": _is_object,
    "parameters": _is_object,
    "attributes": _is_object,
    "arrays": _is_object,
    "notes": _is_object,
}
_FEATURES: dict[str, Check] = {"count": _is_count, "names": _optional(_is_texts)}
_TRAINING: dict[str, Check] = {
    "n_rows": _optional(_is_count),
    "iterations": _is_count,
    "error": _optional(lambda value: isinstance(value, float)),
}
_ARRAY: dict[str, Check] = {
    "dtype": lambda value: _is_text(value) and value in ITEM_SIZES,
    "shape": _is_shape,
    "sha256": lambda value: _is_text(value) and _DIGEST.fullmatch(value) is not None,
}
