"""Gauss-L1, compiled: which solver codes which rows of a chunk."""

from __future__ import annotations

import numpy as np

from setatoms._compile import inlined, kernel
from setatoms.coding.batch import (
    CHUNKS_PER_CALL,
    next_chunk,
    outputs_for,
    report_errors,
    store_members,
)
from setatoms.coding.blocks import correlate_block
from setatoms.coding.gauss.active_set import solve
from setatoms.coding.gauss.descent import descend
from setatoms.coding.gauss.group import MOST_PLACES
from setatoms.coding.gauss.rounds import DECLINED, DONE, OPEN, solve_in_rounds
from setatoms.coding.gauss.start import choose_greedily
from setatoms.lanes import subtract_rows
from setatoms.vectors import add, copy, dot, multiply, norm

# Where spread * |x| * threshold can exceed this, z loses its hold on x: such signals go to descent.
_MOST_LEAN = 0.5
# A fresh code of more atoms has rounds to go, and the other solver need not start each one anew.
_MOST_FRESH = 10


@kernel
def code_chunks(X, gaussians, budget, start, space, out, chunks):
    """Code the next chunks of the rows of X (n, m), from no known codes."""
    for _ in range(CHUNKS_PER_CALL):
        first, last = next_chunk(chunks, X.shape[0])
        if first < last:
            here = outputs_for(first, last, X.shape[0], out)
            fill_gaussian(X[first:last], gaussians, budget, start, space, here)
            report_errors(first, here, chunks)


@inlined
def fill_gaussian(X, gaussians, budget, start, space, out):
    """Code the rows of X (n, m) into out, from known codes, which are replaced by the new ones."""
    _correlate(X, gaussians.layout, space.block, space.rows)
    _solve_rows(gaussians, budget, start, space.work, space.rounds, space.rows, out)
    _leave_residuals(gaussians.layout.atoms, space.rows, out)
    for row in range(X.shape[0]):
        left = not space.rows.settled[row] and out.n_sweeps[row] < budget.max_sweeps
        if left or out.members.shape[0] > 0:
            _fill_members(row, gaussians, out, space.members)
            if left:
                _descend(row, gaussians, budget, space, out)
            if out.members.shape[0] > 0:
                store_members(space.members, out.support[row], out.members[row])
        _unscale(row, gaussians.lam, space.rows.scales[row], out)


@kernel
def _correlate(X, layout, block, rows):
    """Fill signals, scales and correlations."""
    size = layout.block_rows
    for start in range(0, X.shape[0], size):
        stop = min(start + size, X.shape[0])
        correlate_block(X, start, stop, layout, block)
        for row in range(start, stop):
            rows.scales[row] = block.scales[row - start]
            copy(block.rows[row - start], rows.signals[row])
            copy(block.correlations[row - start], rows.correlations[row])


@inlined
def _solve_rows(gaussians, budget, start, work, rounds, rows, out):
    """Solve all signals within reach: support, values, z, objective, sweeps."""
    _begin_rows(gaussians, start, work, rounds, rows, out)
    solve_in_rounds(gaussians, budget, rounds, rows, out)
    for row in range(out.errors.shape[0]):
        if rounds.state[row] == DECLINED:
            if start.support.shape[0] > 0 and start.support[row, 0] >= 0:
                # an old code that does not work out leads astray: better a fresh start
                rounds.counts[row] = 0
            _solve_alone(row, gaussians, budget, work, rounds, rows, out)
        _pad(rounds.counts[row], out.support[row], rows.z[row], out.values[row])
        if start.support.shape[0] > 0:
            _memorise(row, out.support[row], rows.z[row], start)


@kernel
def _begin_rows(gaussians, start, work, rounds, rows, out):
    """Give every signal its first atoms; one out of reach gets none and is done."""
    for row in range(out.errors.shape[0]):
        square = dot(rows.signals[row], rows.signals[row])
        lean = gaussians.widest * gaussians.threshold * np.sqrt(square)
        k, most, state = 0, MOST_PLACES, DONE
        if rows.scales[row] == 1.0 and lean <= _MOST_LEAN:
            k = _recall(row, start, out.support[row], rows.z[row])
            if k == 0:
                k, most = _choose(row, gaussians, work, rows, out), _MOST_FRESH
            state = OPEN if k <= most else DECLINED
        rounds.counts[row], rounds.state[row], rounds.squares[row] = k, state, square
        out.objective[row], out.n_sweeps[row] = square, 0
        rows.tau[row], rows.settled[row] = 0.0, False


