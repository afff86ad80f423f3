"""Which atom at rest would gain most by itself."""

from __future__ import annotations

import numpy as np

from setatoms._compile import kernel
from setatoms.coding.gauss.descent import square_distance
from setatoms.vectors import copy, inner_product


@kernel
def best_at_rest(k, atoms, spreads, threshold, least_gain, support, residual, reach, looked_at):
    """Return the atom at rest that promises most, with which coefficient, and what it promises.

    The atom is -1 if none exceeds its bound by enough. Atoms that did not by far at the last look
    cannot have come near since: a correlation changes by no more than what is left does. So reach
    (n_atoms,) and looked_at (n_features,) are kept for the next look, and changed in place.
    """
    n_features, best, joining, most = residual.shape[0], -1, 0.0, 0.0
    square = inner_product(n_features, residual, residual)
    bound = threshold + np.sqrt(0.1 * least_gain)
    # far more than rounding
    change = 1e-9 * bound + np.sqrt(square_distance(n_features, residual, looked_at))
    copy(residual, looked_at)
    for j in range(atoms.shape[0]):
        reach[j] += change
        if reach[j] <= bound:
            continue
        product = inner_product(n_features, atoms[j], residual)
        reach[j] = abs(product)
        if abs(product) <= bound:
            continue
        x, gain = _pair(abs(product), square, spreads[j], threshold)
        if gain > most:
            used = False
            for q in range(k):
                used = used or support[q] == j
            if not used:
                best, most, joining = j, gain, x if product > 0.0 else -x
    return best, joining, most


@kernel
def _pair(product, square, spread, threshold):
    """Return about the best coefficient of an atom by itself, and what it gains.

    The atom leans as far as the coefficient before asks for, which begins with that of a rigid one.
    """
    x, gain = product - threshold, 0.0
    for _ in range(2):
        pull = spread * x
        length = np.sqrt(1.0 + pull * (2.0 * product + pull * square))
        x = (product + pull * square) / length - threshold
        # 1 - cos of the lean
        away = 1.0 - (1.0 + pull * product) / length
        gain = x * x - 2.0 * away / spread
    return x, gain
