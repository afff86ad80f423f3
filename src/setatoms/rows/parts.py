"""Passes over signals that are not in memory as a whole, part by part."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setatoms.coding.gauss.problem import NO_CODES, KnownCodes
from setatoms.coding.validation import check_magnitude
from setatoms.learning.kinds import AtomKind
from setatoms.learning.passes import Memory, State, has_room_for_codes
from setatoms.learning.statistics import Statistics
from setatoms.rows.base import Array, Map


class Pass(NamedTuple):
    """What all parts need to know for a pass.

    Attributes
    ----------
    prepare : callable
        From rows to signals.
    n_rows : int
        How many rows all parts have.
    kind, atoms, radii : AtomKind and ndarrays
        The atoms to code with.
    """

    prepare: Map
    n_rows: int
    kind: AtomKind
    atoms: Array
    radii: Array


def pass_part(rows: Array, each: Pass, state: State) -> tuple[Statistics, State]:
    """Code the signals of a part and sum up what moves the atoms.

    Parameters
    ----------
    rows : ndarray of shape (n, n_features)
        The rows of the part.
    each : Pass
        What to do.
    state : State
        What the last pass left; not changed.
    """
    missing = np.isnan(rows)
    gaps = missing if missing.any() else None
    X = np.ascontiguousarray(each.prepare(rows)) if state.filled is None else state.filled.copy()
    if gaps is not None and state.filled is None:
        X = np.where(missing, 0.0, X)
    check_magnitude(X)
    memory = each.kind.remember(X, each.atoms, each.radii)
    codes = None
    if isinstance(memory, Memory):
        memory.part_rows = len(X)
        if not has_room_for_codes(each.n_rows, each.atoms):
            memory.codes = NO_CODES
        elif state.codes is not None:
            memory.codes = KnownCodes(state.codes.support.copy(), state.codes.z.copy())
        codes = memory.codes if len(memory.codes.z) else None
    statistics = each.kind.statistics(X, each.atoms, each.radii, memory, missing=gaps, n_jobs=1)
    return statistics, State(None if gaps is None else X, codes)
