"""The page itself: one file that needs no network, safe whatever the data say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from setatoms.report.data import MOST_ROWS, ReportData
from setatoms.report.dictionary import details_of_atoms, words_on_atoms
from setatoms.report.distribution import bin_scores
from setatoms.report.drawing import Drawing
from setatoms.report.numbers import count, number, percent
from setatoms.report.rows import details_of_rows, table_of_rows
from setatoms.webpage import assemble, embed_json, read_part, to_html, visible, write_page

_MOST_NAME = 120
_MOST_NOTES = 50
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
    """Return the page as text.

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
    return assemble(
        _part("report.html"),
        style=_part("report.css"),
        script=_part("report.js"),
        title=to_html(data.heading),
        lead=_lead(data),
        figures=_figures(data),
        notes=_notes(data),
        distribution=_distribution(data),
        rows_words=_rows_words(data),
        rows=table_of_rows(data),
        atoms=_atoms(data),
        making="".join(_making(data)),
        data=embed_json(_embedded(data)),
    )


def _part(name: str) -> str:
    return read_part("setatoms.report", "page_parts", name)


def _lead(data: ReportData) -> str:
    verb = "is" if data.n_flagged == 1 else "are"
    words = f"{count(data.n_flagged)} of {count(data.n_rows)} rows {verb} flagged"
    share = f" ({percent(data.n_flagged / data.n_rows)})" if data.n_rows else ""
    return f"<strong>{words}</strong>{share}. {to_html(_sentence(data.decision), 600)}"


def _sentence(words: str) -> str:
    """Return words with a capital at the start and a full stop at the end."""
    return f"{_capital(words).rstrip('.')}." if words else ""


def _capital(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"


def _figures(data: ReportData) -> str:
    share = percent(data.n_flagged / data.n_rows) if data.n_rows else "-"
    threshold = "-" if data.threshold is None else number(data.threshold, 3)
    some = "some" if data.n_flagged else "none"
    facts = [
        ("Rows", count(data.n_rows), ""),
        ("Columns used", count(len(data.columns)), ""),
        ("Flagged", f'<span class="{some}">{count(data.n_flagged)}</span>', share),
        ("Threshold", threshold, ""),
        ("Method", to_html(_capital(data.method) or "-"), ""),
    ]
    return "".join(
        f"<div><dt>{name}</dt><dd>{value}{f' <small>{beside}</small>' if beside else ''}</dd></div>"
        for name, value, beside in facts
    )


def _notes(data: ReportData) -> str:
    notes = [to_html(note, 600) for note in data.notes[:_MOST_NOTES]]
    hidden = int(np.count_nonzero(~np.isfinite(data.scores)))
    if hidden:
        notes.append(f"{count(hidden)} rows have no finite score and are not in the distribution.")
    if len(data.notes) > _MOST_NOTES:
        notes.append(f"{count(len(data.notes) - _MOST_NOTES)} more notes are left out here.")
    return (
        f'<ul class="remarks">{"".join(f"<li>{note}</li>" for note in notes)}</ul>' if notes else ""
    )


def _distribution(data: ReportData) -> str:
    if not np.isfinite(data.scores).any():
        return '<p class="empty">There are no scores to show.</p>'
    histogram = bin_scores(data.scores, data.flagged, data.threshold)
    low, high = number(float(histogram.edges[0]), 3), number(float(histogram.edges[-1]), 3)
    label = (
        f"Distribution of {count(data.n_rows)} scores from {low} to {high}; "
        f"{count(data.n_flagged)} flagged"
    )
    return "".join(
        Drawing(histogram, data.threshold, width, height).to_svg(name, label)
        for name, width, height in _SIZES
    )


def _rows_words(data: ReportData) -> str:
    shown = min(len(data.top_rows), MOST_ROWS)
    if not shown:
        return "No rows to show."
    words = f"The {count(shown)} rows with the highest scores of {count(data.n_rows)}."
    if shown == data.n_rows:
        words = f"All {count(shown)} rows, the most anomalous first."
    return words if data.n_flagged else f"{words} None is flagged."


def _atoms(data: ReportData) -> str:
    if data.atoms is None or not len(data.atoms.components):
        return ""
    return (
        '<section id="atoms-section"><h2>Learned atoms</h2>'
        f"<p>{words_on_atoms(data.atoms)} An atom is a pattern of columns that belong together; "
        "rows are explained as sums of a few atoms. The larger its radius, the more an atom may "
        "bend to fit a row.</p>"
        '<noscript><p class="empty">The drawing of the atoms needs JavaScript.</p></noscript>'
        '<div id="atoms"></div></section>'
    )


def _making(data: ReportData) -> Iterator[str]:
    if data.command:
        yield f"<h3>Command</h3><pre><code>{to_html(data.command, 2000)}</code></pre>"
    data_facts = {
        "file": data.file_name,
        "fingerprint": data.fingerprint,
        "columns": ", ".join(visible(name, _MOST_NAME) for name in data.columns[:_MOST_NAME]),
        "written": data.created,
    }
    for heading, facts in (
        ("Data", {name: value for name, value in data_facts.items() if value}),
        ("Parameters", data.parameters),
        ("Versions", data.versions),
    ):
        if facts:
            yield f"<div><h3>{heading}</h3>{_pairs(facts)}</div>"


def _pairs(facts: Mapping[str, object]) -> str:
    rows = "".join(
        f"<div><dt>{to_html(name)}</dt><dd>{to_html(value, 2000)}</dd></div>"
        for name, value in facts.items()
    )
    return f'<dl class="pairs">{rows}</dl>'


def _embedded(data: ReportData) -> dict[str, object]:
    rows = details_of_rows(data)
    atoms = None if data.atoms is None else details_of_atoms(data.atoms)
    return {
        # only names that are looked up: the page stays small with many columns
        "names": _names(data, rows, atoms),
        "rows": rows,
        "atoms": atoms,
        # what is expected: what the other columns imply, or what the atoms represent
        "implied": any("kind" in record for record in data.top_rows),
    }


def _names(
    data: ReportData, rows: list[dict[str, list[list[int]]]], atoms: dict[str, list[int]] | None
) -> dict[int, str]:
    wanted = {entry[0] for row in rows for entry in row["columns"]}
    wanted.update(atoms["columns"] if atoms else ())
    return {j: visible(data.columns[j], _MOST_NAME) for j in sorted(wanted)}
