"""The header of a model: JSON under a checksum, checked for form before anyone looks inside."""

from __future__ import annotations

import hashlib
import json
import math
import re
import zlib
from io import BufferedReader
from os import PathLike
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO, NoReturn

from setatoms.persistence.container import Member, read_first_member
from setatoms.persistence.errors import FlawError, blaming, shown
from setatoms.persistence.schema import check_form
from setatoms.persistence.upgrades import UPGRADES

FORMAT = "setatoms model"
VERSION = 1 + max(UPGRADES)

# Room for 100,000 columns with names of 80 characters; parsed, the worst takes some 200 MB.
MOST_BYTES = 2**23

Header = dict[str, Any]

_START, _AFTER = b'{"sha256": "', b'", '
_BODY_AT = len(_START) + 64 + len(_AFTER)


def read_header(path: str | PathLike[str]) -> Header:
    """Return what the header of a model file says, without reading the arrays.

    Takes milliseconds and imports neither NumPy nor Numba. The header's own checksum is verified,
    those of the arrays are not: only loading the model does that.

    Parameters
    ----------
    path : path-like
        A file that `save` wrote.

    Returns
    -------
    header : dict
        Plain JSON values, in the form of the current version: `format`, `version` (the file's own),
        `estimator`, `saved`, `versions`, `features`, `training`, `parameters`, `attributes`,
        `arrays`, and `notes` if there are any. Strings come from the file as they are: escape them
        before showing them.

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
    with blaming("read the header of", path), open_regular(path) as stream:
        return read_first(stream, size_of(stream))[0]


def open_regular(path: str | PathLike[str]) -> BufferedReader:
    """Open a file to read, but no pipe or device, which might never end."""
    if not S_ISREG(Path(path).stat().st_mode):
        raise FlawError("it is no regular file", "give the path of a file that save() wrote")
    return Path(path).open("rb")


def size_of(stream: BinaryIO) -> int:
    """Return the length of an open file and go to its start."""
    size = stream.seek(0, 2)
    stream.seek(0)
    return size


def read_first(stream: BinaryIO, size: int) -> tuple[Header, Member]:
    """Read, check and upgrade the header at the start of a file of `size` bytes."""
    member, content = read_first_member(stream, size, MOST_BYTES)
    header = parse(content)
    if zlib.crc32(content) != member.crc:
        raise FlawError(f"the CRC-32 of {member.name} does not match")
    _check_version(header)
    for version in range(header["version"], VERSION):
        header = UPGRADES[version](header)
    check_form(header)
    return header, member


def seal(header: Header) -> bytes:
    """Return the bytes of a header, its checksum in front of what it covers."""
    try:
        body = json.dumps(header, allow_nan=False).encode("ascii")[1:]
    except (TypeError, ValueError, RecursionError) as error:
        raise FlawError(
            f"its header is not JSON ({shown(str(error))})", "give notes of plain JSON values"
        ) from None
    content = _START + hashlib.sha256(body).hexdigest().encode("ascii") + _AFTER + body
    if len(content) > MOST_BYTES:
        raise FlawError(
            f"its header would have {len(content)} bytes, more than the {MOST_BYTES} allowed",
            "shorten the names of the columns, or give long lists of numbers as arrays",
        )
    return content


def parse(content: bytes) -> Header:
    """Return the header in `content` if its checksum holds and it is plain JSON."""
    digest = content[len(_START) : _BODY_AT - len(_AFTER)]
    expected = _START + hashlib.sha256(content[_BODY_AT:]).hexdigest().encode("ascii") + _AFTER
    if content[:_BODY_AT] != expected:
        raise FlawError(f"its header is damaged: the checksum {shown(digest)[1:]} does not match")
    try:
        return json.loads(
            "{" + content[_BODY_AT:].decode("ascii"),
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_short,
        )
    except (ValueError, RecursionError) as error:
        raise FlawError(f"its header is not the JSON of a model ({shown(str(error))})") from None


def _check_version(header: Header) -> None:
    """Raise unless this version of the library can read the header."""
    if header.get("format") != FORMAT:
        raise FlawError(f"its format is {shown(header.get('format'))}, not {FORMAT!r}")
    version = header.get("version")
    if type(version) is not int or version < 1:
        raise FlawError(f"its format version is {shown(version)}, not a whole number from 1")
    if version > VERSION:
        writer = _writer(header)
        raise FlawError(
            f"it has format version {version}, written by setatoms {writer or '(unknown)'}, and "
            f"the setatoms installed here reads versions 1 to {VERSION}",
            f'upgrade: pip install --upgrade "setatoms{">=" + writer if writer else ""}"',
        )


def _writer(header: Header) -> str:
    """Return the version of the library that wrote a file, if it looks like one."""
    versions = header.get("versions")
    writer = versions.get("setatoms") if isinstance(versions, dict) else None
    is_version = isinstance(writer, str) and re.fullmatch(r"[0-9][0-9a-z.+]{0,30}", writer)
    return str(writer) if is_version else ""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a name occurs twice")
    return members


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError("a number is too large")
    return number


def _short(text: str) -> int:
    if len(text) > 20 or not -(2**63) <= (number := int(text)) < 2**63:
        raise ValueError("a whole number has more than 64 bits")
    return number
