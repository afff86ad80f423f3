"""``setatoms fit``."""

from __future__ import annotations

from pathlib import Path

import click

from setatoms.cli.options import (
    FILE,
    Learning,
    Reading,
    data_argument,
    json_option,
    learning_options,
    reading_options,
    scheduler_option,
)


@click.command("fit")
@data_argument
@click.option("--save", type=FILE, metavar="FILE", required=True, help="Where to save the model.")
@learning_options
@scheduler_option
@json_option
@reading_options
def command(
    data: str | None,
    save: Path,
    learning: Learning,
    scheduler: str | None,
    as_json: bool,
    reading: Reading,
) -> None:
    """Learn from a table and save the model.

    DATA is a file (CSV and its kin, JSON, Parquet, Excel, DuckDB), a folder or a pattern of files
    as 'data/*.csv', or - for standard input. The model knows which
    columns it needs and how they are encoded.

    With --scheduler the workers of a Dask cluster read Parquet files and learn from all rows.
    """
    from setatoms.cli.learning import learn
    from setatoms.cli.outputs import check_outputs
    from setatoms.cli.printing import Printer
    from setatoms.cli.reading import open_data
    from setatoms.cli.results import file_name
    from setatoms.terminal import print_json

    check_outputs([data], [save])
    opened = open_data(data, reading)
    check_outputs(opened.inputs, [save])
    if scheduler is None:
        learned = learn(opened, learning)
    else:
        from setatoms.cli.cluster_learning import learn_on_cluster

        learned = learn_on_cluster(scheduler, opened, learning)
    learned.model.save(save)
    detector, features = learned.model.detector, learned.model.encoding.features
    if as_json:
        print_json(
            {
                "file": file_name(data),
                "rows": learned.n_rows,
                "threshold": learned.model.threshold,
                "estimator": type(detector).__name__,
                "columns": features,
                "notes": learned.notes,
                "outputs": {"model": str(save)},
            }
        )
        return
    printer = Printer()
    kind = learned.model.words
    printer.line(f"{file_name(data)}: {learned.n_rows:,} rows, {len(features)} features, {kind}")
    for note in learned.notes:
        printer.line(f"  - {note}")
    printer.line(f"model: {save}")
