"""Gauss-L1, compiled: which solver codes which rows of a chunk."""

from __future__ import annotations

import numpy as np

from setatoms._compile import inlined, kernel, part
from setatoms.coding.blocks import load_block
from setatoms.coding.chunks import (
    CHUNKS_PER_CALL,
    LATE,
    next_chunk,
    outputs_for,
    report_errors,
    store_members,
)
from setatoms.coding.gauss.alone import refine
from setatoms.coding.gauss.descent import descend
from setatoms.coding.gauss.rounds import solve_in_rounds
from setatoms.coding.gauss.start import choose_greedily
from setatoms.coding.gauss.state import DONE, OPEN
from setatoms.lanes import multiply_rows, subtract_rows
from setatoms.vectors import add, copy, dot, multiply, norm

# Where spread * |x| * threshold can exceed this, z loses its hold on x: such signals go alone.
_MOST_LEAN = 0.5
# By how much of ||y||^2 the ||e||^2 of the equations may differ from that of the code.
_MOST_OFF = 1e-4


@kernel
def code_chunks(X, gaussians, budget, start, space, out, chunks):
    """Code the next chunks of the rows of X (n, m), from no known codes."""
    for _ in range(CHUNKS_PER_CALL):
        first, last = next_chunk(chunks, X.shape[0])
        if first < last:
            here = outputs_for(first, last, X.shape[0], out)
            fill_gaussian(X[first:last], gaussians, budget, start, space, here, chunks.most_slow)
            report_errors(first, here, chunks)


@inlined
def fill_gaussian(X, gaussians, budget, start, space, out, most_slow):
    """Code the rows of X (n, m) into out, from known codes, which are replaced by the new ones.

    Of those that groups do not settle, some are coded, and others marked with LATE.
    """
    _correlate(X, gaussians.layout, space.rows)
    _solve_rows(gaussians, budget, start, space.greedy, space.rounds, space.rows, out)
    _leave_residuals(gaussians.layout.atoms, space.rows, out)
    n_slow = 0
    for row in range(X.shape[0]):
        left = not space.rows.settled[row] and out.n_sweeps[row] < budget.max_sweeps
        if _is_cancelled(row, space, out):
            left, space.rows.settled[row] = True, False
            out.n_sweeps[row] = min(out.n_sweeps[row], budget.max_sweeps - 1)
        n_slow += left
        if left and n_slow > most_slow:
            out.errors[row] = LATE
            continue
        if left:
            _finish(row, gaussians, budget, space, out)
        if out.members.shape[0] > 0:
            if not left:
                _fill_members(row, gaussians, out, space.members)
            store_members(space.members, out.support[row], out.members[row])
        _unscale(row, gaussians.lam, space.rows.scales[row], out)


@kernel
def _correlate(X, layout, rows):
    """Fill signals, scales and correlations."""
    size = layout.block_rows
    for start in range(0, X.shape[0], size):
        stop, end = min(start + size, X.shape[0]), start + size
        signals = rows.signals[start:end]
        load_block(X, start, stop, signals, rows.scales[start:end])
        multiply_rows(signals, layout.columns, rows.correlations[start:end])


@inlined
def _solve_rows(gaussians, budget, start, greedy, rounds, rows, out):
    """Solve all signals within reach: support, values, z, objective, sweeps."""
    n_fresh = _begin_rows(gaussians, start, rounds, rows, out)
    choose_greedily(n_fresh, rounds.queue, gaussians, budget, greedy, rows, out, rounds.counts)
    solve_in_rounds(gaussians, budget, greedy, rounds, rows, out)
    for row in range(out.errors.shape[0]):
        _pad(rounds.counts[row], out.support[row], out.values[row])
        if start.support.shape[0] > 0:
            _memorise(row, rounds.counts[row], out.support[row], rows.z[row], start)


