"""``setatoms detect``."""

from __future__ import annotations

from pathlib import Path

import click

from setatoms.cli.options import (
    FILE,
    Flagging,
    Learning,
    Reading,
    data_argument,
    exit_code_option,
    flagging_options,
    json_option,
    keep_option,
    kind_option,
    learning_options,
    out_option,
    reading_options,
    report_option,
    top_option,
)

# A person looks at so many rows, not at five per cent of a million.
_MOST_ALARMS = 500


@click.command("detect")
@data_argument
@learning_options
@flagging_options
@out_option
@keep_option
@click.option("--save", type=FILE, metavar="FILE", help="Save the model.")
@report_option
@top_option
@kind_option
@json_option
@exit_code_option
@reading_options
def command(
    data: str | None,
    learning: Learning,
    flagging: Flagging,
    out: str | None,
    keep: tuple[str, ...],
    save: Path | None,
    report: Path | None,
    top: int,
    kinds: tuple[str, ...],
    as_json: bool,
    exit_code: bool,
    reading: Reading,
) -> int:
    """Learn from a table and list its most anomalous rows.

    DATA is a file (CSV and its kin, JSON, Parquet, Excel, DuckDB), a folder or a pattern of files
    as 'data/*.csv', or - for standard input. Numeric columns are
    used; what became of the others, and of missing values, is reported.
    """
    from setatoms.cli.learning import learn
    from setatoms.cli.outputs import check_outputs
    from setatoms.cli.reading import open_data
    from setatoms.cli.runs import Wishes, run_scoring

    flagging.check()
    if flagging.fdr is not None and learning.contamination != "auto":
        raise click.UsageError("--fdr and --contamination exclude each other; give one of them")
    if flagging == Flagging(None, None, None) and learning.contamination == "auto":
        flagging = Flagging(None, None, _MOST_ALARMS)
    if out == "-" and as_json:
        raise click.UsageError("--out - and --json both go to standard output; give one of them")
    check_outputs([data], [out, save, report])
    opened = open_data(data, reading)
    check_outputs(opened.inputs, [out, save, report])
    learned = learn(opened, learning)
    if flagging.fdr is not None:
        learned.notes.append(
            "rows that were learned from have p-values that are too large, so --fdr flags too few; "
            "fit on normal rows and score others for the promised share"
        )
    outputs = {}
    if save is not None:
        learned.model.save(save)
        outputs["model"] = str(save)
    wishes = Wishes(
        data, learning.index, flagging, out, keep, report, top, kinds, as_json, exit_code
    )
    return run_scoring(learned.model, opened, wishes, learned.notes, outputs, learned.n_rows)
