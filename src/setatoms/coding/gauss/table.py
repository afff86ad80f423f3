"""What is known of the atoms in use while a signal is coded: a table, one column a *place*.

A place holds one atom. An atom that comes in takes the next place; where one leaves, the last one
moves in, so that the places in use are always the first k.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import kernel
from setatoms.coding.gauss.quantities import FIRST, LIFT, NEAR, SIGN, SPREAD, WEAKEN, Z
from setatoms.lanes import LANES, padded

Floats = NDArray[np.float64]

# Further rows of the table, beside those of `setatoms.coding.gauss.quantities`.
OWED = 7  # change of z that u does not know yet, negated
_N_KNOWN = 8
_N_ROWS = 11


class Work(NamedTuple):
    """Work space of the solver.

    The table has whole vectors of places; those from k on are *clear*: what they hold changes no
    sum, so that loops may run over whole vectors.
    """

    width: int  # most atoms in use
    u: Floats  # (n_padded,)
    z_all: Floats  # (n_padded,)
    resting: Floats  # (n_padded,): 1 if an atom may come in, 0 if it is in use, 0.5 if it must wait
    active: NDArray[np.int64]  # (n_places,): the atoms in use
    table: Floats  # (n_rows, n_places)
    inverse: Floats  # (n_places, n_places)
    places: NDArray[np.int64]  # 0, 1, 2, ...
    kept: Floats  # (2, n_places): z and 1/alpha of the last good code
    kept_active: NDArray[np.int64]  # (n_places,): its atoms


def allocate_work(n_padded: int, width: int) -> Work:
    """Return work space for signals that use at most ``width`` atoms."""
    n_places = padded(width + 1)
    u, z_all, resting = np.zeros((3, n_padded))
    return Work(
        width=width,
        u=u,
        z_all=z_all,
        resting=resting,
        active=np.zeros(n_places, np.int64),
        table=np.zeros((_N_ROWS, n_places)),
        inverse=np.zeros((n_places, n_places)),
        places=np.arange(n_places),
        kept=np.zeros((2, n_places)),
        kept_active=np.zeros(n_places, np.int64),
    )


@kernel
def enter(q, j, z, start, u, spreads, active, table):
    """Put atom j with coefficient z in place q."""
    active[q] = j
    table[Z, q] = z
    table[LIFT, q] = 1.0
    table[NEAR, q] = u[j]
    table[FIRST, q] = start[j]
    table[SPREAD, q] = spreads[j]
    table[SIGN, q] = 1.0 if z > 0.0 else -1.0
    table[WEAKEN, q] = 0.0
    table[OWED, q] = 0.0


@kernel
def leave(q, k, active, table):
    """Fill place q with what stands in place k - 1, which is cleared; return k - 1."""
    move_place(k - 1, q, active, table)
    clear(k - 1, table)
    return k - 1


@kernel
def move_place(source, target, active, table):
    """Copy place source to place target."""
    active[target] = active[source]
    for known in range(_N_KNOWN):
        table[known, target] = table[known, source]


@kernel
def clear(q, table):
    """Let place q hold nothing that counts."""
    for known in range(_N_KNOWN):
        table[known, q] = 0.0
    table[LIFT, q] = 1.0
    table[SPREAD, q] = 1.0


@kernel
def clear_from(k, table):
    """Clear the places from k on."""
    for q in range(k, table.shape[1]):
        clear(q, table)


@kernel
def look_up(k, u, active, table):
    """Renew u of the atoms in use."""
    for q in range(k):
        table[NEAR, q] = u[active[q]]


@kernel
def whole_vectors(k):
    """Return k rounded up to whole vectors."""
    return (k + LANES - 1) // LANES * LANES


@kernel
def keep(k, active, table, kept, kept_active):
    """Remember the present code as the last good one."""
    for q in range(k):
        kept_active[q] = active[q]
        kept[0, q] = table[Z, q]
        kept[1, q] = table[LIFT, q]
