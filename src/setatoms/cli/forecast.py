"""What a table will take in memory and time, told before it is read."""

from __future__ import annotations

import sys
import warnings
from typing import NamedTuple

from setatoms.backends import effective_jobs
from setatoms.cli.options import Learning
from setatoms.cli.reading import Data
from setatoms.estimators.members import FEWEST_ROWS_PER_ATOM, SIZES, count_rows
from setatoms.estimators.sizes import limit_wide
from setatoms.learning.radii import count_atoms
from setatoms.memory import in_bytes, spare_memory
from setatoms.terminal import print_error

SHARE_OF_MEMORY = 0.25
# More teaches nothing new; learning takes several times as much.
USUAL_BYTES = 1 << 28

_LONG_SECONDS = 30.0
_SMALLER_SAMPLES = (100_000, 20_000, 5_000, 2_000, 500)


class Speed(NamedTuple):
    """How long a method takes on two cores, in seconds: measured on tables of many shapes.

    Learning takes ``row + entry * atoms * features`` per row and ``pair`` per pair of atoms and
    feature. Where members `sample`, they have fewer atoms for few rows, learn from some of many,
    and then score all.
    """

    atoms_per_feature: float
    row: float
    entry: float
    pair: float = 0.0
    sample: bool = False


_SPEEDS = {
    "ensemble": Speed(8.0, row=2e-4, entry=4e-8, sample=True),
    "gaussian": Speed(3.0, row=1.5e-4, entry=5e-8),
    "cone": Speed(4.0, row=4e-5, entry=2e-8, pair=5e-8),
    "vector": Speed(3.0, row=1.5e-5, entry=2e-8),
}
_MEASURED_CORES = 2
# Scoring a row, as a share of learning from it; reading a byte.
_SCORING = 0.06
_READING = 2e-8


def forewarn(data: Data, learning: Learning) -> None:
    """Say before a table is read what will not fit in memory, and what will take long."""
    n_rows, n_features = data.table.about_rows, max(2, len(data.table.names))
    room = rows_in_memory(n_features, learning.sample)
    wanted = min(n_rows, learning.sample or n_rows)
    if wanted > room:
        needed = in_bytes(8.0 * wanted * n_features)
        print_error(
            f"about {wanted:,} rows of {n_features:,} columns need {needed}; "
            f"a random sample of {room:,} rows will be learned from"
            + (" (--sample N for more)" if learning.sample is None else "")
        )
        wanted = room
    seconds = estimate_seconds(learning, n_rows, wanted, n_features, data.size)
    if seconds >= _LONG_SECONDS:
        print_error(_long(learning, seconds, n_rows, wanted, n_features, data.size))


def rows_in_memory(n_features: int, wished: int | None = None) -> int:
    """Return how many rows of so many features may be held at a time, at least two.

    As many as a quarter of the memory holds, or as is usual if no number is wished for.
    """
    n_bytes = int(SHARE_OF_MEMORY * spare_memory())
    if wished is None:
        n_bytes = min(n_bytes, USUAL_BYTES)
    return max(2, n_bytes // (8 * n_features))


def estimate_seconds(
    learning: Learning, n_rows: int, n_learned: int, n_features: int, n_bytes: int
) -> float:
    """Return about how long it takes to learn from `n_learned` of `n_rows` rows and score all."""
    speed = _speed(learning)
    atoms = _atoms(learning, speed, n_learned, n_features)
    n_scored = n_rows
    if speed.sample:
        n_scored += n_learned
        n_learned = count_rows(None, n_learned, atoms)
    row = speed.row + speed.entry * atoms * n_features
    work = row * (n_learned + _SCORING * n_scored) + speed.pair * atoms * atoms * n_features
    return work * _MEASURED_CORES / effective_jobs(learning.jobs) + _READING * n_bytes


def _speed(learning: Learning) -> Speed:
    return _SPEEDS.get(learning.method, _SPEEDS["gaussian"])


def _atoms(learning: Learning, speed: Speed, n_rows: int, n_features: int) -> int:
    if learning.atoms is not None:
        return count_atoms(learning.atoms, n_features)
    count = count_atoms(speed.atoms_per_feature, n_features)
    if speed.sample:
        count = min(count, max(n_features, n_rows // FEWEST_ROWS_PER_ATOM))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # learning will tell
        return limit_wide(count, n_rows, n_features)


def _long(
    learning: Learning, seconds: float, n_rows: int, n_learned: int, n_features: int, n_bytes: int
) -> str:
    """Return how long it will take, and what would be faster."""
    least = _least_sample(learning, n_features)
    for sample in _SMALLER_SAMPLES:
        if least <= sample < n_learned:
            less = estimate_seconds(learning, n_rows, sample, n_features, n_bytes)
            if less < seconds / 2:
                faster = f"--sample {sample} takes about {_roughly(less)}"
                break
    else:
        faster = "--method vector or fewer --atoms take less" if learning.method != "vector" else ""
    return "; ".join(filter(None, [f"about {_roughly(seconds)}", faster]))


def _least_sample(learning: Learning, n_features: int) -> int:
    """Return how many rows members of an ensemble would take; fewer cost accuracy, not time."""
    if not _speed(learning).sample:
        return 0
    return count_rows(None, sys.maxsize, count_atoms(max(SIZES), n_features))


def _roughly(seconds: float) -> str:
    """Return a duration no more precisely than it can be foreseen.

    Examples
    --------
    >>> _roughly(12.3), _roughly(494), _roughly(20_000)
    ('10 s', '8 min', '5.6 h')
    """
    if seconds < 90:
        return f"{max(1, round(seconds, -1) if seconds >= 10 else round(seconds)):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
