"""Values of an estimator as JSON and named arrays, and back; only types listed here travel."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setatoms.decisions import Combination
from setatoms.estimators.standardize import Standardizer
from setatoms.estimators.stream_state import Reference, Stream
from setatoms.learning.dictionary import FittedDictionary
from setatoms.learning.history import History
from setatoms.learning.kinds import KINDS
from setatoms.persistence.errors import FlawError, shown
from setatoms.streams import Alarm, Moments, Reservoir, RunningSums
from setatoms.views import Calibration, Guard, Neighbours

Arrays = dict[str, NDArray[Any]]

_RECORDS = (
    Alarm, Calibration, Combination, FittedDictionary, Guard, History, Moments, Neighbours,
    Reference, Reservoir, RunningSums, Standardizer, Stream,
)  # fmt: skip

_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_MOST_LEVELS = 12
_WHOLE_LIMIT = 2**63


def encode(value: Any, name: str, arrays: Arrays) -> Any:
    """Return `value` as JSON; arrays in it are added to `arrays` under `name`.

    Parameters
    ----------
    value : object
        None, truth values, numbers, strings, tuples, lists, arrays of numbers, or a record of
        the library. A ``RandomState`` becomes None: where its stream stands is not part of a model.
    name : str
        What the value is called, in messages and for arrays.
    arrays : dict
        Modified in place.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, str) or isinstance(value, np.random.RandomState):
        return value if isinstance(value, (bool, str)) else None
    if type(value) in (int, float):
        return _encode_number(value, name)
    if isinstance(value, np.ndarray):
        arrays[name] = value
        return {"array": name}
    if type(value) in (tuple, list):
        items = [encode(item, f"{name}.{i}", arrays) for i, item in enumerate(value)]
        return items if type(value) is tuple else {"list": items}
    return _encode_record(value, name, arrays)


def decode(value: Any, arrays: Arrays, level: int = 0) -> Any:
    """Return what `encode` made JSON of; arrays are taken out of `arrays`.

    Parameters
    ----------
    value : object
        Parsed JSON, of any form.
    arrays : dict
        Modified in place: an array that has found its place is removed.
    level : int, default=0
        How deep inside another value this one is.
    """
    if level > _MOST_LEVELS:
        raise FlawError(f"values in its header are nested more than {_MOST_LEVELS} deep")
    if isinstance(value, list):
        return tuple(decode(item, arrays, level + 1) for item in value)
    if not isinstance(value, dict):
        return value
    match value:
        case {"array": str(name)} if len(value) == 1 and name in arrays:
            return arrays.pop(name)
        case {"list": list(items)} if len(value) == 1:
            return [decode(item, arrays, level + 1) for item in items]
        case {"float": str(text)} if len(value) == 1 and text in _NOT_FINITE:
            return _NOT_FINITE[text]
        case {"record": str(kind), "fields": dict(fields)} if len(value) == 2:
            return _decode_record(kind, fields, arrays, level)
    raise FlawError(f"its header has a value of no known form, {shown(value)}")


def _encode_number(value: float, name: str) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if isinstance(value, int) and not -_WHOLE_LIMIT <= value < _WHOLE_LIMIT:
        raise FlawError(f"{name} has more than 64 bits", "give a smaller number")
    return value


def _encode_record(value: Any, name: str, arrays: Arrays) -> Any:
    kind = type(value).__name__
    if _records().get(kind) is not type(value):
        raise FlawError(
            f"{name} is of type {kind}, which a model file cannot hold",
            "give it as numbers, strings, tuples or an array; or pickle the estimator instead",
        )
    fields = {
        field: encode(getattr(value, field), f"{name}.{field}", arrays)
        for field in _field_names(type(value))
    }
    return {"record": kind, "fields": fields}


def _decode_record(kind: str, fields: dict[str, Any], arrays: Arrays, level: int) -> Any:
    record = _records().get(kind)
    if record is None or not fields.keys() <= set(_field_names(record)):
        raise FlawError(f"its header has a record {shown(kind)} with fields {shown(list(fields))}")
    values = {name: decode(value, arrays, level + 1) for name, value in fields.items()}
    try:
        return record(**values)
    except TypeError:
        raise FlawError(f"its header has a {kind} without all its fields") from None
    except ValueError as error:
        raise FlawError(f"its header has a {kind} that cannot be: {shown(str(error))}") from None


def _records() -> dict[str, Any]:
    """Return the only records that travel: those of the library, and the kinds of atoms."""
    return {cls.__name__: cls for cls in (*KINDS.values(), *_RECORDS)}


def _field_names(record: Any) -> tuple[str, ...]:
    if dataclasses.is_dataclass(record):
        return tuple(field.name for field in dataclasses.fields(record))
    return tuple(record._fields)
