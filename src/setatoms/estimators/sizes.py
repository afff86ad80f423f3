"""Checks that need the shape of the table: how many atoms, how many non-zeros, which start."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from setatoms.estimators.warn import warn_caller
from setatoms.learning.radii import count_atoms
from setatoms.memory import in_bytes, usable_memory

ROWS_PER_ATOM = 10
# Of tables with more features, dictionaries have atoms by their rows, not by their features:
# the time to learn grows with the third power of the features otherwise.
_WIDE = 200


def count_checked_atoms(n_atoms: float, n_samples: int, n_features: int) -> int:
    """Count the atoms for a table of this shape; warn when they are too few or too many."""
    count = count_atoms(n_atoms, n_features)
    if isinstance(n_atoms, float):
        count = limit_wide(count, n_samples, n_features)
    check_memory(n_atoms, count, n_features)
    # of wide tables atoms are few by default
    if count < n_features <= _WIDE and not isinstance(n_atoms, float):
        warn_caller(
            f"n_atoms={n_atoms} is below the number of features, {n_features}, so the atoms do "
            f"not span them; a float counts per feature: n_atoms={float(n_atoms)} gives "
            f"{count_atoms(float(n_atoms), n_features)} atoms"
        )
    if n_samples < ROWS_PER_ATOM * count:
        warn_caller(
            f"{n_samples} rows for {count} atoms are fewer than {ROWS_PER_ATOM} rows per atom, so "
            "atoms may fit single rows; lower n_atoms or give more rows"
        )
    return count


def limit_wide(count: int, n_samples: int, n_features: int) -> int:
    """Return fewer atoms than `count` for a wide table, where learning would hardly end; warn."""
    if n_features <= _WIDE:
        return count
    most = max(n_samples // ROWS_PER_ATOM, min(_WIDE, n_samples // 2), 2)
    if count > most:
        advised = max(n_samples // ROWS_PER_ATOM, 1)
        warn_caller(
            f"X has {n_features} features, so a dictionary gets at most {most} atoms for its "
            f"{n_samples} rows instead of {count}; a whole number as n_atoms sets another limit, "
            f"{advised} or less for {ROWS_PER_ATOM} rows per atom"
        )
    return min(count, most)


def check_memory(n_atoms: float, count: int, n_features: int) -> None:
    """Raise if a dictionary of this size cannot be held in memory."""
    needed = 8 * count * (count + 3 * n_features)
    if needed > (usable := usable_memory()):
        raise ValueError(
            f"n_atoms={n_atoms} makes {count} atoms, which need about {in_bytes(needed)} for the "
            f"products of all pairs, and this process may use {in_bytes(usable)}; lower n_atoms"
        )


def check_n_nonzero(n_nonzero: int, n_atoms: float, n_features: int) -> int:
    """Return `n_nonzero` if there are that many atoms."""
    count = count_atoms(n_atoms, n_features)
    if n_nonzero > count:
        raise ValueError(
            f"n_nonzero={n_nonzero} exceeds the number of atoms, {count}; "
            "lower n_nonzero or raise n_atoms"
        )
    return int(n_nonzero)


def cap_n_nonzero(n_nonzero: int, n_features: int) -> int:
    """Return at most ``n_features - 1``, for detectors, with a warning when that is less.

    With as many non-zeros as features every row is represented exactly, and scores would be
    rounding noise.
    """
    most = n_features - 1
    if n_nonzero > most:
        warn_caller(
            f"n_nonzero={n_nonzero} would represent every row of {n_features} features exactly; "
            f"the detector uses {most}"
        )
    return min(n_nonzero, most)


def check_start(
    init: Any, names: tuple[str, ...], n_atoms: int, n_features: int
) -> str | NDArray[np.float64]:
    """Return `init` if it is one of `names`, otherwise as unit atoms (n_atoms, n_features)."""
    if isinstance(init, str):
        if init not in names:
            listed = " or ".join(map(repr, names))
            raise ValueError(f"init={init!r} must be {listed}, or an array of atoms")
        return init
    atoms = _as_floats(init)
    if atoms.shape != (n_atoms, n_features):
        raise ValueError(
            f"init has shape {atoms.shape}, but atoms have shape {(n_atoms, n_features)}; "
            "give one atom per row, as many as n_atoms (an int counts them)"
        )
    norms = np.linalg.norm(atoms, axis=1, keepdims=True)
    if not (np.isfinite(norms).all() and (norms > 0).all()):
        raise ValueError(
            "init has rows that are zero or not finite, which point nowhere; replace them"
        )
    return np.asarray(atoms / norms)


def _as_floats(init: Any) -> NDArray[np.float64]:
    try:
        return np.array(init, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"init={init!r} is neither a name nor an array of numbers") from error
