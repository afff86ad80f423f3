"""Score a table and hand out what was found: the part that `detect` and `score` share."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from setatoms.cli import FOUND
from setatoms.cli.models import Model
from setatoms.cli.options import Flagging
from setatoms.cli.printing import Printer
from setatoms.cli.reading import Data, as_columns
from setatoms.cli.results import Results, file_name
from setatoms.cli.scoring import Judged, Scorer, ScoresFormat, Tally, find_rule
from setatoms.cli.table_scorer import TableScorer
from setatoms.files import BadCells
from setatoms.files.choose import check_known
from setatoms.terminal import print_json

_ROWS_OF_REPORT = 200


@dataclass(frozen=True)
class Wishes:
    """What to do with the scores.

    Attributes
    ----------
    data : str
        The data as the user named them.
    index : str or None
        The column that names the rows.
    flagging : Flagging
        Which rows to flag.
    out, report : str, Path or None
        What to write.
    keep : tuple of str
        The table's own columns to write with the scores; ``all`` for all of them.
    top : int
        How many rows to list.
    kinds : tuple of str
        The kinds of faults to list; all if there are none.
    as_json, exit_code : bool
        How to answer.
    """

    data: str | None
    index: str | None
    flagging: Flagging
    out: str | None
    keep: tuple[str, ...]
    report: Path | None
    top: int
    kinds: tuple[str, ...]
    as_json: bool
    exit_code: bool


def run_scoring(
    model: Model,
    data: Data,
    wishes: Wishes,
    notes: list[str],
    outputs: dict[str, str],
    n_rows: int | None = None,
    scorer: Scorer | None = None,
) -> int:
    """Score all rows, write the files wished for, print, and return the exit status."""
    # rows of one kind are looked for among as many as a report shows
    kept = max(wishes.top, _ROWS_OF_REPORT if wishes.report or wishes.kinds else 0)
    tally = Tally(kept, model.threshold, keep_scores=wishes.report is not None)
    judged = Judged(tally, model.detector.count_batch(), BadCells(data.table))
    scorer = scorer or TableScorer(model, data, n_rows)
    rule = find_rule(model, scorer, wishes.flagging, n_rows)
    own = _columns_to_keep(wishes, data)
    time = data.table.time_column if wishes.report else None
    if own:
        data.table.kept = None  # which knows none of them
    scorer.judge(rule, judged, ScoresFormat(wishes.out, wishes.index, own, time))
    files = dict(outputs)
    if wishes.out not in (None, "-"):
        files["scores"] = str(wishes.out)
    if wishes.report is not None:
        files["report"] = str(wishes.report)
    batch = "" if model.of_training_rows else judged.counts.compare().sentence
    if n_rows is None:  # otherwise learning has said so
        notes = [*notes, *judged.bad.notes(tally.n_rows, data.table.names)]
    if tally.n_missing and not any("missing value" in note for note in notes):
        noun = "missing value" if tally.n_missing == 1 else "missing values"
        notes = [*notes, f"{tally.n_missing:,} {noun}: {data.table.remedies.filled}"]
    if wishes.flagging.fdr is not None and not tally.n_flagged:
        notes = [*notes, *_why_none(model, tally.n_rows, wishes.flagging.fdr)]
    name = file_name(wishes.data)
    results = Results(
        name, model, tally, rule, wishes.flagging, notes, files, wishes.index, wishes.kinds, batch
    )
    if wishes.report is not None:
        from setatoms.cli.reporting import write_page

        write_page(wishes.report, results, data, _ROWS_OF_REPORT)
    _answer(results, wishes)
    return FOUND if wishes.exit_code and tally.n_flagged else 0


def _why_none(model: Model, n_rows: int, fdr: float) -> list[str]:
    """Say how few calibration rows keep a bound on false alarms from flagging a single row."""
    n_calibration = len(model.detector.calibration_scores_)
    # by Benjamini and Hochberg: the smallest p-value possible <= fdr * fewest / n_rows
    fewest = math.ceil(n_rows / ((n_calibration + 1) * fdr))
    if fewest == 1:
        return []
    can = f"flags {fewest:,} or more of {n_rows:,} rows, or none"
    if fewest > n_rows:
        can = f"can flag none of {n_rows:,} rows"
    return [
        f"{n_calibration:,} calibration rows give no p-value below {1 / (n_calibration + 1):.2g}, "
        f"so --fdr {fdr:g} {can}; learn from more rows than you score, or raise --fdr"
    ]


def _columns_to_keep(wishes: Wishes, data: Data) -> list[str]:
    """Return the table's own columns to write; they are read with the features, once more."""
    if not wishes.keep:
        return []
    if wishes.out is None:
        raise click.UsageError("--keep goes with --out FILE; give both, or none")
    names = data.table.names
    wanted = names if wishes.keep == ("all",) else as_columns(wishes.keep, data.table)
    check_known(data.table, wanted)
    return [name for name in wanted if name != wishes.index]


def _answer(results: Results, wishes: Wishes) -> None:
    if wishes.as_json:
        print_json(results.to_json(wishes.top))
    else:
        printer = Printer(sys.stderr if wishes.out == "-" else None)
        results.show(printer, wishes.top)
