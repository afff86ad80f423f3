"""Views of a row: its relations, its size, how alone it is; and what rows to learn from."""

from setatoms.views.calibration import Calibration
from setatoms.views.guard import VIEWS, Guard, Inside, Judged
from setatoms.views.neighbours import Neighbours
from setatoms.views.screening import screen_rows

__all__ = ["VIEWS", "Calibration", "Guard", "Inside", "Judged", "Neighbours", "screen_rows"]
