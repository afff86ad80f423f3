"""Scores over time: for each of some spans the highest, and whether a row in it is flagged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_MOST_SPANS = 240
_TICK_ROOM = 140.0
_DAY = 86_400.0


class Span(NamedTuple):
    """Rows of some time."""

    begin: float  # seconds since 1970
    end: float
    highest: float
    n_rows: int
    n_flagged: int


def cut_into_spans(times: Array, scores: Array, flagged: NDArray[np.bool_]) -> list[Span]:
    """Return equal spans of time that have rows, in order; none without two different times.

    Parameters
    ----------
    times : ndarray of shape (n_rows,)
        Seconds since 1970, NaN where unknown.
    scores : ndarray of shape (n_rows,)
        Higher is more anomalous.
    flagged : bool ndarray of shape (n_rows,)
        The rows called anomalies.
    """
    known = np.isfinite(times) & np.isfinite(scores)
    times, scores, flagged = times[known], scores[known], flagged[known]
    if len(times) < 2 or times.min() == times.max():
        return []
    edges = np.linspace(times.min(), times.max(), _MOST_SPANS + 1)
    places = np.clip(np.searchsorted(edges, times, side="right") - 1, 0, _MOST_SPANS - 1)
    highest = np.full(_MOST_SPANS, -np.inf)
    np.maximum.at(highest, places, scores)
    rows = np.bincount(places, minlength=_MOST_SPANS)
    alarms = np.bincount(places[flagged], minlength=_MOST_SPANS)
    return [
        Span(float(edges[i]), float(edges[i + 1]), float(highest[i]), int(rows[i]), int(alarms[i]))
        for i in np.flatnonzero(rows)
    ]


@dataclass(frozen=True)
class TimeDrawing:
    """Where the parts of a drawing of scores over time are; ``timeline.svg`` draws them.

    Parameters
    ----------
    name : str
        Its class on the page.
    width, height : float
        Size in pixels at which the words have the size of the page.
    spans : list of Span
        What to draw.
    threshold : float or None
        Drawn as a line.
    """

    name: str
    width: float
    height: float
    spans: list[Span]
    threshold: float | None
    left: float = 40.0
    top: float = 26.0

    @property
    def right(self) -> float:
        """Return where the axis of time ends."""
        return self.width - 10.0

    @property
    def floor(self) -> float:
        """Return where the axis of time is."""
        return self.height - 40.0

    def x(self, time: float) -> float:
        """Return where a time is."""
        begin, end = self.spans[0].begin, self.spans[-1].end
        return self.left + (time - begin) / (end - begin) * (self.right - self.left)

    def y(self, score: float) -> float:
        """Return where a score is: by logarithms, so that one outlier does not flatten the rest."""
        highest = max(*(span.highest for span in self.spans), self.threshold or 0.0)
        share = np.log1p(max(score, 0.0)) / max(np.log1p(max(highest, 0.0)), 1e-12)
        return float(self.floor - share * (self.floor - self.top))

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Yield a few times with their names."""
        begin, end = self.spans[0].begin, self.spans[-1].end
        n_ticks = max(2, int((self.right - self.left) / _TICK_ROOM))
        for time in np.linspace(begin, end, n_ticks):
            yield float(time), in_calendar(float(time), end - begin)


def in_calendar(time: float, length: float) -> str:
    """Return a time as precisely as a drawing of this length in seconds needs.

    Examples
    --------
    >>> in_calendar(0.0, 1e9), in_calendar(0.0, 1e6), in_calendar(3600.0, 1e4)
    ('1970-01', '1970-01-01', '01:00')
    """
    try:
        moment = datetime.fromtimestamp(time, UTC)
    except (OverflowError, OSError, ValueError):
        return f"{time:.4g}"
    shapes = ((2 * _DAY, "%H:%M"), (700 * _DAY, "%Y-%m-%d"))
    return moment.strftime(next((shape for most, shape in shapes if length < most), "%Y-%m"))
