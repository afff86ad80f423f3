"""Views of a row: its relations, its size, how alone it is; and what rows to learn from."""

from setatoms.views.calibration import Calibration
from setatoms.views.guard import (
    MOST_OUTCASTS,
    RELATION_ALONE,
    VIEWS,
    WEIGHTS,
    Guard,
    Inside,
    Judged,
    Reach,
    combine_views,
    raise_outside,
)
from setatoms.views.neighbours import Neighbours
from setatoms.views.screening import Screen

__all__ = [
    "MOST_OUTCASTS",
    "RELATION_ALONE",
    "VIEWS",
    "WEIGHTS",
    "Calibration",
    "Guard",
    "Inside",
    "Judged",
    "Neighbours",
    "Reach",
    "Screen",
    "combine_views",
    "raise_outside",
]
