"""Views of a row: its relations, its size, how alone it is; and what rows to learn from."""

from setatoms.views.calibration import Calibration
from setatoms.views.guard import (
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
from setatoms.views.screening import screen_rows

__all__ = [
    "RELATION_ALONE",
    "VIEWS",
    "WEIGHTS",
    "Calibration",
    "Guard",
    "Inside",
    "Judged",
    "Neighbours",
    "Reach",
    "combine_views",
    "raise_outside",
    "screen_rows",
]
