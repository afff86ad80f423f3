"""Draw the distribution as inline SVG, in colours that the page decides on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from setatoms.report.distribution import Histogram
from setatoms.report.numbers import count, number

_LEFT, _RIGHT, _TOP, _BOTTOM = 40.0, 10.0, 26.0, 40.0
# However few, rows in a bin are seen.
_LOWEST_BAR = 2.0
_BAR_GAP = 1.0
_TICK_ROOM = 60.0


@dataclass(frozen=True)
class Drawing:
    """One drawing of a histogram with its threshold.

    Parameters
    ----------
    histogram : Histogram
        What to draw.
    threshold : float or None
        Drawn as a line.
    width, height : float
        Size in pixels at which the words have the size of the page.
    """

    histogram: Histogram
    threshold: float | None
    width: float
    height: float

    def to_svg(self, css_class: str, label: str) -> str:
        """Return the SVG element; `label` says it in words and is HTML already."""
        body = "".join((*self._grid(), *self._bars(), *self._score_ticks(), *self._threshold()))
        return (
            f'<svg class="{css_class}" viewBox="0 0 {self.width:g} {self.height:g}" role="img" '
            f'aria-label="{label}">{body}</svg>'
        )

    def x(self, score: float) -> float:
        """Return where a score is."""
        axis, edges = self.histogram.axis, self.histogram.edges
        low, here, high = axis.forward(np.array([edges[0], score, edges[-1]]))
        return float(_LEFT + (here - low) / (high - low) * (self.width - _LEFT - _RIGHT))

    def y(self, rows: float) -> float:
        """Return where a number of rows is: by square roots, so that few are seen beside many."""
        height = self.height - _TOP - _BOTTOM
        return self._floor - float(np.sqrt(rows / self._most)) * height

    @property
    def _floor(self) -> float:
        return self.height - _BOTTOM

    @property
    def _most(self) -> int:
        return max(1, int((self.histogram.quiet + self.histogram.flagged).max()))

    def _grid(self) -> Iterator[str]:
        for rows in _row_ticks(self._most):
            y = self.y(rows)
            yield (
                f'<line class="grid" x1="{_LEFT:g}" x2="{self.width - _RIGHT:g}" '
                f'y1="{y:.1f}" y2="{y:.1f}"/>'
                f'<text class="tick" x="{_LEFT - 6:g}" y="{y + 4:.1f}" text-anchor="end">'
                f"{_short(rows)}</text>"
            )
        yield f'<text class="tick" x="0" y="{_TOP - 14:g}">rows (square-root scale)</text>'

    def _bars(self) -> Iterator[str]:
        bins = zip(
            self.histogram.edges,
            self.histogram.edges[1:],
            self.histogram.quiet.tolist(),
            self.histogram.flagged.tolist(),
            strict=False,
        )
        for low, high, quiet, flagged in bins:
            if quiet or flagged:
                yield self._bar(float(low), float(high), quiet, flagged)

    def _bar(self, low: float, high: float, quiet: int, flagged: int) -> str:
        left, right = self.x(low), self.x(high)
        wide = f'x="{left:.1f}" width="{max(right - left - _BAR_GAP, 0.5):.1f}"'
        top = min(self.y(quiet + flagged), self._floor - _LOWEST_BAR)
        # the anomalies stand on the others
        middle = self._floor + (top - self._floor) * quiet / (quiet + flagged)
        parts = [_rect("quiet", wide, middle, self._floor), _rect("flagged", wide, top, middle)]
        words = f"{number(low, 3)} to {number(high, 3)}: {_rows(quiet + flagged)}"
        if flagged:
            words += f", {count(flagged)} flagged"
        catch = f'<rect class="catch" {wide} y="{_TOP:g}" height="{self._floor - _TOP:g}"/>'
        return (
            f'<g class="bar" data-tip="{words}"><title>{words}</title>{"".join(parts)}{catch}</g>'
        )

    def _score_ticks(self) -> Iterator[str]:
        floor = self._floor
        yield (
            f'<line class="axis" x1="{_LEFT:g}" x2="{self.width - _RIGHT:g}" '
            f'y1="{floor:g}" y2="{floor:g}"/>'
        )
        last = -np.inf
        for score in _score_candidates(self.histogram):
            x = self.x(score)
            if x - last >= _TICK_ROOM and x <= self.width - _RIGHT:
                last = x
                yield (
                    f'<text class="tick" x="{x:.1f}" y="{floor + 16:g}" text-anchor="middle">'
                    f"{number(score, 3)}</text>"
                )
        drawn_in = ", long tail drawn in" if self.histogram.axis.unit is not None else ""
        yield (
            f'<text class="tick" x="{self.width - _RIGHT:g}" y="{self.height - 4:g}" '
            f'text-anchor="end">score{drawn_in} \u2192 more anomalous</text>'
        )

    def _threshold(self) -> Iterator[str]:
        edges = self.histogram.edges
        if self.threshold is None or not edges[0] <= self.threshold <= edges[-1]:
            return
        x = self.x(self.threshold)
        # words stay inside the drawing
        side, shift = ("end", -6) if x > self.width * 0.6 else ("start", 6)
        yield (
            f'<line class="threshold" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 4:g}" '
            f'y2="{self._floor + 4:g}"/>'
            f'<text class="threshold-word" x="{x + shift:.1f}" y="{_TOP + 6:g}" '
            f'text-anchor="{side}">threshold {number(self.threshold, 3)}</text>'
        )


def _rect(css_class: str, wide: str, top: float, bottom: float) -> str:
    if bottom - top <= 0:
        return ""
    return f'<rect class="{css_class}" {wide} y="{top:.1f}" height="{bottom - top:.1f}"/>'


def _rows(rows: int) -> str:
    return f"{count(rows)} {'row' if rows == 1 else 'rows'}"


def _short(rows: int) -> str:
    """Return a round number of rows in few characters."""
    for unit, name in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if rows >= unit:
            return f"{rows / unit:g}{name}"
    return str(rows)


def _row_ticks(most: int) -> list[int]:
    """Return up to four round numbers of rows, the largest first, far enough apart to read."""
    ladder = [step * 10**power for power in range(10) for step in (1, 2, 5)]
    chosen: list[int] = []
    for rows in reversed([rows for rows in ladder if rows <= most]):
        if not chosen or np.sqrt(chosen[-1] / most) - np.sqrt(rows / most) > 0.18:
            chosen.append(rows)
    return chosen[:5]


def _score_candidates(histogram: Histogram) -> list[float]:
    """Return round scores to choose ticks from, rising."""
    low, high = float(histogram.edges[0]), float(histogram.edges[-1])
    if histogram.axis.unit is None:
        power = 10.0 ** np.floor(np.log10(high - low))
        step = power * (
            0.1 if (high - low) / power < 2 else 0.2 if (high - low) / power < 5 else 0.5
        )
        candidates = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
        return [float(f"{value:.10g}") for value in candidates]
    decades = range(int(np.floor(np.log10(high))) - 6, int(np.floor(np.log10(high))) + 1)
    ladder = [0.0, *(step * 10.0**power for power in decades for step in (1, 2, 3, 4, 5, 7))]
    return [float(f"{value:.10g}") for value in ladder if low <= value <= high]
