"""All that an estimator keeps of a stream beside its model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setatoms.decisions import Combination
from setatoms.estimators.standardize import Standardizer
from setatoms.learning.dictionary import FittedDictionary
from setatoms.streams import Alarm, Moments, Reservoir, RunningSums
from setatoms.views import Guard

Array = NDArray[np.float64]

# Rows are learned from so many at a time.
BLOCK_ROWS = 512
# The threshold is that of so many scores, the last ones.
RECENT_SCORES = 2_048


@dataclass(frozen=True)
class Reference:
    """A model as it was: what drift is measured from, and what watches for change.

    Parameters
    ----------
    n_seen, n_blocks : int
        How many rows had been seen, and blocks learned from.
    dictionaries : tuple of FittedDictionary
        Its dictionaries.
    used : tuple of ndarray of shape (n_atoms,)
        The use of their atoms.
    standardizer, guard, combination : Standardizer, Guard, Combination or None
        What scores need beside them, as far as the estimator has it.
    """

    n_seen: int
    n_blocks: int
    dictionaries: tuple[FittedDictionary, ...]
    used: tuple[Array, ...]
    standardizer: Standardizer | None
    guard: Guard | None
    combination: Combination | None


@dataclass(frozen=True)
class Stream:
    """Where an estimator stands in a stream.

    Parameters
    ----------
    seed : int
        Of everything random.
    n_seen, n_blocks : int
        Rows seen, and blocks learned from.
    rows : ndarray of shape (n_waiting, n_features)
        Rows that wait until the block is full, NaN where missing.
    row_scores : ndarray of shape (n_waiting,)
        Their scores, from before they are learned from.
    reservoir : Reservoir
        A sample of the rows.
    moments : Moments
        Mean and variance of the columns.
    sums : RunningSums or None
        What moves the atoms; None before the first block, and for ensembles.
    recent : ndarray of shape (n_recent,)
        The last scores, each from before its row was learned from; the oldest first.
    outcasts : ndarray of shape (n_outcasts, n_features)
        The last rows that were not learned from.
    alarm : Alarm
        Evidence of change since the reference.
    reference : Reference
        The model that watches for it.
    """

    seed: int
    n_seen: int
    n_blocks: int
    rows: Array
    row_scores: Array
    reservoir: Reservoir
    moments: Moments
    sums: RunningSums | None
    recent: Array
    outcasts: Array
    alarm: Alarm
    reference: Reference
