"""Score a table in constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from setatoms.cli.models import Model
from setatoms.cli.options import Flagging
from setatoms.decisions import BatchCounts, PValueCounts
from setatoms.files import BadCells, FileError, Table, feature_chunks

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


class Scorer(Protocol):
    """Scores all rows of a table, wherever that is done."""

    def highest_scores(self, n_kept: int) -> Array:
        """Return the highest scores, highest first."""

    def count_p_values(self) -> PValueCounts:
        """Return how often each p-value occurs."""

    def judge(self, rule: FlagRule, judged: Judged, out: ScoresFormat) -> None:
        """Flag rows, write their scores, and tell `judged` of them."""


@dataclass(frozen=True)
class ScoresFormat:
    """Where scores go, and what is written besides.

    Attributes
    ----------
    out : str or None
        The file, if there is one.
    index : str or None
        The column that names the rows.
    keep : sequence of str
        The table's own columns that are written.
    time : str or None
        The column that tells when rows were, to be kept in mind.
    """

    out: str | None
    index: str | None
    keep: Sequence[str]
    time: str | None = None

    @property
    def own(self) -> list[str]:
        """All of the table's own columns that are written."""
        return [*([self.index] if self.index else []), *self.keep]


def find_rule(model: Model, scorer: Scorer, flagging: Flagging, n_rows: int | None) -> FlagRule:
    """Return the model's own rule, or the one that all rows of the table imply."""
    if flagging.fdr is not None:
        if not model.calibrated:
            raise ValueError(
                "--fdr needs p-values, and the model has none; fit it with --contamination auto"
            )
        return FlagRule(model.threshold, scorer.count_p_values().cut(flagging.fdr))
    if flagging.flag_top is not None:
        return FlagRule(_next_highest(model, scorer, flagging.flag_top, n_rows))
    if flagging.alarms is not None:
        highest = _next_highest(model, scorer, flagging.alarms, n_rows)
        return FlagRule(max(model.threshold, highest))
    return FlagRule(model.threshold)


def _next_highest(model: Model, scorer: Scorer, n_top: int, n_rows: int | None) -> float:
    """Return the score that no more than `n_top` rows exceed, the next highest after theirs."""
    if n_rows is not None and n_rows <= n_top:
        return -np.inf
    known = model.detector.lowest_scores_
    if known is not None and n_rows == model.detector.n_samples_fit_ and len(known) > n_top:
        return -float(known[n_top])
    highest = scorer.highest_scores(n_top + 1)
    return float(highest[n_top]) if len(highest) > n_top else -np.inf


def highest_of(parts: Iterable[Array], n_kept: int) -> Array:
    """Return the highest of some scores that come in parts, highest first."""
    highest = np.empty(0)
    for scores in parts:
        highest = np.sort(np.concatenate([highest, scores]))[::-1][:n_kept]
    return highest


def p_value_counts(model: Model, parts: Iterable[Array]) -> PValueCounts:
    """Return how often the p-values of scores that come in parts occur."""
    counts = PValueCounts(len(model.detector.calibration_scores_))
    for scores in parts:
        p_values = model.p_values(scores)
        counts.add([] if p_values is None else p_values)
    return counts


def score_rows(
    model: Model, table: Table, rule: FlagRule, out: ScoresFormat, bad: BadCells, first_row: int = 1
) -> Iterator[Scored]:
    """Yield the rows of a table with their scores, in order, and the words of columns to keep."""
    for features, words, times in feature_chunks(table, model.encoding, out.own, bad, out.time):
        scores = model.scores(features)
        p_values = model.p_values(scores)
        labels = words[out.index] if out.index else None
        flagged = rule.flag(scores, p_values)
        kept = [words[name] for name in out.keep]
        yield Scored(first_row, features, scores, p_values, flagged, labels, kept, times)
        first_row += len(features)


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

    def merge(self, other: Tally) -> None:
        """Take in what was kept of further rows."""
        self.n_rows += other.n_rows
        self.n_flagged += other.n_flagged
        self.n_beyond += other.n_beyond
        self.n_missing += other.n_missing
        self.highest_normal = max(self.highest_normal, other.highest_normal)
        self._keep_highest(other.top)

    def add(self, rows: Scored) -> None:
        """Take in further rows."""
        self.n_rows += len(rows.scores)
        self.n_flagged += int(rows.flagged.sum())
        self.n_beyond += int((rows.scores > self.threshold).sum())
        self.n_missing += int(np.isnan(rows.features).sum())
        normal = rows.scores[~rows.flagged]
        self.highest_normal = max(self.highest_normal, float(normal.max(initial=-np.inf)))
        self._keep_highest([_top_row(rows, int(i)) for i in _highest(rows.scores, self.n_top)])
        if self.keep_scores:
            self.scores.append(rows.scores)
            self.flags.append(rows.flagged)
            if rows.times is not None:
                self.times.append(rows.times)

    def _keep_highest(self, more: Sequence[TopRow]) -> None:
        # the first rows first where scores are equal, however the table is cut
        merged = sorted([*self.top, *more], key=lambda top: (-top.score, top.row))
        self.top = merged[: self.n_top]


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


@dataclass
class Judged:
    """What is known of all rows once they are scored.

    Attributes
    ----------
    tally : Tally
        How many there are, and the most anomalous ones.
    counts : BatchCounts
        How they differ from those learned from.
    bad : BadCells
        Cells that are no numbers.
    """

    tally: Tally
    counts: BatchCounts
    bad: BadCells

    def add(self, rows: Scored) -> None:
        """Take in further rows."""
        self.tally.add(rows)
        n_beyond = int((rows.scores > self.tally.threshold).sum())
        self.counts.add(rows.features, n_beyond)

    def merge(self, other: Judged) -> None:
        """Take in what is known of further rows."""
        self.bad.merge(self.tally.n_rows, other.bad)
        self.tally.merge(other.tally)
        self.counts.merge(other.counts)

    def check_any(self, name: str) -> None:
        """Raise if there were no rows in the table of this name."""
        if self.tally.n_rows == 0:
            raise FileError(f"{name} has no rows, only a header; nothing to score")

    def detached(self) -> Judged:
        """Return the same without what reads the table."""
        return replace(self, bad=self.bad.detached())
