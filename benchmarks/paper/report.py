"""All tables and figures of a store as one HTML page that needs no network."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

from benchmarks.paper.comparisons import check_orderings
from benchmarks.paper.figures import CAPTIONS, make_figures, render
from benchmarks.paper.improvements import summarise_ratios
from benchmarks.paper.kinds import kind_tables
from benchmarks.paper.layout import Column, Entry, Table
from benchmarks.paper.reading import Stores, anomaly_kinds, load_environments, load_results
from benchmarks.paper.results import Results
from benchmarks.paper.summaries import baseline_table, dataset_table, method_table
from benchmarks.paper.tables import NEAR, all_tables, coverage
from benchmarks.paper.verdicts import list_orderings
from setatoms.webpage import fill_page, write_page

_TITLE = "Set-atom dictionaries: the paper's benchmark, computed again"
_LEGEND = (
    f"Below our numbers, in grey, the paper's. Bold: best of its table; italics: ROC AUC less than "
    f"{NEAR} below it; !: averaged over fewer datasets than others; press a head to sort."
)
# Drawn in this colour, then given the colour of the page, which knows whether it is dark.
_INK = "#010203"
_LONG = 40

Section = tuple[str, str]  # heading, HTML


def write_report(stores: Stores, out: str | Path) -> Path:
    """Write one self-contained page with every table and figure.

    Parameters
    ----------
    stores : path-like or sequence of path-like
        Folders that hold ``results.sqlite``, or SQLite files.
    out : path-like
        The page, or a folder for ``report.html``.

    Returns
    -------
    Path
        The page.
    """
    given = Path(out)
    page = given if given.suffix in (".html", ".htm") else given / "report.html"
    text = make_report(stores)
    return write_page(page, text)


def make_report(stores: Stores) -> str:
    """Return the page as text."""
    kinds = anomaly_kinds(stores) or ["dependency"]  # an empty store says so when it is loaded
    by_kind = {kind: load_results(stores, kind) for kind in kinds}
    results, *others = by_kind.values()
    sections = [*_main_sections(results), *map(_table_section, kind_tables(by_kind))]
    for of_kind in others:
        sections += _kind_sections(of_kind)
    sections.append(_table_section(_environment_table(stores)))
    return fill_page(
        "benchmarks.paper",
        style="report.css",
        inline_styles=True,
        title=_TITLE,
        introduction=f"{coverage(results)} {_LEGEND}",
        sections=[(heading, _short(heading), body) for heading, body in sections],
    )


def table_to_html(table: Table) -> str:
    """Return a sortable table, everything in it escaped."""
    numeric = [table.is_numeric(i) for i in range(len(table.columns))]
    heads = "".join(
        f'<th scope="col"{_class(number)}><button type="button">{escape(column.name)}</button></th>'
        for column, number in zip(table.columns, numeric, strict=True)
    )
    rows = "\n".join(f"<tr>{''.join(map(_entry_to_html, row, numeric))}</tr>" for row in table.rows)
    notes = f'<p class="notes">{escape(" ".join(table.notes))}</p>' if table.notes else ""
    body = (
        f'<div class="scroll" tabindex="0"><table>\n'
        f"<thead>{_groups(table)}<tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>\n"
    )
    return (body if table.rows else "") + notes


def _main_sections(results: Results) -> Iterator[Section]:
    tables = {table.title: table for table in all_tables(results)}
    verdict = tables.pop("The paper's orderings")
    yield _table_section(verdict)
    figures = make_figures(results, ink=_INK)
    for name, figure in figures.items():
        heading, caption = CAPTIONS[name].split(". ", 1)
        words = caption + (f" {summarise_ratios(results)}" if name == "figure3" else "")
        svg = _inline_svg(render(figure, "svg", transparent=True).decode(), name)
        body = (
            f'<figure><div class="scroll" tabindex="0">{svg}</div>'
            f"<figcaption>{escape(words)}</figcaption></figure>"
        )
        yield heading, body
    yield from map(_table_section, tables.values())
    yield _table_section(dataset_table(results))
    yield _table_section(list_orderings(check_orderings(results)))


def _kind_sections(results: Results) -> Iterator[Section]:
    """Yield what is shown of the kinds of anomalies that the paper does not study."""
    for name, table in (("Methods", method_table(results)), ("Baselines", baseline_table(results))):
        heading = f"{name} on {results.anomalies} anomalies"
        yield heading, f"<p>{escape(coverage(results))}</p>{table_to_html(table)}"


def _environment_table(stores: Stores) -> Table:
    rows = [
        [
            Entry(environment.commit_hash),
            Entry(_pairs(environment.versions)),
            Entry(_pairs(environment.hardware)),
        ]
        for environment in load_environments(stores)
    ]
    columns = [Column(name) for name in ("commit", "versions", "hardware")]
    return Table("Where it was computed", columns, rows)


def _pairs(facts: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in facts.items())


def _table_section(table: Table) -> Section:
    return table.title, table_to_html(table)


def _groups(table: Table) -> str:
    """Return the row of heads over several columns, if there are any."""
    if not any(name for name, _ in table.groups):
        return ""
    cells = "".join(
        f'<th class="group" scope="colgroup" colspan="{span}">{escape(name)}</th>'
        for name, span in table.groups
    )
    return f"<tr>{cells}</tr>"


def _entry_to_html(entry: Entry, number: bool) -> str:
    attributes = _class(number) if number or len(entry.text) <= _LONG else ' class="long"'
    if entry.value is not None:
        attributes += f' data-value="{entry.value:.10g}"'
    elif entry.text == "-":
        attributes += " data-missing"
    paper = f"<small>{_emphasised(entry.beside)}</small>" if entry.beside else ""
    return f"<td{attributes}>{_emphasised(entry)}{paper}</td>"


def _emphasised(entry: Entry) -> str:
    text = escape(entry.text) + ("!" if entry.partial else "")
    tag = {"": "", "best": "strong", "near": "em"}[entry.emphasis]
    return f"<{tag}>{text}</{tag}>" if tag else text


def _class(number: bool) -> str:
    return ' class="number"' if number else ""


def _short(heading: str) -> str:
    """Return a heading for the contents: without captions and remarks."""
    return re.split(r"[.,:(]", heading, maxsplit=1)[0].strip()


def _inline_svg(svg: str, name: str) -> str:
    """Return the SVG element alone, in the page's colour, with names that no other figure has."""
    element = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    element = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", element)
    # the width of the page decides, not that of paper
    element = re.sub(r'<svg([^>]*?) width="[^"]*"', r"<svg\1", element, count=1)
    element = re.sub(r'<svg([^>]*?) height="[^"]*"', r"<svg\1", element, count=1)
    label = escape(CAPTIONS[name].split(". ")[0])
    element = element.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return element.replace(_INK, "currentColor")
