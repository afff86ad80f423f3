"""Explanations and counterfactuals as HTML tables, for notebooks.

Everything that comes from data is escaped. Colours of text and lines are those of the page, so
that the tables can be read on light and on dark ones; there are no scripts and no styles that
reach beyond the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING

from setatoms.explain.text_form import highest, score_text, values_text
from setatoms.markup import escaped

if TYPE_CHECKING:
    from setatoms.explain.counterfactual import Counterfactual
    from setatoms.explain.explanation import Explanation

Ends = tuple[float, float]

_MOST_ROWS = 10
# Columns of each row: of one row alone there is room for more.
_MOST_COLUMNS, _MOST_COLUMNS_ALONE = 3, 20
_OBSERVED, _EXPECTED = "#e69f00", "#2b8cce"
# A bar: the range learned from, and room on both sides for values outside it.
_WIDTH, _HEIGHT, _ROOM = 150, 14, 18
_EDGE = 6
_CELL = "text-align:left;vertical-align:top"
_NUMBER = "text-align:right;vertical-align:top;white-space:nowrap"


def explanation_html(explanation: Explanation) -> str:
    """Return a table of the rows with the highest scores and of the columns behind them."""
    records, alone = explanation.records, len(explanation) == 1
    most = _MOST_COLUMNS_ALONE if alone else _MOST_COLUMNS
    body = []
    for i in highest([record["score"] for record in records], _MOST_ROWS):
        record = records[i]
        lines = []
        for column in record["columns"][:most]:
            values = column["column"], column["observed"], column["expected"]
            share = f"{100 * column['contribution']:.0f}\u00a0%"
            lines.append([*_value_cells(*values, explanation.seen), _cell(share, _NUMBER)])
        score = score_text(record["score"])
        common = [
            (escaped(explanation.index[i]), _CELL),
            (_flagged(score) if record["flagged"] else score, _NUMBER),
        ]
        if "kind" in record:
            common.append((escaped(record["kind"]), _CELL))
        body.append(_row_cells(common, lines))
    flagged = sum(record["flagged"] for record in records)
    kind = ["kind"] if any("kind" in record for record in records) else []
    heads = ["row", "score", *kind, "column", "observed", "expected", "", "share"]
    return _table(_count(len(records), f"{flagged} flagged"), heads, chain.from_iterable(body))


def counterfactual_html(found: Counterfactual) -> str:
    """Return a table of the rows with the highest scores and of what was replaced in them."""
    most = _MOST_COLUMNS_ALONE if len(found) == 1 else _MOST_COLUMNS
    body = []
    for i in highest(found.score_before, _MOST_ROWS):
        was, now = score_text(found.score_before[i]), score_text(found.score_after[i])
        lines = [_value_cells(*replaced, found.seen) for replaced in found.replaced(i)[:most]]
        common = [
            (escaped(found.index[i]), _CELL),
            (_flagged(was) if found.flagged_before[i] else was, _NUMBER),
            (_flagged(now) if found.flagged_after[i] else now, _NUMBER),
        ]
        body.append(_row_cells(common, lines))
    before, after = int(found.flagged_before.sum()), int(found.flagged_after.sum())
    caption = _count(len(found), f"{before} flagged before and {after} after")
    heads = ["row", "score before", "after", "column", "observed", "replaced by", ""]
    return _table(caption, heads, chain.from_iterable(body))


def draw_bar(observed: float | None, expected: float, seen: Ends | None) -> str:
    """Return a drawing of two values on the range learned from; a value far outside is an arrow.

    Examples
    --------
    >>> draw_bar(5.0, 1.0, (0.0, 4.0)).count("<circle")
    1
    >>> draw_bar(50.0, 1.0, None)
    ''
    """
    if seen is None or not seen[0] <= seen[1]:
        return ""
    to = _place(expected, seen)
    parts = [_line(_ROOM, _WIDTH - _ROOM, "currentColor", 2, 0.3)]
    words = f"expected {values_text(None, expected)[1]}"
    if observed is not None:
        at = _place(observed, seen)
        parts += [_line(at, to, _OBSERVED, 4, 0.45), _mark(at, _OBSERVED, full=True)]
        words = "observed {}, expected {}".format(*values_text(observed, expected))
    parts.append(_mark(to, _EXPECTED, full=False))
    words += "; learned from {} to {}".format(*values_text(*seen))
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" style="vertical-align:middle">'
        f"<title>{escaped(words)}</title>{''.join(parts)}</svg>"
    )


def _place(value: float, seen: Ends) -> float:
    """Return where a value is on the bar, at its ends if it is beyond them."""
    # halves: the difference of two huge numbers may be beyond the range of floats
    span, offset = seen[1] / 2 - seen[0] / 2, value / 2 - seen[0] / 2
    if span > 0:
        share = min(max(offset / span, -1.0), 2.0)
    else:
        share = 0.5 if offset == 0 else (-1.0 if offset < 0 else 2.0)
    return min(max(_ROOM + share * (_WIDTH - 2 * _ROOM), _EDGE), _WIDTH - _EDGE)


def _mark(x: float, colour: str, *, full: bool) -> str:
    middle = _HEIGHT / 2
    fill = colour if full else "none"
    paint = f'fill="{fill}" stroke="{colour}" stroke-width="2"'
    if _EDGE < x < _WIDTH - _EDGE:
        return f'<circle cx="{x:.1f}" cy="{middle}" r="4" {paint}/>'
    away = -5 if x <= _EDGE else 5
    corners = f"{x - away / 2:.1f},2 {x + away:.1f},{middle} {x - away / 2:.1f},{_HEIGHT - 2}"
    return f'<polygon points="{corners}" {paint}/>'


def _line(x: float, to: float, colour: str, width: int, opacity: float) -> str:
    y = _HEIGHT / 2
    return (
        f'<line x1="{x:.1f}" x2="{to:.1f}" y1="{y}" y2="{y}" stroke="{colour}" '
        f'stroke-width="{width}" stroke-opacity="{opacity}"/>'
    )


def _value_cells(
    name: str, observed: float | None, expected: float, seen: Mapping[str, Ends]
) -> list[str]:
    """Return the cells of one column of one row: name, both values, the bar."""
    texts = values_text(observed, expected)
    return [
        _cell(escaped(name), _CELL),
        *(_cell(escaped(text), _NUMBER) for text in texts),
        _cell(draw_bar(observed, expected, seen.get(name)), _CELL),
    ]


def _row_cells(common: list[tuple[str, str]], lines: list[list[str]]) -> list[str]:
    """Return the lines of one row: `common` cells with their styles span all of them."""
    span = max(len(lines), 1)
    first = "".join(_cell(content, style, span) for content, style in common)
    return [
        f"<tr>{first if place == 0 else ''}{''.join(cells)}</tr>"
        for place, cells in enumerate(lines or [[]])
    ]


def _cell(content: str, style: str, rows: int = 1) -> str:
    span = f' rowspan="{rows}"' if rows > 1 else ""
    return f'<td style="{style}"{span}>{content}</td>'


def _flagged(score: str) -> str:
    return f"<strong>{score}<br>flagged</strong>"


def _count(n_rows: int, flagged: str) -> str:
    rows = "1 row" if n_rows == 1 else f"{n_rows:,} rows"
    shown = f"; the {_MOST_ROWS} highest scores" if n_rows > _MOST_ROWS else ""
    return f"{rows}, {flagged}{shown}"


def _table(caption: str, heads: Iterable[str], lines: Iterable[str]) -> str:
    key = (
        f'<span style="color:{_OBSERVED}">●</span> observed '
        f'<span style="color:{_EXPECTED}">○</span> expected, on the range learned from'
    )
    cells = "".join(f'<th scope="col" style="text-align:left">{head}</th>' for head in heads)
    return (
        f'<div style="overflow-x:auto"><table><caption style="text-align:left">{caption}. {key}'
        f"</caption><thead><tr>{cells}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )
