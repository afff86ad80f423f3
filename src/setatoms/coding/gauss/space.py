"""The work space of Gauss-L1, one for each thread."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms.coding.blocks import Sizes
from setatoms.coding.gauss.alone import Refinement, allocate_refinement
from setatoms.coding.gauss.descent import Past, allocate_past
from setatoms.coding.gauss.start import Greedy, allocate_greedy
from setatoms.coding.gauss.state import Rounds, allocate_rounds
from setatoms.lanes import aligned_zeros


class SignalRows(NamedTuple):
    """What the steps of coding hand on for each of n signals; the first three in whole blocks."""

    signals: NDArray[np.float64]  # (n, n_features): extreme ones scaled
    scales: NDArray[np.float64]  # (n,)
    correlations: NDArray[Any]  # (n, n_padded)
    z: NDArray[np.float64]  # (n, width)
    tau: NDArray[np.float64]  # (n,)
    settled: NDArray[np.bool_]  # (n,): in groups
    refined: NDArray[np.bool_]  # (n,): alone, by Newton's method


class Space(NamedTuple):
    """Work space of one thread."""

    rows: SignalRows
    greedy: Greedy
    rounds: Rounds
    members: NDArray[np.float64]  # (width, n_features): actual atoms of the signal at hand
    spreads: NDArray[np.float64]  # (n_padded,): how far its atoms may lean
    past: Past
    refinement: Refinement


def allocate_space(n: int, sizes: Sizes, width: int) -> Space:
    """Return work space for up to n signals, each with at most `width` atoms."""
    n_features, n_padded, dtype = sizes.n_features, sizes.n_padded, sizes.dtype
    n_whole = -(-n // sizes.block_rows) * sizes.block_rows
    rows = SignalRows(
        np.empty((n_whole, n_features)),
        np.empty(n_whole),
        aligned_zeros((n_whole, n_padded), dtype),
        np.empty((n, width)),
        np.empty(n),
        np.empty(n, np.bool_),
        np.empty(n, np.bool_),
    )
    return Space(
        rows=rows,
        greedy=allocate_greedy(n_padded, width, dtype),
        rounds=allocate_rounds(n, n_padded, width, dtype),
        members=np.empty((width, n_features)),
        spreads=np.empty(n_padded),
        past=allocate_past(width, n_features),
        refinement=allocate_refinement(width, n_features, sizes.n_atoms),
    )
