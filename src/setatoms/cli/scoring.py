"""Score a table in constant memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms.cli.models import Model
from setatoms.cli.options import Flagging
from setatoms.cli.reading import Data, ReadProgress
from setatoms.files import BadCells, feature_chunks

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


class Scored(NamedTuple):
    """Some consecutive rows and their scores.

    Attributes
    ----------
    first_row : int
        The number of the first of them, from 1.
    features : ndarray of shape (n_rows, n_features)
        As the model sees them, NaN where missing.
    scores, p_values : ndarray of shape (n_rows,)
        Higher scores are more anomalous; p-values are None if the model has none.
    flagged : ndarray of shape (n_rows,)
        Which of them are flagged.
    labels : list or None
        The words of the index column.
    kept : list of list
        The words of the table's own columns that are written with the scores.
    times : ndarray of shape (n_rows,) or None
        When they were, in seconds since 1970.
    """

    first_row: int
    features: Array
    scores: Array
    p_values: Array | None
    flagged: Mask
    labels: list[str | None] | None
    kept: list[list[str | None]]
    times: Array | None = None


@dataclass(frozen=True)
class FlagRule:
    """When a row is flagged: beyond a score, or with a small p-value.

    Attributes
    ----------
    threshold : float
        The score beyond which a row is flagged.
    cut : float or None
        The largest p-value of a row that is flagged; decides if it is given.
    """

    threshold: float
    cut: float | None = None

    def flag(self, scores: Array, p_values: Array | None) -> Mask:
        """Tell which rows are flagged."""
        if self.cut is None or p_values is None:
            return scores > self.threshold
        return p_values <= self.cut


def find_rule(model: Model, data: Data, flagging: Flagging, n_rows: int | None) -> FlagRule:
    """Return the model's own rule, or the one that all rows of the table imply."""
    if flagging.fdr is not None:
        return _rule_by_p_values(model, data, flagging.fdr, n_rows)
    if flagging.flag_top is not None:
        return FlagRule(_next_highest(model, data, flagging.flag_top, n_rows))
    if flagging.alarms is not None:
        highest = _next_highest(model, data, flagging.alarms, n_rows)
        return FlagRule(max(model.threshold, highest))
    return FlagRule(model.threshold)


def _next_highest(model: Model, data: Data, n_top: int, n_rows: int | None) -> float:
    """Return the score that no more than `n_top` rows exceed, the next highest after theirs."""
    if n_rows is not None and n_rows <= n_top:
        return -np.inf
    known = model.detector.lowest_scores_
    if known is not None and n_rows == model.detector.n_samples_fit_ and len(known) > n_top:
        return -float(known[n_top])
    highest = np.empty(0)
    with ReadProgress("looking for the highest scores", data, n_rows) as progress:
        for features, *_ in feature_chunks(data.table, model.encoding):
            merged = np.concatenate([highest, model.scores(features)])
            highest = np.sort(merged)[::-1][: n_top + 1]
            progress.advance(len(features))
    return float(highest[n_top]) if len(highest) > n_top else -np.inf


def _rule_by_p_values(model: Model, data: Data, fdr: float, n_rows: int | None) -> FlagRule:
    from setatoms.decisions import PValueCounts

    if not model.calibrated:
        raise ValueError(
            "--fdr needs p-values, and the model has none; fit it with --contamination auto"
        )
    counts = PValueCounts(len(model.detector.calibration_scores_))
    with ReadProgress("counting p-values", data, n_rows) as progress:
        for features, *_ in feature_chunks(data.table, model.encoding):
            p_values = model.p_values(model.scores(features))
            counts.add([] if p_values is None else p_values)
            progress.advance(len(features))
    return FlagRule(model.threshold, counts.cut(fdr))


def score_rows(
    model: Model,
    data: Data,
    rule: FlagRule,
    index: str | None,
    n_rows: int | None,
    bad: BadCells,
    keep: Sequence[str] = (),
    time: str | None = None,
) -> Iterator[Scored]:
    """Yield the rows of a table with their scores, in order, and the words of columns to keep."""
    first = 1
    also = [*([index] if index else []), *keep]
    with ReadProgress("scoring", data, n_rows) as progress:
        for features, words, times in feature_chunks(data.table, model.encoding, also, bad, time):
            scores = model.scores(features)
            p_values = model.p_values(scores)
            labels = words[index] if index else None
            flagged = rule.flag(scores, p_values)
            kept = [words[name] for name in keep]
            yield Scored(first, features, scores, p_values, flagged, labels, kept, times)
            first += len(features)
            progress.advance(len(features))


class TopRow(NamedTuple):
    """One of the most anomalous rows."""

    row: int
    score: float
    p_value: float | None
    flagged: bool
    label: str | None
    features: Array


@dataclass
class Tally:
    """What is kept of all rows: how many there are, and the most anomalous ones.

    Attributes
    ----------
    n_top : int
        How many of the most anomalous rows to keep.
    threshold : float
        That of the model; rows beyond it are counted, flagged or not.
    keep_scores : bool
        Whether to keep all scores, which takes nine bytes per row.
    """

    n_top: int
    threshold: float
    keep_scores: bool = False
    n_rows: int = 0
    n_flagged: int = 0
    n_beyond: int = 0
    n_missing: int = 0
    highest_normal: float = -np.inf
    top: list[TopRow] = field(default_factory=list)
    scores: list[Array] = field(default_factory=list)
    flags: list[Mask] = field(default_factory=list)
    times: list[Array] = field(default_factory=list)

    def add(self, rows: Scored) -> None:
        """Take in further rows."""
        self.n_rows += len(rows.scores)
        self.n_flagged += int(rows.flagged.sum())
        self.n_beyond += int((rows.scores > self.threshold).sum())
        self.n_missing += int(np.isnan(rows.features).sum())
        normal = rows.scores[~rows.flagged]
        self.highest_normal = max(self.highest_normal, float(normal.max(initial=-np.inf)))
        # the first rows first where scores are equal, however the table is cut
        best = _highest(rows.scores, self.n_top)
        merged = [*self.top, *(_top_row(rows, int(i)) for i in best)]
        self.top = sorted(merged, key=lambda top: (-top.score, top.row))[: self.n_top]
        if self.keep_scores:
            self.scores.append(rows.scores)
            self.flags.append(rows.flagged)
            if rows.times is not None:
                self.times.append(rows.times)


def _highest(scores: Array, n_top: int) -> NDArray[np.intp]:
    """Return the places of the highest scores, highest first, of equals the first."""
    if 0 < n_top < len(scores):
        limit = np.partition(scores, len(scores) - n_top)[len(scores) - n_top]
        some = np.flatnonzero(scores >= limit)
        return some[np.argsort(-scores[some], kind="stable")][:n_top]
    return np.argsort(-scores, kind="stable")[:n_top]


def _top_row(rows: Scored, i: int) -> TopRow:
    return TopRow(
        row=rows.first_row + i,
        score=float(rows.scores[i]),
        p_value=None if rows.p_values is None else float(rows.p_values[i]),
        flagged=bool(rows.flagged[i]),
        label=None if rows.labels is None else rows.labels[i],
        features=rows.features[i].copy(),
    )
