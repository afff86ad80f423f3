"""The header of a model: JSON under a checksum, checked for form before anyone looks inside."""

from __future__ import annotations

import json
import math
from hashlib import sha256
from os import PathLike
from pathlib import Path
from stat import S_ISREG
from typing import Any

from setatoms.persistence.errors import FlawError, blaming, shown
from setatoms.persistence.schema import ARRAY, HEADER, NUMPY_TYPES, check_form

VERSION = 1

# The key of safetensors' metadata under which the header is.
KEY = "setatoms"

# Room for 100,000 columns with names of 75 characters; parsed, the worst takes some 200 MB.
MOST_HEADER_BYTES = 2**23
MOST_BYTES = 2**32
MOST_DIMENSIONS = 8

Header = dict[str, Any]

_NO_MODEL = "it is no model of setatoms"
_GIVE_ANOTHER = "give the path of a file that save() wrote"


def read_header(path: str | PathLike[str]) -> Header:
    """Return what the header of a model file says, without reading the arrays.

    Takes milliseconds and imports neither NumPy nor Numba. The header's own checksum is verified,
    that of the arrays is not: only loading the model does that.

    Parameters
    ----------
    path : path-like
        A file that `save` wrote.

    Returns
    -------
    header : dict
        Plain JSON values: `version`, `estimator`, `saved`, `versions`, `features`, `training`,
        `parameters`, `attributes`, `notes`, `arrays_sha256`, and `arrays`, the `dtype` and `shape`
        of each array. Strings come from the file as they are: escape them before showing them.

    Raises
    ------
    ModelFileError
        If the file is no model, is damaged, or is from a newer version of the library.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from setatoms import VectorAtomDetector
    >>> from setatoms.persistence import read_header
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> path = tempfile.mkdtemp() + "/noise.setatoms"
    >>> VectorAtomDetector(n_atoms=3, random_state=0).fit(X).save(path)
    >>> header = read_header(path)
    >>> header["estimator"], header["training"]["n_rows"], header["parameters"]["n_atoms"]
    ('VectorAtomDetector', 200, 3)
    """
    with blaming("read the header of", path):
        metadata, entries = read_start(path)
        arrays = {
            name: {"dtype": entry["dtype"], "shape": entry["shape"]}
            for name, entry in entries.items()
        }
        return parse(metadata) | {"arrays": arrays}


def read_start(path: str | PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """Return safetensors' metadata and its entry for each array, all of them in bounds.

    safetensors itself takes longer headers, arrays of any shape, and two of the same name.
    """
    facts = Path(path).stat()
    if not S_ISREG(facts.st_mode):  # a pipe or a device might never end
        raise FlawError("it is no regular file", _GIVE_ANOTHER)
    with Path(path).open("rb") as stream:
        size, brace = int.from_bytes(stream.read(8), "little"), stream.read(1)
        if brace != b"{":
            raise FlawError(f"{_NO_MODEL}, no safetensors file", _GIVE_ANOTHER)
        if size > facts.st_size - 8:
            raise FlawError(f"{_NO_MODEL}, or cut short: it ends inside the header")
        if size > MOST_HEADER_BYTES or facts.st_size > MOST_BYTES:
            raise FlawError(
                f"it has {facts.st_size} bytes and a header of {size}, more than the {MOST_BYTES} "
                f"and {MOST_HEADER_BYTES} allowed"
            )
        content = brace + stream.read(max(size - 1, 0))
    entries = _parse_json(content)
    metadata = entries.pop("__metadata__", None)
    for name, entry in entries.items():
        check_form(f"array {shown(name)}", entry, ARRAY)
        sides = [max(side, 1) for side in entry["shape"]]  # NumPy checks them of empty arrays too
        if len(sides) > MOST_DIMENSIONS or math.prod(sides) > MOST_BYTES:
            raise FlawError(f"its array {shown(name)} has shape {shown(entry['shape'])}")
        if entry["dtype"] not in NUMPY_TYPES:
            raise FlawError(f"its array {shown(name)} has dtype={shown(entry['dtype'])}")
    return metadata, entries


def seal(header: Header) -> str:
    """Return the text of a header, with the checksum of all the rest as its first entry."""
    try:
        body = json.dumps(header, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise FlawError(
            f"its header is not JSON ({shown(str(error))})", "give notes of plain JSON values"
        ) from None
    return f'{{"sha256": "{sha256(body.encode("ascii")).hexdigest()}", {body[1:]}'


def parse(metadata: Any) -> Header:
    """Return the header in safetensors' metadata if its checksum holds and its form is right."""
    text = metadata.get(KEY) if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise FlawError(f"{_NO_MODEL}: no metadata {KEY!r}", _GIVE_ANOTHER)
    header = _parse_json(text.encode("utf-8", "replace"))
    header.pop("sha256", None)
    if seal(header) != text:
        raise FlawError("its header is damaged: its SHA-256 does not match")
    _check_version(header)
    check_form("header", header, HEADER)
    check_form("versions", list(header["versions"].values()), [str])
    names, count = header["features"]["names"], header["features"]["count"]
    if names is not None and len(names) != count:
        raise FlawError(f"its header names {len(names)} features of {count}")
    return header


def _check_version(header: Header) -> None:
    """Raise unless this version of the library can read the header."""
    version = header.get("version")
    if type(version) is not int or version < 1:
        raise FlawError(f"its format version is {shown(version)}, not a whole number from 1")
    if version > VERSION:
        raise FlawError(
            f"it has format version {version}, of setatoms {shown(header.get('versions'))}, and "
            f"the setatoms installed here reads version {VERSION}",
            "upgrade: pip install --upgrade setatoms",
        )


def _parse_json(content: bytes) -> Header:
    """Return an object of JSON in which no name occurs twice."""
    try:
        value = json.loads(content.decode(), object_pairs_hook=_unique, parse_int=_short)
    except (ValueError, RecursionError) as error:
        raise FlawError(f"{_NO_MODEL}: its header is not JSON ({shown(str(error))})") from None
    if not isinstance(value, dict):
        raise FlawError(f"{_NO_MODEL}: its header is {shown(value)}")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a name occurs twice")
    return members


def _short(text: str) -> int:
    if len(text) > 20 or not -(2**63) <= (number := int(text)) < 2**63:
        raise ValueError("a whole number has more than 64 bits")
    return number
