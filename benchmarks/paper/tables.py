"""The paper's six tables from a store of results, with baselines, tests and orderings."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TextIO

import numpy as np

from benchmarks.markdown import fill_page
from benchmarks.paper.ablations import ensemble_tables
from benchmarks.paper.kinds import kind_tables
from benchmarks.paper.layout import (
    Column,
    Emphasis,
    Entry,
    Table,
    count_of,
    number,
    to_markdown,
    to_markdown_body,
    to_text,
)
from benchmarks.paper.pilot import pilot_table
from benchmarks.paper.published import BASELINES, Measure, PaperTable, paper_tables
from benchmarks.paper.reading import Stores, anomaly_kinds, load_results, store_files
from benchmarks.paper.results import Key, Results
from benchmarks.paper.store import FILE_NAME
from benchmarks.paper.summaries import (
    baseline_table,
    failure_table,
    method_table,
    neighbour_table,
)
from benchmarks.paper.verdicts import ordering_tables, significance_tables
from setatoms.terminal import printable

DIGITS: dict[Measure, int] = {"auc": 4, "rank": 2, "error": 4}

# In Tables 1 and 4 alike, italics stand where the area is within this of the best.
NEAR = 0.0008


def print_tables(
    stores: Stores,
    *,
    format: Literal["text", "markdown"] = "text",  # noqa: A002
    anomalies: str = "dependency",
    file: TextIO | None = None,
) -> None:
    """Print the paper's Tables 1 to 6, baselines, ensembles, tests, orderings, kinds of anomalies.

    Each number stands beside the paper's, in brackets. A store that is still growing is fine:
    what is missing is a dash, and notes say what was averaged.

    Parameters
    ----------
    stores : path-like or sequence of path-like
        Folders that hold ``results.sqlite``, or SQLite files.
    format : {"text", "markdown"}, default="text"
        Plain text has the best in bold on a terminal, marked by ``*`` elsewhere.
    anomalies : str, default="dependency"
        The kind of anomalies.
    file : file object, default=sys.stdout
        Where to print.
    """
    if format not in ("text", "markdown"):
        raise ValueError(f"format={format!r} is not known; use 'text' or 'markdown'")
    stream = sys.stdout if file is None else file
    results, tables = _load_tables(stores, anomalies)
    files = printable(", ".join(map(str, store_files(stores))))
    head = f"{files}: {coverage(results)}"
    if format == "markdown":
        parts = [coverage(results), *map(to_markdown, tables)]
    else:
        terminal = stream.isatty()
        parts = [head, legend(terminal), *(to_text(table, terminal=terminal) for table in tables)]
    stream.write("\n\n".join(parts) + "\n")


def write_tables(stores: Stores, page: Path) -> None:
    """Put tables where a page has marks for them.

    The marks of a table have the names of its stores, of files or folders, and its title up to a
    colon, such as ``<!-- kinds: ROC AUC by kind of anomalies: begin -->``.
    """
    files = store_files(stores)
    names = " and ".join(
        file.absolute().parent.name if file.name == FILE_NAME else file.stem for file in files
    )
    mark = re.compile(rf"<!-- {re.escape(names)}: (.+): begin -->")
    titles = mark.findall(page.read_text(encoding="utf-8"))
    if not titles:
        raise ValueError(
            f"{page} has no place for a table of {names}; put <!-- {names}: TITLE: begin --> and "
            f"<!-- {names}: TITLE: end --> there, with the title of the table"
        )
    _, tables = _load_tables(stores)
    by_title = {table.title.split(":")[0]: table for table in tables}
    for title in titles:
        if title not in by_title:
            raise ValueError(
                f"{page} has a place for a table {title!r} of {names}, which has none of that "
                f"title; choose from {', '.join(map(repr, by_title))}"
            )
    for title in titles:
        fill_page(page, f"{names}: {title}", to_markdown_body(by_title[title]))


def _load_tables(stores: Stores, anomalies: str = "dependency") -> tuple[Results, list[Table]]:
    """Return the results of one kind of anomalies, and all tables."""
    results = load_results(stores, anomalies)
    by_kind = {
        kind: results if kind == anomalies else load_results(stores, kind)
        for kind in anomaly_kinds(stores)
    }
    return results, [*all_tables(results), *kind_tables(by_kind)]


def all_tables(results: Results) -> list[Table]:
    """Return every table that a store gives, the paper's six first."""
    return [
        *(compare_with_paper(results, table) for table in paper_tables()),
        method_table(results),
        baseline_table(results),
        neighbour_table(results),
        *ensemble_tables(results),
        pilot_table(results),
        *significance_tables(results),
        *ordering_tables(results),
        failure_table(results),
    ]


