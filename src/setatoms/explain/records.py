"""The plain form of an explanation: dictionaries of numbers and text, ready for JSON."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class ColumnRecord(TypedDict):
    """One column of one row.

    ``observed`` is None where the value was missing. With several views ``expected`` is what the
    other columns imply, ``represented`` is the value that the atoms represent, and ``least`` and
    ``most`` are the smallest and the largest value learned from. With ``rank="refill"`` there are
    ``implied`` (what the other columns imply) and ``drop`` (by how much the score falls with it).
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
    """One atom that represents a row; ``member`` is there if several dictionaries do."""

    atom: int
    coefficient: float
    distance: float
    on_boundary: bool | None
    member: NotRequired[int]


class RowRecord(TypedDict):
    """One row: its score (higher is more anomalous), the columns and the atoms behind it.

    With several views also the ``kind`` of fault, and the part of each of the ``views`` in the
    score. The parts add up to it: of a row that leaves the learned range, ``outside`` is what that
    adds, and the other parts are those of the row brought back to the border.
    """

    row: int
    score: float
    flagged: bool
    kind: NotRequired[str]
    views: NotRequired[dict[str, float]]
    sentence: str
    columns: list[ColumnRecord]
    atoms: list[AtomRecord]
