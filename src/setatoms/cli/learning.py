"""Learn a model from a table."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from setatoms.cli.forecast import forewarn, rows_in_memory
from setatoms.cli.models import Model
from setatoms.cli.options import Learning, as_options
from setatoms.cli.reading import Data, ReadProgress, as_columns
from setatoms.estimators.tables import NamedRows
from setatoms.files import Choice, Chosen, Rows, choose_columns, feature_chunks

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LearnedModel:
    """A model and what was done to get it.

    Attributes
    ----------
    model : Model
        The model.
    n_rows : int
        How many rows the table has.
    notes : list of str
        What became of columns, missing values and rows, a sentence each.
    """

    model: Model
    n_rows: int
    notes: list[str]


def learn(data: Data, learning: Learning) -> LearnedModel:
    """Choose columns and rows, and fit a detector on them.

    Parameters
    ----------
    data : Data
        The table.
    learning : Learning
        What the user wants.
    """
    forewarn(data, learning)
    choice = make_choice(data, learning)
    most = rows_in_memory(1)
    with ReadProgress("reading", data) as progress:
        chosen = choose_columns(data.table, choice, progress.advance, most)
    data.check_unchanged()
    rows = _rows_to_learn_from(chosen, learning)
    notes = list(chosen.notes)
    every_row = len(rows) == chosen.survey.n_rows
    note_sample(notes, None if every_row else rows, learning)
    table = NamedRows.of(_load(data, chosen, rows), chosen.encoding.features)
    model = fit_detector(table, chosen, learning, notes, every_row)
    return LearnedModel(model, chosen.survey.n_rows, notes)


def make_choice(data: Data, learning: Learning) -> Choice:
    """Return which columns the user wants, and how."""
    return Choice(
        index=learning.index,
        drop=as_columns(learning.drop, data.table),
        use=as_columns(learning.use, data.table),
        encode=as_columns(learning.encode, data.table),
        one_hot=learning.one_hot,
    )


def note_sample(notes: list[str], rows: NDArray[np.intp] | None, learning: Learning) -> None:
    """Say how many random rows are learned from, if not all are."""
    if rows is not None:
        notes.append(f"learned from {len(rows):,} random rows (--sample, --seed {learning.seed})")


def fit_detector(
    table: Any, chosen: Chosen, learning: Learning, notes: list[str], every_row: bool
) -> Model:
    """Fit a detector on features, wherever they are, and note what it says.

    Parameters
    ----------
    table : NamedRows or dask.dataframe.DataFrame
        The features.
    chosen : Chosen
        What they come from.
    learning : Learning
        What the user wants.
    notes : list of str
        Gets further sentences.
    every_row : bool
        Whether these are all rows of the table.
    """
    with _remarks(notes):
        detector = make_detector(learning)
        if learning.choose:
            detector = _with_best_parameters(detector, table, notes)
        detector.fit(table)
    if detector.n_screened_:
        look = "row looks" if detector.n_screened_ == 1 else "rows look"
        notes.append(
            f"{detector.n_screened_:,} {look} abnormal at first sight and had no say in learning"
        )
    return Model(detector, chosen.encoding, every_row)


def make_detector(learning: Learning) -> Any:
    """Return a detector with the parameters that the user chose."""
    import setatoms

    kinds = {
        "gaussian": setatoms.GaussianAtomDetector,
        "cone": setatoms.ConeAtomDetector,
        "vector": setatoms.VectorAtomDetector,
        "ensemble": setatoms.SetAtomEnsemble,
    }
    chosen: dict[str, Any] = {} if learning.atoms is None else {"n_atoms": learning.atoms}
    if learning.method not in kinds:
        chosen["kind"] = learning.method
    if learning.budget is not None:
        if learning.method != "ensemble":
            raise click.UsageError("--budget is for an ensemble; leave --method out, or --budget")
        chosen["budget"] = learning.budget
    return kinds.get(learning.method, setatoms.SetAtomDetector)(
        **chosen,
        contamination=learning.contamination,
        missing="fill",
        n_jobs=learning.jobs,
        random_state=learning.seed,
        verbose=int(sys.stderr.isatty()),
    )


def _with_best_parameters(detector: Any, table: NamedRows, notes: list[str]) -> Any:
    """Return a detector with the parameters that tell rows from broken ones best."""
    from setatoms import choose_parameters

    choice = choose_parameters(table, detector)
    given = float(choice.candidates[0].aucs.mean())
    if not choice.parameters:
        notes.append(f"--choose: nothing does better than the usual parameters (AUC {given:.3f})")
        return detector
    best = next(c for c in choice.candidates if c.parameters == choice.parameters)
    what = ", ".join(f"{name}={value}" for name, value in choice.parameters.items())
    notes.append(f"--choose: {what} (AUC {best.aucs.mean():.3f}, usual parameters {given:.3f})")
    return choice.detector


def _rows_to_learn_from(chosen: Chosen, learning: Learning) -> NDArray[np.intp]:
    """Return increasing positions of the rows to fit on: all of them, or a random sample."""
    n_rows = chosen.survey.n_rows
    room = rows_in_memory(len(chosen.encoding.features), learning.sample)
    wanted = min(learning.sample or n_rows, room, n_rows)
    if wanted == n_rows:
        return np.arange(n_rows)
    return random_rows(n_rows, wanted, learning.seed)


def random_rows(n_rows: int, wanted: int, seed: int) -> NDArray[np.intp]:
    """Return the increasing positions of `wanted` of `n_rows` rows."""
    rng = np.random.default_rng(seed)
    return np.sort(rng.choice(n_rows, wanted, replace=False, shuffle=False)).astype(np.intp)


def _load(data: Data, chosen: Chosen, rows: NDArray[np.intp]) -> Array:
    """Return the features (n_rows, n_features) of some rows; keep those of all, if they fit."""
    n_rows, encoding = chosen.survey.n_rows, chosen.encoding
    if (everything := chosen.features()) is not None:
        data.table.kept = Rows(everything, chosen.labels(), chosen.survey.times)
        return everything if len(rows) == n_rows else everything[rows]
    X = np.empty((len(rows), len(encoding.features)))
    first, filled = 0, 0
    with ReadProgress("reading a sample", data, n_rows) as progress:
        for features, *_ in feature_chunks(data.table, encoding):
            end = int(np.searchsorted(rows, first + len(features)))
            X[filled:end] = features[rows[filled:end] - first]
            first, filled = first + len(features), end
            progress.advance(len(features))
    data.check_unchanged()
    return X


@contextmanager
def _remarks(notes: list[str]) -> Iterator[None]:
    """Turn what the library warns of into notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        warnings.filterwarnings("ignore", "Sending large graph")  # Dask's own
        yield
    ours = (as_options(str(w.message)) for w in caught if w.category is UserWarning)
    notes += dict.fromkeys(ours)
