"""The form of a header, as a table of its entries, and of what safetensors says of an array."""

from __future__ import annotations

from types import NoneType
from typing import Any

from setatoms.persistence.errors import FlawError, shown

# In brackets what a list has items of, in round ones what a value can be; an int is never negative.
HEADER: dict[str, Any] = {
    "version": int,
    "estimator": str,
    "saved": str,
    "versions": dict,
    "features": {"count": int, "names": ([str], NoneType)},
    "training": {"n_rows": (int, NoneType), "iterations": int, "error": (float, NoneType)},
    "parameters": dict,
    "attributes": dict,
    "notes": dict,
    "arrays_sha256": str,
}
ARRAY = {"dtype": str, "shape": [int], "data_offsets": [int]}

# The types of numbers that a model may have, and NumPy's names for them.
NUMPY_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2",
    "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1",
    "BOOL": "|b1",
}  # fmt: skip


def check_form(what: str, value: Any, form: Any) -> None:
    """Raise a FlawError unless a value of parsed JSON has exactly the entries of a form."""
    if not isinstance(form, dict):
        if not _fits(value, form):
            raise FlawError(f"its header has {what}={shown(value)}")
    elif not isinstance(value, dict) or value.keys() != form.keys():
        raise FlawError(f"its header has {shown(value)} for {what}, not {', '.join(form)}")
    else:
        for name, inner in form.items():
            check_form(f"{what}.{name}".removeprefix("header."), value[name], inner)


def _fits(value: Any, form: Any) -> bool:
    if isinstance(form, tuple):
        return any(_fits(value, choice) for choice in form)
    if isinstance(form, list):
        return isinstance(value, list) and all(_fits(item, form[0]) for item in value)
    return type(value) is form and (form is not int or value >= 0)