@kernel
def _begin_rows(gaussians, start, rounds, rows, out):
    """Give every signal its old code, if there is one; one out of reach gets none and is done.

    Return how many signals are to be started afresh; they are in rounds.queue.
    """
    n_fresh = 0
    for row in range(out.errors.shape[0]):
        square = dot(rows.signals[row], rows.signals[row])
        lean = gaussians.widest * gaussians.threshold * np.sqrt(square)
        is_in_range = 1.0 / gaussians.farthest <= square <= gaussians.farthest
        k, state = 0, DONE
        if rows.scales[row] == 1.0 and lean <= _MOST_LEAN and is_in_range:
            k, state = _recall(row, start, out.support[row], rows.z[row]), OPEN
            if k == 0:
                rounds.queue[n_fresh] = row
                n_fresh += 1
        rounds.counts[row], rounds.kept[row], rounds.state[row] = k, 0, state
        rounds.failed[row], rounds.calm[row] = False, False
        rounds.squares[row] = rounds.rest[row] = out.objective[row] = square
        out.n_sweeps[row], rows.tau[row] = 0, 0.0
        rows.settled[row], rows.refined[row] = False, False
    return n_fresh


@part
def _recall(row, start, support, z):
    """Load the code to start from; return its number of atoms."""
    k = 0
    if start.support.shape[0] > 0:
        while k < start.support.shape[1] and start.support[row, k] >= 0:
            support[k], z[k] = start.support[row, k], start.z[row, k]
            k += 1
    return k


@part
def _memorise(row, k, support, z, start):
    """Save the code for the next time."""
    for q in range(start.support.shape[1]):
        start.support[row, q], start.z[row, q] = support[q], z[q] if q < k else 0.0


@part
def _pad(k, support, x):
    """Mark the places from k on as unused."""
    for q in range(k, support.shape[0]):
        support[q], x[q] = -1, 0.0


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


@part
def _is_cancelled(row, space, out):
    """Tell whether rounding has passed off as a code what is none.

    Where coefficients are far larger than the signal, they cancel: then the code is worse than no
    code, or it does not leave what its equations say.
    """
    square, error = space.rounds.squares[row], out.errors[row]
    rest = (1.0 + space.rows.tau[row]) * error
    fits = abs(rest * rest - space.rounds.rest[row]) <= _MOST_OFF * square
    return not (fits and error * error <= 1.01 * square)


@part
def _fill_members(row, gaussians, out, members):
    """Fill members (width, m) with a signal's actual atoms unit(d + v x r)."""
    for q in range(out.support.shape[1]):
        j, member = out.support[row, q], members[q]
        if j < 0:
            break
        copy(gaussians.layout.atoms[j], member)
        add(member, gaussians.spreads[j] * out.values[row, q], out.residuals[row])
        multiply(member, 1.0 / norm(member))


@inlined
def _finish(row, gaussians, budget, space, out):
    """Finish an unsettled signal by itself: by Newton's method or, where that fails, descent."""
    scale, spreads = space.rows.scales[row], space.spreads
    # y and x shrink by the scale, so atoms grow softer and the threshold lower
    for j in range(spreads.shape[0]):
        spreads[j] = min(gaussians.spreads[j] * scale * scale, 1e100)
    threshold = gaussians.threshold / scale
    space.rows.refined[row], out.n_sweeps[row], out.objective[row] = refine(
        gaussians.layout.atoms, spreads, threshold, budget.max_sweeps, budget.tol,
        gaussians.layout.halt, out.n_sweeps[row], out.support[row], out.values[row],
        space.rows.signals[row], space.members, out.residuals[row], space.refinement,
    )  # fmt: skip
    if not space.rows.refined[row]:
        out.n_sweeps[row], out.objective[row] = descend(
            gaussians.layout.atoms, spreads, threshold, budget.max_sweeps, budget.tol,
            gaussians.layout.halt, out.n_sweeps[row], out.objective[row],
            out.support[row], out.values[row], space.members, out.residuals[row], space.past,
        )  # fmt: skip
    out.errors[row] = norm(out.residuals[row])


@part
def _unscale(row, lam, scale, out):
    """Undo the scaling of a signal; give the objective its unit."""
    out.objective[row] *= lam
    if scale != 1.0:
        # far signals have an objective beyond the range of floats
        out.objective[row] = min(out.objective[row] * scale * scale, 1e308)
        out.errors[row] *= scale
        multiply(out.values[row], scale)
        multiply(out.residuals[row], scale)
