"""A model between memory and a file: its header and its arrays."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from os import PathLike
from typing import Any, BinaryIO, NamedTuple

from numpy.typing import NDArray

from setatoms.persistence.arrays import describe, member_of, read_array, write_array
from setatoms.persistence.atomic import replacing
from setatoms.persistence.container import (
    HEADER_NAME,
    MOST_BYTES,
    Member,
    prefix,
    suffix,
    total_length,
)
from setatoms.persistence.errors import FlawError, blaming
from setatoms.persistence.header import (
    FORMAT,
    VERSION,
    open_regular,
    parse,
    read_first,
    seal,
    size_of,
)
from setatoms.persistence.schema import ITEM_SIZES, MOST_DIMENSIONS, check_form

Array = NDArray[Any]


class StoredModel(NamedTuple):
    """A header without its checksums, and the arrays it names."""

    header: dict[str, Any]
    arrays: dict[str, Array]


def write_model(path: str | PathLike[str], model: StoredModel) -> None:
    """Write a model to a file, whole or not at all.

    Parameters
    ----------
    path : path-like
        The file; one that exists is replaced.
    model : StoredModel
        Its header needs no `format`, `version` and `arrays`.
    """
    with blaming("save the model to", path):
        arrays, entries, content = _lay_out(model, describe)
        with replacing(path) as stream:
            _write(stream, content, arrays, entries)


def check_storable(model: StoredModel) -> None:
    """Raise a FlawError if `write_model` would refuse a model; nothing is written."""
    _lay_out(model, _describe_undigested)


def _lay_out(
    model: StoredModel, describe_one: Callable[[Array], dict[str, Any]]
) -> tuple[dict[str, Array], dict[str, Any], bytes]:
    """Return arrays as they are stored, what the header says of them, and the header."""
    arrays = {name: _as_stored(name, array) for name, array in model.arrays.items()}
    entries = {name: describe_one(array) for name, array in arrays.items()}
    header = {"format": FORMAT, "version": VERSION} | model.header | {"arrays": entries}
    check_form(header)
    content = seal(header)
    parse(content)
    _check_length([_header_member(content), *_members(entries)])
    return arrays, entries, content


def _describe_undigested(array: Array) -> dict[str, Any]:
    """Return what the header says about an array, without reading the array."""
    return {"dtype": array.dtype.str, "shape": list(array.shape), "sha256": "0" * 64}


def read_model(path: str | PathLike[str]) -> StoredModel:
    """Read a model from a file and check all that can be without knowing the estimators.

    Parameters
    ----------
    path : path-like
        A file that `write_model` wrote, in this or an older version.
    """
    with blaming("load the model", path), open_regular(path) as stream:
        size = size_of(stream)
        header, first = read_first(stream, size)
        _check_size(size, [first, *_members(header["arrays"])])
        arrays, members = {}, [first]
        for name, entry in header["arrays"].items():
            arrays[name], member = read_array(stream, name, entry)
            members.append(member)
        if stream.read() != suffix(members):
            raise FlawError("the directory at its end does not fit what is in it")
        return StoredModel(header, arrays)


def _write(
    stream: BinaryIO, content: bytes, arrays: dict[str, Array], entries: dict[str, Any]
) -> None:
    members = [_header_member(content)]
    stream.write(prefix(members[0]))
    stream.write(content)
    for name, array in arrays.items():
        members.append(write_array(stream, name, array, entries[name]))
    stream.write(suffix(members))


def _members(entries: dict[str, Any]) -> list[Member]:
    return [member_of(name, entry) for name, entry in entries.items()]


def _header_member(content: bytes) -> Member:
    return Member(HEADER_NAME, len(content), zlib.crc32(content))


def _as_stored(name: str, array: Array) -> Array:
    """Return an array in the byte order of the file, if it is one of numbers."""
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if little.dtype.str not in ITEM_SIZES or little.ndim > MOST_DIMENSIONS:
        raise FlawError(
            f"{name} is an array of type {array.dtype} with {array.ndim} dimensions",
            "give it as an array of real numbers",
        )
    return little


def _check_length(members: list[Member]) -> None:
    if (size := total_length(members)) > MOST_BYTES:
        raise FlawError(
            f"it takes {size} bytes, and a file of this format holds {MOST_BYTES} at most",
            "use fewer atoms or features",
        )


def _check_size(size: int, members: list[Member]) -> None:
    """Raise unless a file has the length of its members: nothing is allocated before that."""
    expected = total_length(members)
    _check_length(members)
    if size != expected:
        fact = "it is cut short" if size < expected else "something was added to it"
        raise FlawError(f"{fact}: it has {size} bytes where its header announces {expected}")
