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
    scheduler_option,
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
@scheduler_option
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
    scheduler: str | None,
    reading: Reading,
) -> int:
    """Score a table with a saved model, in constant memory.

    With --fdr, --flag-top or --alarms the table is read twice: what is flagged depends on all its
    rows.

    With --scheduler the workers of a Dask cluster read Parquet files and score them; --out DIR/
    then writes one Parquet file for each part of the table to a new folder.
    """
    from setatoms.cli.models import load_model
    from setatoms.cli.outputs import check_outputs
    from setatoms.cli.reading import open_data
    from setatoms.cli.runs import Wishes, run_scoring
    from setatoms.files.choose import check_known

    flagging.check()
    if out == "-" and as_json:
        raise click.UsageError("--out - and --json both go to standard output; give one of them")
    if scheduler is not None:
        _check_for_cluster(out, report)
    check_outputs([model, data], [out, report])
    loaded = load_model(model, data)
    opened = open_data(data, reading, loaded.encoding)
    check_outputs(opened.inputs, [out, report])
    check_known(opened.table, [index] if index else [])
    wishes = Wishes(data, index, flagging, out, keep, report, top, kinds, as_json, exit_code)
    notes = list(opened.table.notes)
    if scheduler is None:
        return run_scoring(loaded, opened, wishes, notes, {})
    from setatoms.cli.cluster import connected
    from setatoms.cli.cluster_scoring import ClusterScorer

    with connected(scheduler, also=["duckdb"]) as client:
        scorer = ClusterScorer(client, loaded, opened)
        return run_scoring(loaded, opened, wishes, notes, {}, scorer=scorer)


def _check_for_cluster(out: str | None, report: Path | None) -> None:
    from setatoms.cli.new_folder import check_new

    if report is not None:
        raise click.UsageError("--report keeps all scores in memory; leave it or --scheduler out")
    if out is not None and out.endswith("/"):
        check_new(out)
