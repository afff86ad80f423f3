"""Learn a model from Parquet files on a cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from setatoms.cli.cluster import connected
from setatoms.cli.learning import (
    LearnedModel,
    fit_detector,
    make_choice,
    note_sample,
    random_rows,
)
from setatoms.cli.options import Learning
from setatoms.cli.reading import Data, ReadProgress
from setatoms.files import Choice, Encoding, Table, feature_chunks
from setatoms.files.choose import Chosen, check_choice, choose_from
from setatoms.files.parts import Part, PartReader, cut_table
from setatoms.files.survey import Survey, merge_surveys, survey_part

Places = NDArray[np.intp]


def learn_on_cluster(address: str, data: Data, learning: Learning) -> LearnedModel:
    """Choose columns and rows and fit a detector on them, all on a cluster.

    Workers read the files; neither rows nor columns come to this process. The model is the one
    that `learn` returns for the same rows.

    Parameters
    ----------
    address : str
        That of the scheduler.
    data : Data
        The table.
    learning : Learning
        What the user wants.
    """
    if learning.choose:
        raise click.UsageError("--choose needs the rows in memory; leave it or --scheduler out")
    reader, parts = cut_table(data.source, data.table)
    choice = make_choice(data, learning)
    check_choice(data.table, choice)
    with connected(address, also=["duckdb", "pandas"]):
        found = _survey(data, reader, parts, choice)
        data.check_unchanged()
        chosen = choose_from(data.table, found, choice)
        notes = list(chosen.notes)
        rows = _rows_to_learn_from(found.n_rows, learning)
        note_sample(notes, rows, learning)
        frame = _features(reader, parts, chosen, rows)
        model = fit_detector(frame, chosen, learning, notes, every_row=rows is None)
        data.check_unchanged()
    return LearnedModel(model, found.n_rows, notes)


def _survey(data: Data, reader: PartReader, parts: list[Part], choice: Choice) -> Survey:
    """Return what the whole table holds; the parts of it are looked at where they are read."""
    from setatoms.rows.delayed import finished, later

    opener, chosen = later(reader), later(choice)
    tasks = [later(_survey_part)(opener, part, chosen) for part in parts]
    found: dict[int, Survey] = {}
    with ReadProgress("reading", data) as progress:
        for i, survey in finished(tasks):
            found[i] = survey
            progress.advance(survey.n_rows)
    return merge_surveys(data.table, [found[i] for i in range(len(parts))])


def _survey_part(reader: PartReader, part: Part, choice: Choice) -> Survey:
    found = survey_part(reader.open(part), skip=choice.drop, as_words=choice.encode)
    return replace(found, bad=found.bad.detached())


def _rows_to_learn_from(n_rows: int, learning: Learning) -> Places | None:
    """Return the increasing positions of a random sample; None for all rows."""
    if learning.sample is None or learning.sample >= n_rows:
        return None
    return random_rows(n_rows, learning.sample, learning.seed)


def _features(reader: PartReader, parts: list[Part], chosen: Chosen, rows: Places | None) -> Any:
    """Return the features of some rows as a frame of Dask, a partition for each part."""
    import dask.dataframe as dd
    import pandas as pd

    from setatoms.rows.delayed import later

    opener, encoding = later(reader), later(chosen.encoding)
    frames = []
    for part in parts:
        places = None
        if rows is not None:
            first, last = np.searchsorted(rows, [part.first_row, part.first_row + part.n_rows])
            places = rows[first:last] - part.first_row
        frames.append(later(_features_of)(opener, part, encoding, places))
    meta = pd.DataFrame(columns=chosen.encoding.features, dtype=np.float64)
    return dd.from_delayed(frames, meta=meta, verify_meta=False)


def _features_of(reader: PartReader, part: Part, encoding: Encoding, places: Places | None) -> Any:
    import pandas as pd

    X = _read(reader.open(part), encoding)
    return pd.DataFrame(X if places is None else X[places], columns=encoding.features)


def _read(table: Table, encoding: Encoding) -> NDArray[np.float64]:
    X = np.empty((table.n_rows or 0, len(encoding.features)))
    filled = 0
    for features, *_ in feature_chunks(table, encoding):
        X[filled : filled + len(features)] = features
        filled += len(features)
    return X
