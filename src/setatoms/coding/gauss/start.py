"""Where the active set of Gauss-L1 starts: from a greedy lasso, or from an earlier code."""

from __future__ import annotations

from setatoms._compile import kernel
from setatoms.coding.gauss.inverse import add_multiple
from setatoms.coding.gauss.table import clear_from, enter
from setatoms.lanes import Lanes, Vector, lane_kernel

# The greedy start stops when no coefficient would move by more than this share of the threshold:
# the active set is then nearly right, and Newton steps are cheaper than more greedy ones.
_GREEDY_SHARE = 0.25


@kernel
def choose_greedily(start, layout, threshold, work):
    """Choose the first atoms by greedy coordinate descent on the lasso; return how many.

    They are in work.active, their z in work.z_all, and u knows of them.
    """
    n, mask = start.shape[0], layout.index_mask
    u, z = work.u, work.z_all
    j = _begin(n, start, u, z, work.resting, threshold, mask)
    k = 0
    for _ in range(8 * work.width):
        change = u[j] - min(max(u[j] + z[j], -threshold), threshold)
        if abs(change) < _GREEDY_SHARE * threshold:
            break
        if work.resting[j] == 1.0:
            if k == work.width:
                break
            work.resting[j] = 0.0
            work.active[k] = j
            k += 1
        z[j] += change
        j = _change(n, u, layout.gram[j], z, change, threshold, mask)
    used = 0
    for q in range(k):
        j = work.active[q]
        work.active[used] = j
        if z[j] == 0.0:
            work.resting[j] = 1.0
        else:
            used += 1
    return used


@kernel
def start_greedily(start, layout, spreads, threshold, work):
    """Start from a greedy choice; return its number of atoms."""
    k = choose_greedily(start, layout, threshold, work)
    for q in range(k):
        j = work.active[q]
        enter(q, j, work.z_all[j], start, work.u, spreads, work.active, work.table)
    clear_from(k, work.table)
    return k


def _excess(u: Vector, wish: Vector, threshold: Vector) -> Vector:
    """Return how much the lasso would change a coefficient."""
    return u - wish.at_most(threshold).at_least(-threshold)


def _begin_body(
    start: Vector, _u: Vector, _z: Vector, _resting: Vector, threshold: Vector
) -> Lanes:
    zero, one = start.constant(0.0), start.constant(1.0)
    return [start, zero, one], [_excess(start, start, threshold)]


def _change_body(u: Vector, row: Vector, z: Vector, change: Vector, threshold: Vector) -> Lanes:
    u = u - change * row
    return [u], [_excess(u, u + z, threshold)]


# start -> u, z, resting; the atom to change most
_begin = lane_kernel(4, 1, _begin_body, writes=(1, 2, 3), reduces=("argmax",))
# u -= change * row; the next atom to change
_change = lane_kernel(3, 2, _change_body, writes=(0,), reduces=("argmax",))


@kernel
def start_warm(n_kept, start, gram, spreads, work):
    """Start from the code that was kept; return its number of atoms."""
    n = start.shape[0]
    _begin(n, start, work.u, work.z_all, work.resting, 0.0, 0)
    for q in range(n_kept):
        j = work.kept_active[q]
        work.resting[j] = 0.0
        add_multiple(n, work.u, gram[j], -work.kept[0, q])
    for q in range(n_kept):
        j, z = work.kept_active[q], work.kept[0, q]
        enter(q, j, z, start, work.u, spreads, work.active, work.table)
    clear_from(n_kept, work.table)
    return n_kept
