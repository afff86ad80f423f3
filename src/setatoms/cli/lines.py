"""Lines as they come: no more are waited for than have come already."""

from __future__ import annotations

import os
import select
from collections import deque

_CHUNK = 1 << 16
LONGEST_LINE = 1 << 20


class LineReader:
    """Reads lines from a descriptor, in memory that does not grow.

    Parameters
    ----------
    descriptor : int
        What to read from.

    Attributes
    ----------
    ended : bool
        Whether all lines have been taken.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines: deque[bytes | None] = deque()
        self._rest = b""
        self._too_long = False
        self._at_end = False

    @property
    def ended(self) -> bool:
        """Whether all lines have been taken."""
        return self._at_end and not self._lines

    def take(self, most: int, timeout: float | None) -> list[bytes | None]:
        """Return the lines that have come, up to `most`; None stands for one that is too long.

        Waits for the first of them, but no longer than `timeout` seconds.
        """
        while len(self._lines) < most and not self._at_end:
            wait = 0.0 if self._lines else timeout
            if not select.select([self._descriptor], [], [], wait)[0]:
                break
            self._feed(os.read(self._descriptor, _CHUNK))
        return [self._lines.popleft() for _ in range(min(most, len(self._lines)))]

    def _feed(self, chunk: bytes) -> None:
        if not chunk:
            self._at_end = True
            if self._rest or self._too_long:
                self._end_line(self._rest)
            return
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            self._end_line(line)
        if len(self._rest) > LONGEST_LINE:
            self._rest, self._too_long = b"", True

    def _end_line(self, line: bytes) -> None:
        self._lines.append(None if self._too_long or len(line) > LONGEST_LINE else line)
        self._too_long = False
