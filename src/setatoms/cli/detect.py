"""``setatoms detect``."""

from __future__ import annotations

from pathlib import Path

import click

from setatoms.cli.options import (
    FILE,
    Learning,
    Reading,
    data_argument,
    exit_code_option,
    fdr_option,
    json_option,
    learning_options,
    out_option,
    reading_options,
    report_option,
    top_option,
)


@click.command("detect")
@data_argument
@learning_options
@fdr_option
@out_option
@click.option("--save", type=FILE, metavar="FILE", help="Save the model.")
@report_option
@top_option
@json_option
@exit_code_option
@reading_options
def command(
    data: str,
    learning: Learning,
    fdr: float | None,
    out: str | None,
    save: Path | None,
    report: Path | None,
    top: int,
    as_json: bool,
    exit_code: bool,
    reading: Reading,
) -> int:
    """Learn from a table and list its most anomalous rows.

    DATA is a CSV, TSV, Parquet or JSON lines file, or - for standard input. Numeric columns are
    used; what became of the others, and of missing values, is said.
    """
    from setatoms.cli.learning import learn
    from setatoms.cli.outputs import check_outputs
    from setatoms.cli.reading import open_data
    from setatoms.cli.runs import Wishes, run_scoring

    if fdr is not None and learning.contamination != "auto":
        raise click.UsageError("--fdr and --contamination exclude each other; give one of them")
    if out == "-" and as_json:
        raise click.UsageError("--out - and --json both go to standard output; give one of them")
    check_outputs([data], [out, save, report])
    opened = open_data(data, reading)
    learned = learn(opened, learning)
    if fdr is not None:
        learned.notes.append(
            "rows that were learned from have p-values that are too large, so --fdr flags too few; "
            "fit on normal rows and score others for the promised share"
        )
    outputs = {}
    if save is not None:
        learned.model.save(save)
        outputs["model"] = str(save)
    wishes = Wishes(data, learning.index, fdr, out, report, top, as_json, exit_code)
    return run_scoring(learned.model, opened, wishes, learned.notes, outputs, learned.n_rows)