@kernel
def _choose(row, gaussians, work, rows, out):
    """Choose the first atoms of a signal; return how many."""
    layout, threshold = gaussians.layout, gaussians.threshold
    k = choose_greedily(rows.correlations[row], layout, threshold, work)
    for q in range(k):
        out.support[row, q], rows.z[row, q] = work.active[q], work.z_all[work.active[q]]
    return k


@kernel
def _recall(row, start, support, z):
    """Load the code to start from; return its number of atoms."""
    k = 0
    if start.support.shape[0] > 0:
        while k < start.support.shape[1] and start.support[row, k] >= 0:
            support[k], z[k] = start.support[row, k], start.z[row, k]
            k += 1
    return k


@kernel
def _memorise(row, support, z, start):
    """Save the code for the next time."""
    for q in range(start.support.shape[1]):
        start.support[row, q], start.z[row, q] = support[q], z[q]


@inlined
def _solve_alone(row, gaussians, budget, work, rounds, rows, out):
    """Solve a signal from the code it has so far, or greedily from none."""
    n_kept = min(rounds.counts[row], work.width)
    for q in range(n_kept):
        work.kept_active[q], work.kept[0, q] = out.support[row, q], rows.z[row, q]
    k, sweeps, value, tau, settled = solve(
        rows.correlations[row], rounds.squares[row], gaussians.layout, gaussians.spreads,
        gaussians.threshold, budget.max_sweeps, budget.tol, n_kept, work,
    )  # fmt: skip
    for q in range(k):
        out.support[row, q] = work.kept_active[q]
        rows.z[row, q] = work.kept[0, q]
        out.values[row, q] = work.kept[0, q] * work.kept[1, q]
    rounds.counts[row], out.objective[row], out.n_sweeps[row] = k, value, sweeps
    rows.tau[row], rows.settled[row] = tau, settled


@kernel
def _pad(k, support, z, x):
    """Mark the places from k on as unused."""
    for q in range(k, support.shape[0]):
        support[q], z[q], x[q] = -1, 0.0, 0.0


@kernel
def _leave_residuals(atoms, rows, out):
    """Fill residuals with (y - sum z d)/(1 + tau), and errors."""
    for row in range(out.errors.shape[0]):
        support, share = out.support[row], 1.0 / (1.0 + rows.tau[row])
        k = 0
        while k < support.shape[0] and support[k] >= 0:
            k += 1
        left = subtract_rows(
            atoms.shape[1], out.residuals[row], rows.signals[row],
            atoms, support, rows.z[row], k, share,
        )  # fmt: skip
        out.errors[row] = share * np.sqrt(left)


@kernel
def _fill_members(row, gaussians, out, members):
    """Fill members (width, m) with a signal's actual atoms unit(d + v x r)."""
    for q in range(out.support.shape[1]):
        j, member = out.support[row, q], members[q]
        if j < 0:
            break
        copy(gaussians.layout.atoms[j], member)
        add(member, gaussians.spreads[j] * out.values[row, q], out.residuals[row])
        multiply(member, 1.0 / norm(member))


@kernel
def _descend(row, gaussians, budget, space, out):
    """Finish an unsettled signal by coordinate descent."""
    scale, spreads = space.rows.scales[row], space.spreads
    # y and x shrink by the scale, so atoms grow softer and the threshold lower
    for j in range(spreads.shape[0]):
        spreads[j] = min(gaussians.spreads[j] * scale * scale, 1e100)
    out.n_sweeps[row], out.objective[row] = descend(
        gaussians.layout.atoms, spreads, gaussians.threshold / scale,
        budget.max_sweeps, budget.tol, gaussians.layout.halt,
        out.n_sweeps[row], out.objective[row],
        out.support[row], out.values[row], space.members, out.residuals[row],
    )  # fmt: skip
    out.errors[row] = norm(out.residuals[row])


@kernel
def _unscale(row, lam, scale, out):
    """Undo the scaling of a signal; give the objective its unit."""
    out.objective[row] *= lam
    if scale != 1.0:
        # far signals have an objective beyond the range of floats
        out.objective[row] = min(out.objective[row] * scale * scale, 1e308)
        out.errors[row] *= scale
        multiply(out.values[row], scale)
        multiply(out.residuals[row], scale)
