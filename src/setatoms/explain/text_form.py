"""Explanations and counterfactuals in a few lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from setatoms.explain.records import RowRecord
from setatoms.explain.sentences import write_pair
from setatoms.terminal import printable

if TYPE_CHECKING:
    from setatoms.explain.counterfactual import Counterfactual
    from setatoms.explain.explanation import Explanation

_MOST_ROWS, _MOST_COLUMNS = 5, 12
_MOST_LABEL, _MOST_REASON = 24, 90
_MOST_REPLACED = 3


def explanation_text(explanation: Explanation) -> str:
    """Return the columns of one row, or one line for each of the rows with the highest scores."""
    if len(explanation) == 1:
        return _one_row(explanation.records[0], explanation.index[0])
    records = explanation.records
    flagged = sum(record["flagged"] for record in records)
    order = highest([record["score"] for record in records], _MOST_ROWS)
    lines = [
        [
            _label(explanation.index[i]),
            score_text(records[i]["score"]),
            "flagged" if records[i]["flagged"] else "",
            records[i].get("kind", ""),
            _cut(records[i]["sentence"], _MOST_REASON),
        ]
        for i in order
    ]
    head = f"Explanation of {len(records)} rows, {flagged} flagged"
    kind = "kind" if any("kind" in record for record in records) else ""
    return _listed(head, len(records), [["row", "score", "", kind, "why"], *lines], "<><<<")


def counterfactual_text(found: Counterfactual) -> str:
    """Return one line for each of the rows with the highest scores."""
    lines = [
        [
            _label(found.index[i]),
            f"{score_text(found.score_before[i])} -> {score_text(found.score_after[i])}",
            _cut(_replaced(found, i), _MOST_REASON),
        ]
        for i in highest(found.score_before, _MOST_ROWS)
    ]
    rows = "1 row" if len(found) == 1 else f"{len(found)} rows"
    before, after = int(found.flagged_before.sum()), int(found.flagged_after.sum())
    head = f"Counterfactual of {rows}, {before} flagged before and {after} after"
    return _listed(head, len(found), [["row", "score", "replaced"], *lines], "<<<")


def highest(scores: Sequence[float] | NDArray[np.float64], most: int) -> list[int]:
    """Return where the highest scores are, the highest first."""
    return np.argsort(-np.asarray(scores), kind="stable")[:most].tolist()


def score_text(score: float) -> str:
    """Return a score with three digits.

    Examples
    --------
    >>> score_text(0.92), score_text(12.345), score_text(4321.7)
    ('0.92', '12.3', '4322')
    """
    return f"{score:.0f}" if 1000 <= abs(score) < 1e6 else f"{score:.3g}"


def verdict_text(record: RowRecord) -> str:
    """Return the score of a row, whether it is flagged, and the kind of its fault.

    Examples
    --------
    >>> verdict_text({"score": 4321.7, "flagged": True, "kind": "far out"})
    'score 4322, flagged, far out'
    """
    words = [f"score {score_text(record['score'])}"]
    words += ["flagged"] if record["flagged"] else []
    words += [record["kind"]] if "kind" in record else []
    return ", ".join(words)


def values_text(observed: float | None, expected: float) -> tuple[str, str]:
    """Return what was observed and what was expected, with as few digits as tell them apart."""
    if observed is None:
        return "missing", write_pair(expected, expected)[0]
    return write_pair(observed, expected)


def _one_row(record: RowRecord, label: object) -> str:
    lines = [["column", "observed", "expected", "share"]]
    for column in record["columns"][:_MOST_COLUMNS]:
        values = values_text(column["observed"], column["expected"])
        share = f"{100 * column['contribution']:.0f} %"
        lines.append([_cut(column["column"], _MOST_LABEL), *values, share])
    text = f"Explanation of row {_label(label)}: {verdict_text(record)}\n" + _aligned(lines, "<>>>")
    left = len(record["columns"]) - _MOST_COLUMNS
    return text + (f"\n  and {left} more columns" if left > 0 else "")


def _replaced(found: Counterfactual, i: int) -> str:
    """Return which values of row i were replaced, and by what."""
    words = [f"{name} {' -> '.join(values_text(*pair))}" for name, *pair in found.replaced(i)]
    more = len(words) - _MOST_REPLACED
    return ", ".join(words[:_MOST_REPLACED]) + (f" and {more} more" if more > 0 else "")


def _listed(head: str, n_rows: int, lines: list[list[str]], sides: str) -> str:
    if n_rows == 0:
        return head
    more = f"; the {_MOST_ROWS} highest scores" if n_rows > _MOST_ROWS else ""
    return f"{head}{more}\n{_aligned(lines, sides)}"


def _aligned(lines: list[list[str]], sides: str) -> str:
    """Return lines of cells as a table; `sides` has ``<`` or ``>`` for each of its columns."""
    columns = [
        [f"{cell:{side}{max(map(len, cells))}}" for cell in cells]
        for cells, side in zip(zip(*lines, strict=True), sides, strict=True)
        if any(cells)
    ]
    return "\n".join(f"  {'  '.join(cells)}".rstrip() for cells in zip(*columns, strict=True))


def _label(label: object) -> str:
    return _cut(str(label), _MOST_LABEL)


def _cut(text: str, most: int) -> str:
    return printable(" ".join(text.split()), most)
