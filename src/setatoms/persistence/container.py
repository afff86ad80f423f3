"""The ZIP archive around a model, written and demanded byte for byte.

Members are stored, never compressed, and follow one another without gaps. The header says which
they are and how long, so a reader never searches the archive: it computes what each byte outside
the members must be, and compares. Whatever else a ZIP file can be, a bomb, a path out of the
folder, a second member of the same name, two directories that disagree, is not such a file.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import BinaryIO, NamedTuple

from setatoms.persistence.errors import FlawError

HEADER_NAME = "header.json"

# Lengths and offsets of a plain ZIP archive have 32 bits.
MOST_BYTES = 2**32 - 2

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_VERSION = 20
_STORED = 0
_FLAGS = 0
# 1 January 1980, midnight: the same model gives the same bytes; the header knows when it was saved
_TIME, _DATE = 0, 0x21


class Member(NamedTuple):
    """One file of the archive: its name, the length of its content, and its CRC-32."""

    name: str
    size: int
    crc: int


def prefix(member: Member) -> bytes:
    """Return what stands before the content of a member."""
    name = member.name.encode("ascii")
    sizes = (member.crc, member.size, member.size)
    fields = (_VERSION, _FLAGS, _STORED, _TIME, _DATE)
    return _LOCAL.pack(b"PK\x03\x04", *fields, *sizes, len(name), 0) + name


def suffix(members: Sequence[Member]) -> bytes:
    """Return what stands after the last member: the directory of the archive."""
    entries, start = [], 0
    for member in members:
        entries.append(_directory_entry(member, start))
        start += length(member)
    directory = b"".join(entries)
    count = len(members)
    end = _END.pack(b"PK\x05\x06", 0, 0, count, count, len(directory), start, 0)
    return directory + end


def length(member: Member) -> int:
    """Return how many bytes a member takes, its prefix included."""
    return _LOCAL.size + len(member.name) + member.size


def total_length(members: Sequence[Member]) -> int:
    """Return the length of an archive of these members."""
    entries = sum(_CENTRAL.size + len(member.name) for member in members)
    return sum(map(length, members)) + entries + _END.size


def read_first_member(stream: BinaryIO, size: int, most: int) -> tuple[Member, bytes]:
    """Read the header's member from the start of a file of `size` bytes.

    Parameters
    ----------
    stream : binary file
        At its start.
    size : int
        Length of the file.
    most : int
        The longest content to read.
    """
    length_of_prefix = _LOCAL.size + len(HEADER_NAME)
    found = stream.read(length_of_prefix)
    if len(found) < length_of_prefix:
        raise FlawError(f"it is no model of setatoms, or cut short: it has only {size} bytes")
    crc, content_size = struct.unpack_from("<2I", found, 14)
    member = Member(HEADER_NAME, content_size, crc)
    if found != prefix(member):
        raise FlawError(
            f"it is no model of setatoms: it does not start with an uncompressed {HEADER_NAME}",
            "give a file that save() wrote, not packed anew by another program",
        )
    if content_size > most:
        raise FlawError(f"its header has {content_size} bytes, more than the {most} allowed")
    content = stream.read(content_size)
    if len(content) < content_size:
        raise FlawError(f"it is cut short: it has {size} bytes and ends inside the header")
    return member, content


def _directory_entry(member: Member, start: int) -> bytes:
    name = member.name.encode("ascii")
    sizes = (member.crc, member.size, member.size)
    fields = (_VERSION, _VERSION, _FLAGS, _STORED, _TIME, _DATE)
    return _CENTRAL.pack(b"PK\x01\x02", *fields, *sizes, len(name), 0, 0, 0, 0, 0, start) + name