def coverage(results: Results) -> str:
    """Return in one sentence what the store holds."""
    methods = len({method for method, _ in results.runs})
    return (
        f"{results.n_cells} cells, {len(results.failures)} of them failed, with "
        f"{results.anomalies} anomalies: {count_of(len(results.datasets), 'dataset')}, "
        f"{count_of(methods, 'method')}, seeds {', '.join(map(str, results.seeds))}."
    )


def legend(terminal: bool) -> str:
    """Return how to read a number in plain text."""
    best, near = ("bold", "italics") if terminal else ("*", "+")
    return (
        f"Ours (the paper's). {best}: best of its table; {near}: ROC AUC less than {NEAR} below "
        "it;\n!: averaged over fewer datasets than others of its table; -: no cells."
    )


def compare_with_paper(results: Results, table: PaperTable) -> Table:
    """Return one of the paper's tables, each of our numbers beside the paper's."""
    places = [(method, size, c) for method, size in table.rows for c in table.columns]
    ours = [_per_dataset(results, (m, f"{s} {c}"), table.measure) for m, s, c in places]
    theirs = [table.value(*place) for place in places]
    most = max(map(len, ours))
    means = [float(np.mean(list(by.values()))) if by else None for by in ours]
    # an average over fewer datasets cannot be the best of those over all of them
    complete = [mean if len(by) == most else None for mean, by in zip(means, ours, strict=True)]
    digits = DIGITS[table.measure]
    own_marks, paper_marks = emphasis(complete, table.measure), emphasis(theirs, table.measure)
    cells = [
        Entry(
            number(mean, digits).text,
            mean,
            own_marks[i],
            0 < len(ours[i]) < most,
            Entry(f"{theirs[i]:.{digits}f}", theirs[i], paper_marks[i]),
        )
        for i, mean in enumerate(means)
    ]
    width = len(table.columns)
    rows = [
        [Entry(method), Entry(size[1:], float(size[1:])), *cells[i * width : (i + 1) * width]]
        for i, (method, size) in enumerate(table.rows)
    ]
    return Table(
        f"Table {table.number}. {table.caption}: ours (paper)",
        [Column("method"), Column("n/m"), *map(_radii_column, table.columns)],
        rows,
        _coverage_notes(results, ours, table.measure),
        block=len(table.sizes),
    )


def emphasis(values: Sequence[float | None], measure: Measure) -> list[Emphasis]:
    """Return the mark of each number by the paper's rules, as rounded in its tables.

    Bold for the best area or rank, italics for areas less than 0.0008 below the best. The paper
    marks no errors; here the smallest is bold too.
    """
    digits = DIGITS[measure]
    shown = [None if value is None else round(value, digits) for value in values]
    present = [value for value in shown if value is not None]
    if not present:
        return [""] * len(shown)
    best = max(present) if measure == "auc" else min(present)

    def mark(value: float | None) -> Emphasis:
        if value is None:
            return ""
        if value == best:
            return "best"
        return "near" if measure == "auc" and round(best - value, digits) < NEAR else ""

    return [mark(value) for value in shown]


def _per_dataset(results: Results, key: Key, measure: Measure) -> dict[str, float]:
    return results.ranks(key) if measure == "rank" else results.per_dataset(key, measure)


def _radii_column(column: str) -> Column:
    """Return the head of ``"r0.04-0.12 50-50"``."""
    radii, distribution = column.split(" ")
    low, high = radii[1:].split("-")
    name = distribution if distribution == "linear" else f"min-max {distribution}"
    return Column(name, f"radii {low} to {high}")


def _coverage_notes(
    results: Results, averaged: Sequence[dict[str, float]], measure: Measure
) -> list[str]:
    """Return what a reader must know of what was averaged."""
    counts = [len(by) for by in averaged]
    present = [count for count in counts if count]
    if not present:
        return ["The store has no cells for this table yet."]
    few, most = min(present), max(present)
    spread = f"{most}" if few == most else f"{few} to {most}"
    notes = [f"Averages over {spread} of {count_of(len(results.datasets), 'dataset')}."]
    if len(present) < len(counts):
        notes[0] += f" {len(counts) - len(present)} of {len(counts)} places have no cells yet."
    if measure == "rank":
        notes.append(_rank_note(results))
    return notes


def _rank_note(results: Results) -> str:
    missing = [name for name in BASELINES if name not in results.baselines]
    failed = {failure.method for failure in results.failures if failure.config == "default"}
    note = f"Rank of each method alone among {count_of(len(results.baselines), 'baseline')}"
    if missing:
        note += f" (not in the store: {', '.join(missing)})"
    failing = [name for name in results.baselines if name in failed]
    return note + (
        f"; counted as worst where they failed: {', '.join(failing)}." if failing else "."
    )
