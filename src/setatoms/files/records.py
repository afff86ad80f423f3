"""Records of delimited text, exactly: slow, for headers, for doubtful quotes and for messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple


class TextRecord(NamedTuple):
    """One record of a delimited file.

    Attributes
    ----------
    fields : list of str
        Its cells, without quotes.
    line : int
        Its first line, counted from 0 at the start of the data.
    end : int
        Where the next record starts.
    closed : bool
        False if the data ended inside quotes.
    """

    fields: list[str]
    line: int
    end: int
    closed: bool


@lru_cache(maxsize=8)
def _field(delimiter: bytes) -> re.Pattern[bytes]:
    """Match one cell and what ends it; groups: in quotes, after the quotes, plain, the end."""
    plain = rb"[^%b\r\n]" % re.escape(delimiter)
    # a quote opens only at the start of a cell; possessive, so never more than one try
    return re.compile(
        rb'(?:"((?:[^"]++|"")*+)(?:"(%b*+))?|(%b*+))(%b|\r\n|\n|\r|\Z)?'
        % (plain, plain, re.escape(delimiter))
    )


def records(data: bytes, delimiter: bytes) -> Iterator[TextRecord]:
    r"""Yield the records of `data`, which starts at the start of one; blank lines are none.

    Examples
    --------
    >>> [record.fields for record in records(b'a,"b\n""c"\r\n\n1,2', b",")]
    [['a', 'b\n"c'], ['1', '2']]
    """
    field, position, line = _field(delimiter), 0, 0
    while position < len(data):
        fields, first_line, start, closed = [], line, position, True
        while True:
            match = field.match(data, position)
            if match is None:  # pragma: no cover  every part of the pattern may be empty
                return
            position = match.end()
            fields.append(_cell(match))
            line += count_lines(match[0])
            if match[1] is not None and match[2] is None:
                closed, position = False, len(data)
                break
            if match[4] != delimiter:
                break
        if fields != [""] or data[start : start + 1] == b'"':
            yield TextRecord(fields, first_line, position, closed)


def _cell(match: re.Match[bytes]) -> str:
    inside, after, plain, _ = match.groups()
    cell = plain if inside is None else inside.replace(b'""', b'"') + (after or b"")
    return cell.decode(errors="backslashreplace")


def count_lines(data: bytes) -> int:
    """Count the ends of lines: line feeds, and carriage returns without one."""
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
