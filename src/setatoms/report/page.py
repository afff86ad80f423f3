"""The page itself: one file that needs no network, safe whatever the data say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from setatoms.histogram import bin_scores
from setatoms.report.data import ReportData
from setatoms.report.dictionary import MOST_ATOMS, MOST_COLUMNS, details_of_atoms
from setatoms.report.drawing import Drawing
from setatoms.report.numbers import FILTERS
from setatoms.report.rows import blamed_columns, details_of_rows, table_of_rows
from setatoms.report.timeline import TimeDrawing, cut_into_spans
from setatoms.webpage import fill_page, visible, write_page

_MOST_NAME = 120
# The drawing for a wide page, and the one for a phone.
_SIZES = (("wide", 960.0, 270.0), ("narrow", 330.0, 230.0))


def write_report(path: str | Path, data: ReportData) -> Path:
    """Write a report as one HTML page; an earlier page stays whole until the new one is complete.

    Parameters
    ----------
    path : path-like
        The page.
    data : ReportData
        What is on it.

    Returns
    -------
    Path
        The page.
    """
    return write_page(path, make_page(data))


def make_page(data: ReportData) -> str:
    """Return the page as text. Needs Jinja2, of the extra ``cli``.

    Examples
    --------
    >>> import numpy as np
    >>> from setatoms.report import ReportData, make_page
    >>> data = ReportData(
    ...     file_name="pumps.csv", columns=["flow"], scores=np.array([0.1, 0.9]),
    ...     flagged=np.array([False, True]), threshold=0.5, top_rows=[],
    ...     center=np.zeros(1), scale=np.ones(1),
    ... )
    >>> "1 of 2 rows is flagged" in make_page(data)
    True
    """
    finite = np.isfinite(data.scores)
    return fill_page(
        "setatoms.report",
        style="report.css",
        script="report.js",
        filters=FILTERS,
        data=data,
        n_hidden=int(np.count_nonzero(~finite)),
        drawings=_drawings(data) if finite.any() else [],
        timelines=_timelines(data),
        **table_of_rows(data),
        blamed=blamed_columns(data),
        most_atoms=MOST_ATOMS,
        most_columns=MOST_COLUMNS,
        column_names=", ".join(visible(name, _MOST_NAME) for name in data.columns[:_MOST_NAME]),
        embedded=_embedded(data),
    )


def _drawings(data: ReportData) -> list[Drawing]:
    histogram = bin_scores(data.scores, data.flagged, data.threshold)
    return [Drawing(*size, histogram, data.threshold) for size in _SIZES]


def _timelines(data: ReportData) -> list[TimeDrawing]:
    if data.times is None:
        return []
    spans = cut_into_spans(data.times, data.scores, data.flagged)
    return [TimeDrawing(*size, spans, data.threshold) for size in _SIZES if spans]


def _embedded(data: ReportData) -> dict[str, Any]:
    """Return what the script draws, ready for JSON."""
    rows = details_of_rows(data)
    atoms = None if data.atoms is None else details_of_atoms(data.atoms)
    # only names that are looked up: the page stays small with many columns
    wanted = {entry[0] for row in rows for entry in row["columns"]}
    wanted.update(atoms["columns"] if atoms else ())
    return {
        "names": {j: visible(data.columns[j], _MOST_NAME) for j in sorted(wanted)},
        "rows": rows,
        "atoms": atoms,
        # what is expected: what the other columns imply, or what the atoms represent
        "implied": any("kind" in record for record in data.top_rows),
    }
