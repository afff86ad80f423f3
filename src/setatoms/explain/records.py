"""The plain form of an explanation: dictionaries of numbers and text, ready for JSON."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class ColumnRecord(TypedDict):
    """One column of one row, in the column's own unit.

    Attributes
    ----------
    column : str
        Its name.
    observed : float or None
        The value; None where it was missing.
    expected : float
        What the other columns imply; with ``views=("relation",)`` what the atoms represent.
    contribution : float
        Its share of what is unusual; over all columns they sum to one.
    represented : float
        What the atoms represent. This and the next two are there with several views.
    least, most : float
        The smallest and the largest value learned from.
    implied : float
        What the other columns imply, with ``rank="refill"``.
    drop : float
        By how much the score falls with it, with ``rank="refill"``.
    """

    column: str
    observed: float | None
    expected: float
    contribution: float
    represented: NotRequired[float]
    least: NotRequired[float]
    most: NotRequired[float]
    implied: NotRequired[float]
    drop: NotRequired[float]


class AtomRecord(TypedDict):
    """One atom that represents a row.

    Attributes
    ----------
    atom : int
        Its number.
    coefficient : float
        How much of it is in the row.
    distance : float
        How far the actual atom lies from the centre: for a Gaussian in standard deviations, for a
        cone in radii; 0 for a vector.
    on_boundary : bool or None
        Whether it is on the boundary of its cone; None where atoms have none.
    member : int
        The number of its dictionary, if there are several.
    """

    atom: int
    coefficient: float
    distance: float
    on_boundary: bool | None
    member: NotRequired[int]


class RowRecord(TypedDict):
    """One row: its score, the columns and the atoms behind it.

    Attributes
    ----------
    row : int
        Its number, from 0.
    score : float
        Higher is more anomalous: minus what ``score_samples`` returns.
    flagged : bool
        Whether it is beyond the threshold.
    kind : str
        The kind of fault. This and ``views`` are there with several views.
    views : dict of str to float
        The part of each view in the score. The parts add up to it: of a row that leaves the
        learned range, ``outside`` is what that adds, and the other parts are those of the row
        brought back to the border.
    sentence : str
        The columns most to blame, in words.
    columns : list of ColumnRecord
        The most responsible first.
    atoms : list of AtomRecord
        The largest coefficients first.
    """

    row: int
    score: float
    flagged: bool
    kind: NotRequired[str]
    views: NotRequired[dict[str, float]]
    sentence: str
    columns: list[ColumnRecord]
    atoms: list[AtomRecord]
