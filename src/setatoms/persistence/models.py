"""A model between memory and a file: its header and its arrays."""

from __future__ import annotations

import hashlib
import json
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from setatoms.persistence.atomic import replacing
from setatoms.persistence.errors import FlawError, blaming, shown
from setatoms.persistence.header import (
    KEY,
    MOST_BYTES,
    MOST_DIMENSIONS,
    MOST_HEADER_BYTES,
    VERSION,
    parse,
    read_start,
    seal,
)
from setatoms.persistence.schema import HEADER, NUMPY_TYPES, check_form

Arrays = dict[str, NDArray[Any]]

_TYPE_NAMES = {numpy_type: name for name, numpy_type in NUMPY_TYPES.items()}

# What safetensors writes about an array beside its name: at most eight sides and two offsets.
_MOST_ENTRY_BYTES = 256


class StoredModel(NamedTuple):
    """A header without its checksum, and the arrays it names."""

    header: dict[str, Any]
    arrays: Arrays


def write_model(path: str | PathLike[str], model: StoredModel) -> None:
    """Write a model to a file, whole or not at all.

    Parameters
    ----------
    path : path-like
        The file; one that exists is replaced.
    model : StoredModel
        Its header needs no `version`, `notes` and `arrays_sha256`.
    """
    with blaming("save the model to", path):
        arrays = {name: _as_stored(name, array) for name, array in model.arrays.items()}
        text = _lay_out(model.header, arrays, digest_of(arrays))
        with replacing(path) as stream:
            stream.write(save(arrays, metadata={KEY: text}))


def check_storable(model: StoredModel) -> None:
    """Raise a FlawError if `write_model` would refuse a model; nothing is written."""
    arrays = {name: _as_stored(name, array) for name, array in model.arrays.items()}
    _lay_out(model.header, arrays, "0" * 64)


def read_model(path: str | PathLike[str]) -> StoredModel:
    """Read a model from a file and check all that can be without knowing the estimators.

    Parameters
    ----------
    path : path-like
        A file that `write_model` wrote.
    """
    with blaming("load the model", path):
        parse(read_start(path)[0])
        try:
            # not mapped into memory: a file cut short meanwhile would end the process
            with safe_open(path, framework="np", backend="pread") as file:
                # read once more, since the file may have been replaced in between
                header = parse(file.metadata())
                arrays = file.get_tensors()
        except SafetensorError as error:
            raise FlawError(f"it is cut short, added to or damaged ({shown(str(error))})") from None
        for name, array in arrays.items():
            if array.dtype == np.bool_ and (array.view(np.uint8) > 1).any():
                raise FlawError(f"array {shown(name)} has truth values other than 0 and 1")
        if digest_of(arrays) != header["arrays_sha256"]:
            raise FlawError("its arrays are damaged: their SHA-256 does not match")
        return StoredModel(header, arrays)


def _lay_out(header: dict[str, Any], arrays: Arrays, digest: str) -> str:
    """Return the text of the header of a model that can be read again."""
    header = {"version": VERSION, "notes": {}} | header | {"arrays_sha256": digest}
    check_form("header", header, HEADER)
    text = seal(header)
    parse({KEY: text})
    in_file = len(json.dumps(text)) + sum(_MOST_ENTRY_BYTES + len(name) for name in arrays)
    if in_file > MOST_HEADER_BYTES:
        raise FlawError(
            f"its header would have {in_file} bytes, more than the {MOST_HEADER_BYTES} allowed",
            "shorten the names of the columns, or give long lists of numbers as arrays",
        )
    if (size := in_file + sum(array.nbytes for array in arrays.values())) > MOST_BYTES:
        raise FlawError(
            f"it takes {size} bytes, more than the {MOST_BYTES} allowed",
            "use fewer atoms or features",
        )
    return text


def _as_stored(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in the order of the file, if it is one of numbers."""
    stored = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    if stored.dtype.str not in _TYPE_NAMES or stored.ndim > MOST_DIMENSIONS:
        raise FlawError(
            f"{name} is an array of type {array.dtype} with {array.ndim} dimensions",
            "give it as an array of real numbers",
        )
    return stored


def digest_of(arrays: Arrays) -> str:
    """Return the SHA-256 of all arrays by name: a line on each, then its numbers."""
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        line = f"{name} {_TYPE_NAMES[array.dtype.str]} {list(array.shape)}\n"
        digest.update(line.encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
