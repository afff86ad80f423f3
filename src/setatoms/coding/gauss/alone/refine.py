"""Newton's method for a single signal of Gauss-L1, with all derivatives and damping.

The steps that groups take (`setatoms.coding.gauss.newton`) are cheap and lead astray where atoms
are nearly parallel or may lean far. For the few signals where they do, steps follow from the exact
`equations`. The multiple of the identity in them shrinks where steps lower the objective and grows
where they do not. Where the matrix is not positive definite, its pivots are raised, as those of
groups are.

Atoms come in one by one. Each is the one that would gain most by itself, leaning as it likes: of a
signal that is far out, a single atom may turn all the way and explain everything.
"""

from __future__ import annotations

import numpy as np

from setatoms._compile import inlined
from setatoms.coding.gauss.alone.at_rest import best_at_rest
from setatoms.coding.gauss.alone.equations import find_step, linearise
from setatoms.coding.gauss.alone.space import TRIAL_X, X, clear_space, copy_whole, enter, leave
from setatoms.coding.gauss.alone.trial import accept, fill_trial, try_pair, try_step
from setatoms.vectors import copy, fill, inner_product

# The multiple of the identity: where it starts, by how much it changes, and where it is too much.
_FIRST_DAMPING, _DAMPING_FACTOR, _MOST_DAMPING = 1e-8, 4.0, 1e8
_LEAST_DAMPING, _DAMPING_IF_FAILED = 1e-12, 1e-4
# A step that promises less than this share of the objective leaves room for another atom.
_SMALL = 1e-2
# How many times as far as a step asks for, after one that gained so many times what it promised.
_MOST_SHARE, _MUCH_MORE = 64.0, 2.0
# Steps after which a signal is left to descent.
_MOST_STEPS = 500


@inlined
def refine(
    atoms, spreads, threshold, max_sweeps, tol, halt, sweeps, support, x, signal, members, residual,
    work,
):  # fmt: skip
    """Finish a code of signal (m,) in place; see `setatoms.coding.gauss.descent.descend`.

    Of the code to begin with, x and residual say what its actual atoms are. Return whether it is
    finished, sweeps (a step is one), and the objective in units of lam.
    """
    n_features, numbers, k = signal.shape[0], work.numbers, 0
    clear_space(work)
    fill(work.trial_fit, 0.0)
    copy(signal, work.signal[:n_features])
    copy(residual, work.trial_fit[:n_features])
    while k < support.shape[0] and support[k] >= 0:
        enter(k, support[k], 1.0 if x[k] > 0.0 else -1.0, atoms, spreads, work)
        numbers[TRIAL_X, k] = x[k]
        k += 1
    value = fill_trial(k, threshold, work)
    nothing = inner_product(n_features, signal, signal)
    if not value <= nothing:
        # worse than no code at all
        while k > 0:
            k = leave(k - 1, k, support, work)
        value = nothing
        copy_whole(work.signal, work.trial_fit)
        copy_whole(work.signal, work.trial_residual)
    accept(k, work)
    k, is_done, sweeps, value = _take_steps(
        k, value, atoms, spreads, threshold, max_sweeps, tol, halt, sweeps, support, work
    )
    for q in range(k):
        x[q] = numbers[X, q]
        copy(work.members[q, :n_features], members[q])
    for q in range(k, support.shape[0]):
        x[q] = 0.0
    copy(work.residual[:n_features], residual)
    return is_done, sweeps, value


@inlined
def _take_steps(k, value, atoms, spreads, threshold, max_sweeps, tol, halt, sweeps, support, work):
    """Improve the code of k atoms until nothing can be gained.

    Return its atoms, whether it is finished, sweeps, and the objective.
    """
    n_features, residual = atoms.shape[1], work.residual
    damping, share, failed, grown, n_steps = _FIRST_DAMPING, 1.0, False, 0.0, 0
    # what an atom at rest promised at the last look
    seen = np.inf
    fill(work.reach, np.inf)
    copy_whole(residual, work.looked_at)
    while sweeps < max_sweeps and halt[0] == 0 and n_steps < _MOST_STEPS:
        sweeps, n_steps = sweeps + 1, n_steps + 1
        if grown == 0.0:
            grown = linearise(k, threshold, work)
        gain = find_step(k, damping, work)
        is_done = gain <= 0.1 * tol * value
        if gain <= min(_SMALL * value, seen) or is_done:
            j, joining, seen = best_at_rest(
                k, atoms, spreads, threshold, tol * value, support, residual[:n_features],
                work.reach, work.looked_at[:n_features],
            )  # fmt: skip
            if j >= 0 and seen > gain:
                if k == support.shape[0]:
                    break
                support[k] = j
                enter(k, j, np.sign(joining), atoms, spreads, work)
                k, grown, seen = k + 1, 0.0, np.inf
                better = try_pair(k, joining, threshold, work)
                if better < value:
                    value = better
                    accept(k, work)
                continue
            if is_done:
                return k, True, sweeps, value
        better, leaves = try_step(k, share, grown, value, threshold, work)
        if better < value:
            # much more than the model says, where the objective is no bowl: go further
            most = _MOST_SHARE if value - better > _MUCH_MORE * gain else 1.0
            value, grown = better, 0.0
            accept(k, work)
            if leaves >= 0:
                k = leave(leaves, k, support, work)
            if not failed:
                damping = max(damping / _DAMPING_FACTOR, _LEAST_DAMPING)
                share = min(4.0 * share, most)
        elif share > 1.0:
            share = 1.0
        else:
            damping, share = max(damping * _DAMPING_FACTOR, _DAMPING_IF_FAILED), 0.5 * share
            if damping > _MOST_DAMPING:
                break
        failed = grown > 0.0
    return k, False, sweeps, value
