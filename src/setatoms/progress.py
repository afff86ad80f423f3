"""A progress bar on one line of a terminal or in the cell of a notebook, silent everywhere else."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, TextIO

from setatoms.markup import escaped
from setatoms.terminal import printable

_WIDTH = 30
_REDRAW_SECONDS = 0.1
_TELLING_SECONDS = 3.0


class Progress:
    """Show how far a computation is, while it runs.

    The line is rewritten in place on a terminal, with the time that is left. In a notebook it is a
    bar of the page, which is replaced in place. When the stream is a file or a pipe nothing is
    written, so logs stay clean.

    Parameters
    ----------
    total : float
        The sum of all amounts that :meth:`advance` will be given.
    label : str
        What is going on, shown before the bar.
    enabled : bool, default=True
        ``False`` writes nothing; `advance` may still be called.
    stream : file object, default=sys.stderr
        Where the line goes.

    Examples
    --------
    >>> with Progress(3, "counting", enabled=False) as progress:
    ...     for _ in range(3):
    ...         progress.advance()
    >>> progress.share
    1.0
    """

    def __init__(
        self, total: float, label: str, *, enabled: bool = True, stream: TextIO | None = None
    ) -> None:
        self._total = total
        self._label = label
        self._stream = sys.stderr if stream is None else stream
        self._enabled = enabled and shows_progress(self._stream)
        in_notebook = self._enabled and _is_notebook(self._stream)
        self._cell = _Cell.of_notebook() if in_notebook else None
        self._began = time.monotonic()
        self._length = 0
        self._done = 0.0
        self._drawn_at = -_REDRAW_SECONDS
        self._drawn = False

    @property
    def share(self) -> float:
        """The share done so far, from 0 to 1."""
        return min(1.0, self._done / self._total) if self._total > 0 else 1.0

    def advance(self, amount: float = 1.0, note: str = "") -> None:
        """Count `amount` as done and show `note` behind the bar."""
        self._done += amount
        now = time.monotonic()
        if self._enabled and (now - self._drawn_at >= _REDRAW_SECONDS or self.share == 1.0):
            self._drawn_at = now
            self._draw(note)

    def _draw(self, note: str) -> None:
        filled = int(_WIDTH * self.share)
        bar = "#" * filled + "." * (_WIDTH - filled)
        words = " ".join(filter(None, [printable(note), self._left()]))
        line = f"{printable(self._label)} [{bar}] {self.share:4.0%} {words}".rstrip()
        if self._cell is not None:
            self._cell.show(line, _bar_html(self._label, self.share, words))
            return
        # blanks over what a longer line left behind
        self._stream.write(f"\r{line.ljust(self._length)}")
        self._length = len(line)
        self._stream.flush()
        self._drawn = True

    def _left(self) -> str:
        """Return how long it will take, once that can be told."""
        elapsed = time.monotonic() - self._began
        if elapsed < _TELLING_SECONDS or not 0.02 < self.share < 1.0:
            return ""
        return f"{in_words(elapsed * (1.0 / self.share - 1.0))} left"

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._drawn:
            self._stream.write("\n")
            self._stream.flush()


def shows_progress(stream: TextIO) -> bool:
    """Tell whether somebody watches what is written to a stream: on a terminal, in a notebook."""
    return _is_notebook(stream) or stream.isatty()


def _is_notebook(stream: TextIO) -> bool:
    return type(stream).__module__.startswith("ipykernel")


class _Cell:
    """A place in the output of a notebook's cell whose content is replaced."""

    def __init__(self, display: Any) -> None:
        self._display = display
        self._handle: Any = None

    @classmethod
    def of_notebook(cls) -> _Cell | None:
        """Return one, or None where there is no IPython to show it."""
        try:
            from IPython.display import display
        except ImportError:
            return None
        return cls(display)

    def show(self, text: str, html: str) -> None:
        """Show HTML, or text where there is none, in place of what was shown before."""
        forms = {"text/plain": text, "text/html": html}
        if self._handle is None:
            self._handle = self._display(forms, raw=True, display_id=True)
        else:
            self._handle.update(forms, raw=True)


def _bar_html(label: str, share: float, words: str) -> str:
    return (
        f'<div>{escaped(label)} <progress value="{share:.4f}" max="1" style="width:20em">'
        f"</progress> {share:.0%} {escaped(words)}</div>"
    )


def in_words(seconds: float) -> str:
    """Return a duration in its two largest units.

    Examples
    --------
    >>> in_words(7385.2)
    '2 h 3 min'
    """
    left = max(0, round(seconds))
    units = [("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)]
    while len(units) > 1 and left < units[0][1]:
        units.pop(0)
    (name, size), *smaller = units
    words = [f"{left // size} {name}"]
    words += [f"{left % size // small} {unit}" for unit, small in smaller[:1]]
    return " ".join(words)
