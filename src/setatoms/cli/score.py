"""``setatoms score``."""

from __future__ import annotations

from pathlib import Path

import click

from setatoms.cli.options import (
    Flagging,
    Reading,
    data_argument,
    exit_code_option,
    flagging_options,
    index_option,
    json_option,
    keep_option,
    kind_option,
    model_argument,
    out_option,
    reading_options,
    report_option,
    top_option,
)


@click.command("score")
@model_argument
@data_argument
@index_option
@flagging_options
@out_option
@keep_option
@report_option
@top_option
@kind_option
@json_option
@exit_code_option
@reading_options
def command(
    model: Path,
    data: str | None,
    index: str | None,
    flagging: Flagging,
    out: str | None,
    keep: tuple[str, ...],
    report: Path | None,
    top: int,
    kinds: tuple[str, ...],
    as_json: bool,
    exit_code: bool,
    reading: Reading,
) -> int:
    """Score a table with a saved model, in constant memory.

    With --fdr, --flag-top or --alarms the table is read twice: what is flagged depends on all its
    rows.
    """
    from setatoms.cli.models import load_model
    from setatoms.cli.outputs import check_outputs
    from setatoms.cli.reading import open_data
    from setatoms.cli.runs import Wishes, run_scoring
    from setatoms.files.choose import check_known

    flagging.check()
    if out == "-" and as_json:
        raise click.UsageError("--out - and --json both go to standard output; give one of them")
    check_outputs([model, data], [out, report])
    loaded = load_model(model, data)
    opened = open_data(data, reading, loaded.encoding)
    check_outputs(opened.inputs, [out, report])
    check_known(opened.table, [index] if index else [])
    wishes = Wishes(data, index, flagging, out, keep, report, top, kinds, as_json, exit_code)
    return run_scoring(loaded, opened, wishes, list(opened.table.notes), {})
