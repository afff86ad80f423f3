"""Cut a stream of text into blocks of whole records, in constant memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import numpy as np

from setatoms.files.errors import located
from setatoms.files.records import count_lines, records

BLOCK_BYTES = 2 << 20
RECORD_LIMIT = 64 << 20


class TextBlock(NamedTuple):
    """Whole records.

    Attributes
    ----------
    data : bytes
        UTF-8 text without NUL.
    first_line : int
        The number of its first line in the file, from 1.
    """

    data: bytes
    first_line: int


class Stream(Protocol):
    """Anything that gives bytes."""

    def read(self, n_bytes: int, /) -> bytes:
        """Return at most about `n_bytes` more, nothing at the end."""
        ...


def delimited_blocks(
    stream: Stream, name: str, delimiter: bytes, size: int = BLOCK_BYTES
) -> Iterator[TextBlock]:
    """Yield blocks that end where a record of a delimited file ends.

    Parameters
    ----------
    stream : Stream
        UTF-8 text.
    name : str
        The file's name, for messages.
    delimiter : bytes
        What separates cells.
    size : int, default=2 MiB
        About how many bytes a block has.
    """
    return _blocks(stream, name, lambda data: record_end(data, delimiter), size)


def line_blocks(stream: Stream, name: str, size: int = BLOCK_BYTES) -> Iterator[TextBlock]:
    """Yield blocks that end where a line ends."""
    return _blocks(stream, name, line_end, size)


def _blocks(
    stream: Stream, name: str, find_end: Callable[[bytes], int], size: int
) -> Iterator[TextBlock]:
    held, line = b"", 1
    while True:
        piece = stream.read(size)
        held += piece
        end = find_end(held) if piece else len(held)
        if end:
            data, held = held[:end], held[end:]
            _check_text(data, name, line)
            yield TextBlock(data, line)
            line += count_lines(data)
        if not piece:
            return
        if len(held) > RECORD_LIMIT:
            raise located(
                name,
                f"a record is longer than {RECORD_LIMIT >> 20} MiB; is a quote never closed?",
                place=f"line {line}",
            )
        # a long record is searched again as it grows: by doubling, in linear time all in all
        size = max(size, len(held))


def line_end(data: bytes) -> int:
    """Return the end of the last whole line, 0 if there is none."""
    # a carriage return at the very end may be half of an end of line
    return max(data.rfind(b"\n"), data.rfind(b"\r", 0, max(0, len(data) - 1))) + 1


def record_end(data: bytes, delimiter: bytes) -> int:
    r"""Return the end of the last whole record, 0 if there is none.

    Examples
    --------
    >>> record_end(b'1,2\n"a\nb', b",")
    4
    """
    if b'"' not in data:
        return line_end(data)
    codes = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(codes == ord('"'))
    if not _open_at_cells(codes, quotes, delimiter):
        return _exact_end(data, delimiter)
    ends = np.flatnonzero((codes == ord("\n")) | (codes == ord("\r")))
    ends = ends[ends < len(data) - (data[-1:] == b"\r")]
    outside = ends[np.searchsorted(quotes, ends) % 2 == 0]
    return int(outside[-1]) + 1 if len(outside) else 0


def _open_at_cells(
    codes: np.ndarray[tuple[int], np.dtype[np.uint8]],
    quotes: np.ndarray[tuple[int], np.dtype[np.intp]],
    delimiter: bytes,
) -> bool:
    """Tell whether quotes pair up: every second one opens a cell, or doubles the one before."""
    openings = quotes[::2]
    before = codes[openings - 1]
    allowed = np.isin(before, np.frombuffer(delimiter + b"\r\n", np.uint8))
    allowed[1:] |= openings[1:] - 1 == quotes[1::2][: len(openings) - 1]
    allowed[openings == 0] = True
    return bool(allowed.all())


def _exact_end(data: bytes, delimiter: bytes) -> int:
    end = 0
    for record in records(data, delimiter):
        whole = record.closed and data[record.end - 1 : record.end] in (b"\n", b"\r")
        if whole and not (record.end == len(data) and data.endswith(b"\r")):
            end = record.end
    return end


def _check_text(data: bytes, name: str, first_line: int) -> None:
    """Raise at the first byte that is not text."""
    position = data.find(b"\0")
    if position >= 0:
        raise _bad_byte(
            data,
            position,
            name,
            first_line,
            "a NUL byte; is this text? if it is UTF-16 without "
            "a byte order mark, give --encoding utf-16",
        )
    if data.isascii():
        return
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise _bad_byte(
            data,
            error.start,
            name,
            first_line,
            f"byte 0x{data[error.start]:02x} is not UTF-8; "
            "if the file is in another encoding, give it, as in --encoding latin-1",
        ) from None


def _bad_byte(data: bytes, position: int, name: str, first_line: int, what: str) -> ValueError:
    before = data[:position]
    start = max(before.rfind(b"\n"), before.rfind(b"\r")) + 1
    line = first_line + count_lines(before)
    return located(name, what, place=f"line {line}, byte {position - start + 1}")
