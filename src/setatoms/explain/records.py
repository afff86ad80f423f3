"""The plain form of an explanation: dictionaries of numbers and text, ready for JSON."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class ColumnRecord(TypedDict):
    """One column of one row.

    ``observed`` is None where the value was missing. ``implied`` (what the other columns imply)
    and ``drop`` (by how much the score falls with that value) are there with ``rank="refill"``.
    """

    column: str
    observed: float | None
    expected: float
    contribution: float
    implied: NotRequired[float]
    drop: NotRequired[float]


class AtomRecord(TypedDict):
    """One atom that represents a row; ``member`` is there if several dictionaries do."""

    atom: int
    coefficient: float
    distance: float
    on_boundary: bool | None
    member: NotRequired[int]


class Record(TypedDict):
    """One row: its score (higher is more anomalous), the columns and the atoms behind it."""

    row: int
    score: float
    anomaly: bool
    sentence: str
    columns: list[ColumnRecord]
    atoms: list[AtomRecord]
