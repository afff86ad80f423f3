"""What is kept of a stream of rows: sums that fade, a sample, and evidence of change.

Records are frozen: taking in rows returns a new one, so that a step that fails leaves the old one
as it was. Everything random is a function of a seed and the number of a row, so nothing depends on
how a stream is cut into batches.
"""

from setatoms.streams.alarm import Alarm
from setatoms.streams.drift import Drift, measure_moves
from setatoms.streams.fading import count_past, fading
from setatoms.streams.moments import Moments
from setatoms.streams.reservoir import Reservoir
from setatoms.streams.sums import RunningSums

__all__ = [
    "Alarm",
    "Drift",
    "Moments",
    "Reservoir",
    "RunningSums",
    "count_past",
    "fading",
    "measure_moves",
]
