"""Where the parts of a drawing of the distribution are; ``distribution.svg`` draws them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from setatoms.histogram import Histogram

_TICK_ROOM = 60.0


@dataclass(frozen=True)
class Drawing:
    """One drawing of a histogram with its threshold.

    Parameters
    ----------
    name : str
        Its class on the page.
    width, height : float
        Size in pixels at which the words have the size of the page.
    histogram : Histogram
        What to draw.
    threshold : float or None
        Drawn as a line.
    """

    name: str
    width: float
    height: float
    histogram: Histogram
    threshold: float | None
    left: float = 40.0
    top: float = 26.0

    @property
    def right(self) -> float:
        """Return where the axis of scores ends."""
        return self.width - 10.0

    @property
    def floor(self) -> float:
        """Return where the bars stand."""
        return self.height - 40.0

    def x(self, score: float) -> float:
        """Return where a score is."""
        axis, edges = self.histogram.axis, self.histogram.edges
        low, here, high = axis.forward(np.array([edges[0], score, edges[-1]]))
        return float(self.left + (here - low) / (high - low) * (self.right - self.left))

    def y(self, rows: float) -> float:
        """Return where a number of rows is: by square roots, so that few are seen beside many."""
        return self.floor - float(np.sqrt(rows / self._most)) * (self.floor - self.top)

    def row_ticks(self) -> list[int]:
        """Return a few round numbers of rows, the largest first, far enough apart to read."""
        ladder = [step * 10**power for power in range(10) for step in (1, 2, 5)]
        chosen: list[int] = []
        for rows in reversed([rows for rows in ladder if rows <= self._most]):
            if not chosen or np.sqrt(chosen[-1]) - np.sqrt(rows) > 0.18 * np.sqrt(self._most):
                chosen.append(rows)
        return chosen[:5]

    def score_ticks(self) -> Iterator[float]:
        """Yield round scores, rising, far enough apart to read."""
        last = -np.inf
        for score in self.histogram.round_scores():
            x = self.x(score)
            if x - last >= _TICK_ROOM and x <= self.right:
                last = x
                yield score

    @property
    def _most(self) -> int:
        return max(1, int((self.histogram.quiet + self.histogram.flagged).max()))
