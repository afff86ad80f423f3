"""Score a table here, block by block."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from setatoms.cli.models import Model
from setatoms.cli.reading import Data, ReadProgress
from setatoms.cli.scores_file import scores_file
from setatoms.cli.scoring import (
    FlagRule,
    Judged,
    ScoresFormat,
    highest_of,
    p_value_counts,
    score_rows,
)
from setatoms.decisions import PValueCounts
from setatoms.files import feature_chunks

Array = NDArray[np.float64]


class TableScorer:
    """Scores all rows of a table here, in constant memory.

    Parameters
    ----------
    model : Model
        What scores them.
    data : Data
        The table.
    n_rows : int or None
        How many rows it has, if it was learned from.
    """

    def __init__(self, model: Model, data: Data, n_rows: int | None) -> None:
        self._model, self._data, self._n_rows = model, data, n_rows

    def highest_scores(self, n_kept: int) -> Array:
        """Return the highest scores, highest first."""
        return highest_of(self._scores("looking for the highest scores"), n_kept)

    def count_p_values(self) -> PValueCounts:
        """Return how often each p-value occurs."""
        return p_value_counts(self._model, self._scores("counting p-values"))

    def judge(self, rule: FlagRule, judged: Judged, out: ScoresFormat) -> None:
        """Flag rows, write their scores, and tell `judged` of them."""
        with (
            scores_file(out.out, self._model, out.own) as file,
            ReadProgress("scoring", self._data, self._n_rows) as progress,
        ):
            for rows in score_rows(self._model, self._data.table, rule, out, judged.bad):
                judged.add(rows)
                if file is not None:
                    file.add(rows)
                progress.advance(len(rows.scores))
            if self._n_rows is not None:  # the model is of this table, as it was
                self._data.check_unchanged()
            judged.check_any(self._data.table.name)

    def _scores(self, label: str) -> Iterator[Array]:
        with ReadProgress(label, self._data, self._n_rows) as progress:
            for features, *_ in feature_chunks(self._data.table, self._model.encoding):
                yield self._model.scores(features)
                progress.advance(len(features))
