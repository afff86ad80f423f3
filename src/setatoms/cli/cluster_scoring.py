"""Score Parquet files on a cluster."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from setatoms.backends import at_most_jobs
from setatoms.cli.cluster import in_order
from setatoms.cli.models import Model
from setatoms.cli.new_folder import new_folder
from setatoms.cli.reading import Data, ReadProgress
from setatoms.cli.scores_file import ScoresFile, scores_file
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
from setatoms.files.parts import Part, PartReader, cut_table

Array = NDArray[np.float64]
T = TypeVar("T")


class ScoredPart(NamedTuple):
    """What a worker found in a part, and the lines to write on its rows."""

    judged: Judged
    lines: bytes


class ClusterScorer:
    """Scores all rows of a table on the workers of a cluster.

    Parameters
    ----------
    client : distributed.Client
        Knows the cluster.
    model : Model
        What scores the rows.
    data : Data
        The table, in Parquet files.
    """

    def __init__(self, client: Any, model: Model, data: Data) -> None:
        self._client, self._model, self._data = client, model, data
        self._reader, self._parts = cut_table(data.source, data.table)

    def highest_scores(self, n_kept: int) -> Array:
        """Return the highest scores, highest first."""
        work = _HighestOfPart(self._model, self._reader, n_kept)
        return highest_of(self._each("looking for the highest scores", work), n_kept)

    def count_p_values(self) -> PValueCounts:
        """Return how often each p-value occurs."""
        counts = p_value_counts(self._model, [])
        work = _PValuesOfPart(self._model, self._reader)
        for some in self._each("counting p-values", work):
            counts.merge(some)
        return counts

    def judge(self, rule: FlagRule, judged: Judged, out: ScoresFormat) -> None:
        """Flag rows, write their scores, and tell `judged` of them."""
        if out.out is not None and is_folder(out.out):
            with new_folder(Path(out.out), "part-*.parquet", len(self._parts)) as folder:
                self._judge(rule, judged, out, None, folder)
        else:
            with scores_file(out.out, self._model, out.own) as file:
                self._judge(rule, judged, out, file, None)

    def _judge(
        self,
        rule: FlagRule,
        judged: Judged,
        out: ScoresFormat,
        file: ScoresFile | None,
        folder: Path | None,
    ) -> None:
        nothing = deepcopy(judged.detached())
        people = None if file is None else file.for_people
        work = _JudgePart(self._model, self._reader, rule, out, nothing, people, folder)
        for part in self._each("scoring", work):
            judged.merge(part.judged)
            if file is not None:
                file.add_lines(part.lines)
        self._data.check_unchanged()
        judged.check_any(self._data.table.name)

    def _each(self, label: str, work: Callable[[Part], T]) -> Iterator[T]:
        """Yield what the work on each part comes to, in order."""
        n_rows = sum(part.n_rows for part in self._parts)
        with ReadProgress(label, self._data, n_rows) as progress:
            found = in_order(self._client, _do, work, self._parts)
            for part, result in zip(self._parts, found, strict=True):
                yield result
                progress.advance(part.n_rows)


def is_folder(out: str) -> bool:
    """Tell whether an output is to be a folder with a file for each part."""
    return out.endswith("/")


# What workers do; each with one thread, as a worker does as many things at once as it has threads.


def _do(work: Callable[[Part], T], part: Part) -> T:
    with at_most_jobs(1):
        return work(part)


@dataclass(frozen=True)
class _HighestOfPart:
    model: Model
    reader: PartReader
    n_kept: int

    def __call__(self, part: Part) -> Array:
        return highest_of(_scores(self.model, self.reader, part), self.n_kept)


@dataclass(frozen=True)
class _PValuesOfPart:
    model: Model
    reader: PartReader

    def __call__(self, part: Part) -> PValueCounts:
        return p_value_counts(self.model, _scores(self.model, self.reader, part))


def _scores(model: Model, reader: PartReader, part: Part) -> Iterator[Array]:
    for features, *_ in feature_chunks(reader.open(part), model.encoding):
        yield model.scores(features)


@dataclass(frozen=True)
class _JudgePart:
    model: Model
    reader: PartReader
    rule: FlagRule
    out: ScoresFormat
    nothing: Judged
    for_people: bool | None
    folder: Path | None

    def __call__(self, part: Part) -> ScoredPart:
        if self.folder is not None:
            name = self.folder / f"part-{part.number:06d}.parquet"
            with scores_file(str(name), self.model, self.out.own) as file:
                return ScoredPart(self._judge(part, file), b"")
        if self.for_people is None:
            return ScoredPart(self._judge(part, None), b"")
        lines = io.BytesIO()
        file = ScoresFile(lines, self.model, self.out.own, self.for_people, header=False)
        return ScoredPart(self._judge(part, file), lines.getvalue())

    def _judge(self, part: Part, file: ScoresFile | None) -> Judged:
        judged, table = deepcopy(self.nothing), self.reader.open(part)
        first = part.first_row + 1
        for rows in score_rows(self.model, table, self.rule, self.out, judged.bad, first):
            judged.add(rows)
            if file is not None:
                file.add(rows)
        return judged
