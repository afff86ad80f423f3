"""The rows that stand out: for the table, and the details that a script unfolds below."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from setatoms.explain.sentences import write_sentence
from setatoms.report.data import MOST_ROWS, ReportData
from setatoms.report.numbers import measure, number, percent, rounded

_MOST_REASONS = 3
_MOST_BLAMED = 10
# Columns shown per row: as many as fit, so that the page stays small with many rows.
_MOST_CELLS, _FEWEST_COLUMNS, _MOST_COLUMNS = 8000, 10, 60
_MOST_ATOMS = 12

Record = Mapping[str, Any]


def table_of_rows(data: ReportData) -> dict[str, Any]:
    """Return the top rows for ``rows.html``, and which columns the table has beside the others."""
    records = data.top_rows[:MOST_ROWS]
    most = max((float(record["score"]) for record in records), default=0.0)
    return {
        "rows": [_row(record, most) for record in records],
        "has": {
            name: any(record.get(name) is not None for record in records)
            for name in ("index", "p_value", "kind")
        },
    }


def blamed_columns(data: ReportData) -> list[dict[str, Any]]:
    """Return the columns with the largest parts in the scores of flagged rows, for the page."""
    shares: dict[str, float] = defaultdict(float)
    first: Counter[str] = Counter()
    records = [record for record in data.top_rows[:MOST_ROWS] if record["flagged"]]
    for record in records:
        entries = record.get("columns", ())
        first.update(str(entry["column"]) for entry in entries[:1])
        for entry in entries:
            shares[str(entry["column"])] += float(entry["contribution"]) / len(records)
    names = sorted(shares, key=lambda name: -shares[name])[:_MOST_BLAMED]
    most = max(shares.values(), default=0.0)
    return [
        {"name": name, "share": shares[name], "part": shares[name] / most, "first": first[name]}
        for name in names
        if shares[name] > 0
    ]


def _row(record: Record, most: float) -> dict[str, Any]:
    score, label = float(record["score"]), record.get("index")
    return {
        "row": int(record["row"]),
        "index": "" if label is None else str(label),
        "score": score,
        "share": min(max(score / most, 0.0), 1.0) if 0 < most < inf else 0.0,
        "flagged": bool(record["flagged"]),
        "p_value": record.get("p_value"),
        "kind": record.get("kind", ""),
        "reason": _reason(record),
    }


def _reason(record: Record) -> str:
    """Return what stands out, in few words: the sentence of a record may go through all columns."""
    columns = record.get("columns", ())
    if not columns:
        return str(record.get("sentence", ""))
    return write_sentence(columns[:_MOST_REASONS], float(record["score"]))


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
