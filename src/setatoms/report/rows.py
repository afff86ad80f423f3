"""The rows that stand out: a table for every browser, and the details that a script unfolds."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

from setatoms.explain.sentences import write_sentence
from setatoms.report.data import MOST_ROWS, ReportData
from setatoms.report.numbers import measure, number, percent, rounded, score_text
from setatoms.webpage import to_html

_MOST_WORDS = 600
_MOST_REASONS = 3
_LONG_LABEL = 24
# Columns shown per row: as many as fit, so that the page stays small with many rows.
_MOST_CELLS, _FEWEST_COLUMNS, _MOST_COLUMNS = 8000, 10, 60
_MOST_ATOMS = 12

Record = Mapping[str, Any]


@dataclass(frozen=True)
class _Head:
    name: str
    css_class: str = ""
    # what the table is sorted by at first
    order: str = ""

    def to_html(self) -> str:
        order = f' aria-sort="{self.order}"' if self.order else ""
        return (
            f'<th scope="col" role="columnheader" class="{self.css_class}"{order}>'
            f'<button type="button">{self.name}</button></th>'
        )


def table_of_rows(data: ReportData) -> str:
    """Return the table of the top rows, complete without a script."""
    rows = data.top_rows[:MOST_ROWS]
    labels = any(record.get("index") is not None for record in rows)
    chances = any(record.get("p_value") is not None for record in rows)
    kinds = any("kind" in record for record in rows)
    heads = [
        _Head("Rank", "number rank", "ascending"),
        *([_Head("Index", "index")] if labels else []),
        _Head("Row", "number row"),
        _Head("Score", "score"),
        *([_Head("p-value", "number chance")] if chances else []),
        _Head("Flagged", "flag"),
        *([_Head("Kind", "kind")] if kinds else []),
        _Head("What stands out", "reason"),
    ]
    most = max((float(record["score"]) for record in rows), default=0.0)
    body = "\n".join(
        _row_to_html(rank, record, most, _Shown(labels, chances, kinds))
        for rank, record in enumerate(rows, 1)
    )
    return (
        '<table id="rows" role="table"><thead role="rowgroup"><tr role="row">'
        f"{''.join(head.to_html() for head in heads)}</tr></thead>\n"
        f'<tbody role="rowgroup">\n{body}\n</tbody></table>'
    )


class _Shown(NamedTuple):
    """Which of the columns that not all records have are in the table."""

    labels: bool
    chances: bool
    kinds: bool


def _row_to_html(rank: int, record: Record, most: float, shown: _Shown) -> str:
    flagged = bool(record["flagged"])
    score = float(record["score"])
    cells = [
        _cell("number rank", str(rank), rank),
        *([_index_cell(record.get("index"))] if shown.labels else []),
        _cell("number row", str(int(record["row"])), int(record["row"])),
        _cell("score", _score_bar(score, most, flagged), score),
        *([_chance_cell(record.get("p_value"))] if shown.chances else []),
        _cell("flag", '<span class="badge">flagged</span>' if flagged else "", int(not flagged)),
        *([_cell("kind", to_html(str(record.get("kind", ""))))] if shown.kinds else []),
        _cell("reason", to_html(_reason(record), _MOST_WORDS)),
    ]
    return f'<tr role="row" data-item="{rank - 1}">{"".join(cells)}</tr>'


def _reason(record: Record) -> str:
    """Return what stands out, in few words: the sentence of a record may go through all columns."""
    columns = record.get("columns", ())
    if not columns:
        return str(record.get("sentence", ""))
    return write_sentence(columns[:_MOST_REASONS], float(record["score"]))


def _cell(css_class: str, content: str, value: float | None = None) -> str:
    order = "" if value is None else f' data-value="{value:.10g}"'
    return f'<td role="cell" class="{css_class}"{order}>{content}</td>'


def _index_cell(label: object) -> str:
    text = "" if label is None else str(label)
    return _cell("index long" if len(text) > _LONG_LABEL else "index", to_html(text))


def _chance_cell(p_value: float | None) -> str:
    if p_value is None:
        return '<td role="cell" class="number chance" data-missing>-</td>'
    return _cell("number chance", number(p_value, 2), p_value)


def _score_bar(score: float, most: float, flagged: bool) -> str:
    share = min(max(score / most, 0.0), 1.0) if 0 < most < inf else 0.0
    colour = "flagged" if flagged else "quiet"
    return (
        f'<span class="value">{score_text(score)}</span>'
        '<svg class="meter" viewBox="0 0 60 6" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="{colour}" width="{60 * share:.1f}" height="6"/></svg>'
    )


def details_of_rows(data: ReportData) -> list[dict[str, Any]]:
    """Return what the script unfolds below a row, ready for JSON.

    Each row has ``columns`` (position among the columns, observed and expected in the original
    units and in standard units, share of the error), ``rest`` (how many columns are left out and
    their share together) and ``atoms``.
    """
    rows = data.top_rows[:MOST_ROWS]
    most = _MOST_CELLS // max(len(rows), 1)
    shown = min(max(most, _FEWEST_COLUMNS), _MOST_COLUMNS)
    return [_details(record, data, shown) for record in rows]


def _details(record: Record, data: ReportData, most: int) -> dict[str, Any]:
    entries: Sequence[Record] = record.get("columns", ())
    positions = _positions(data.columns)
    columns = [
        _column_details(entry, positions[str(entry["column"])].popleft(), data)
        for entry in entries[:most]
        if positions.get(str(entry["column"]))
    ]
    left_out = entries[most:]
    share = sum(float(entry["contribution"]) for entry in left_out)
    atoms: Sequence[Record] = record.get("atoms", ())
    return {
        "columns": columns,
        "rest": [len(left_out), percent(share)],
        "atoms": [_atom_details(atom) for atom in atoms[:_MOST_ATOMS]],
        "more_atoms": max(len(atoms) - _MOST_ATOMS, 0),
    }


def _positions(columns: Sequence[str]) -> dict[str, deque[int]]:
    """Return where each name stands; a name used twice stands in two places."""
    positions: dict[str, deque[int]] = defaultdict(deque)
    for position, name in enumerate(columns):
        positions[str(name)].append(position)
    return positions


def _column_details(entry: Record, position: int, data: ReportData) -> list[Any]:
    observed, expected = entry["observed"], float(entry["expected"])
    center, scale = float(data.center[position]), float(data.scale[position])
    share = float(entry["contribution"])
    return [
        position,
        measure(observed, scale),
        measure(expected, scale),
        None if observed is None else rounded((float(observed) - center) / scale),
        rounded((expected - center) / scale),
        rounded(share),
        percent(share),
    ]


def _atom_details(atom: Record) -> list[Any]:
    boundary = atom.get("on_boundary")
    return [
        int(atom["atom"]),
        number(float(atom["coefficient"]), 3),
        number(float(atom["distance"]), 2),
        None if boundary is None else bool(boundary),
    ]
