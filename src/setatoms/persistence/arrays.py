"""Arrays as members of the archive, each an ``.npy`` file of version 1.0."""

from __future__ import annotations

import hashlib
import zlib
from io import BufferedReader
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from setatoms.persistence.container import Member, prefix
from setatoms.persistence.errors import FlawError
from setatoms.persistence.schema import array_bytes

Array = NDArray[Any]

_MAGIC = b"\x93NUMPY\x01\x00"
_ALIGNMENT = 64


def describe(array: Array) -> dict[str, Any]:
    """Return what the header says about an array."""
    entry: dict[str, Any] = {"dtype": array.dtype.str, "shape": list(array.shape)}
    return entry | {"sha256": _digest(_npy_header(entry), _bytes_of(array))}


def member_of(name: str, entry: dict[str, Any], crc: int = 0) -> Member:
    """Return the member that an array of this name and description is."""
    return Member(f"{name}.npy", len(_npy_header(entry)) + array_bytes(entry), crc)


def write_array(stream: BinaryIO, name: str, array: Array, entry: dict[str, Any]) -> Member:
    """Write an array as the next member of the archive."""
    start, numbers = _npy_header(entry), _bytes_of(array)
    member = member_of(name, entry, zlib.crc32(numbers, zlib.crc32(start)))
    stream.write(prefix(member))
    stream.write(start)
    stream.write(numbers)
    return member


def read_array(stream: BufferedReader, name: str, entry: dict[str, Any]) -> tuple[Array, Member]:
    """Read the next member of the archive, which must be what `entry` says.

    The length of the file must have been compared with that of its members before.
    """
    start = _npy_header(entry)
    found = stream.read(len(prefix(member_of(name, entry))))
    if stream.read(len(start)) != start:
        raise FlawError(f"array {name} is not of the type and shape in the header")
    array = np.empty(entry["shape"], dtype=entry["dtype"])
    numbers = array.reshape(-1).view(np.uint8).data
    if stream.readinto(numbers) != len(numbers):
        raise FlawError(f"it is cut short inside array {name}")
    if _digest(start, numbers) != entry["sha256"]:
        raise FlawError(f"array {name} is damaged: its SHA-256 does not match")
    if array.dtype == np.bool_ and (array.view(np.uint8) > 1).any():
        raise FlawError(f"array {name} has truth values other than 0 and 1")
    member = member_of(name, entry, zlib.crc32(numbers, zlib.crc32(start)))
    if found != prefix(member):
        raise FlawError(f"what stands before array {name} in the archive does not belong there")
    return array, member


def _bytes_of(array: Array) -> memoryview:
    """Return the bytes of an array in rows, as a view where possible."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _digest(start: bytes, numbers: memoryview) -> str:
    digest = hashlib.sha256(start)
    digest.update(numbers)
    return digest.hexdigest()


def _npy_header(entry: dict[str, Any]) -> bytes:
    """Return the start of an ``.npy`` file, always the same for a type and a shape."""
    shape = tuple(entry["shape"])
    text = f"{{'descr': {entry['dtype']!r}, 'fortran_order': False, 'shape': {shape}, }}"
    size = len(_MAGIC) + 2 + len(text) + 1
    text += " " * (-size % _ALIGNMENT) + "\n"
    return _MAGIC + len(text).to_bytes(2, "little") + text.encode("ascii")
