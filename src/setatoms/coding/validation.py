"""Checks at the door of coders and learners; kernels trust what passes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from setatoms._compile import kernel
from setatoms.lanes import lane_kernel
from setatoms.masked import gaps_as_nan

Floats = NDArray[Any]

# Sums over all rows and features of fourth powers of values up to this are finite.
LARGEST = 1e60


def check_signals_and_atoms(X: ArrayLike, atoms: ArrayLike) -> tuple[Floats, Floats]:
    """Return both as C-contiguous arrays of one float type; float32 only if both are."""
    rows, units = _check_floats(X, "X"), _check_floats(atoms, "atoms")
    if rows.shape[1] != units.shape[1]:
        raise ValueError(
            f"X has {rows.shape[1]} features and atoms has {units.shape[1]}; "
            "both hold one vector per row, of the same length"
        )
    dtype = np.result_type(rows, units)
    return rows.astype(dtype, copy=False), _check_unit_norm(units).astype(dtype, copy=False)


def check_radii(radii: ArrayLike, n_atoms: int, *, low: float, high: float) -> NDArray[np.float64]:
    """Return radii as float64 of shape (n_atoms,), each in ``[low, high)``."""
    given = np.atleast_1d(np.asarray(radii))
    # what is usually given needs no more; `check_array` takes as long as coding a hundred signals
    if (
        given.dtype == np.float64
        and given.shape == (n_atoms,)
        and low <= given.min()
        and given.max() < high
    ):
        return given
    checked: NDArray[np.float64] = check_array(
        given, dtype=np.float64, ensure_2d=False, allow_nd=True, input_name="radii"
    )
    if checked.shape != (n_atoms,):
        raise ValueError(
            f"radii has shape {checked.shape} for {n_atoms} atoms; give one radius an atom"
        )
    outside = (checked < low) | (checked >= high)
    if outside.any():
        first = int(np.argmax(outside))
        raise ValueError(f"radii[{first}]={checked[first]:g} is outside [{low:g}, {high:g})")
    return checked


def check_n_nonzero(n_nonzero: int, n_atoms: int) -> int:
    """Return ``n_nonzero`` if a signal can use that many of ``n_atoms`` atoms."""
    count = check_count("n_nonzero", n_nonzero)
    if count > n_atoms:
        raise ValueError(
            f"n_nonzero={count} exceeds the number of atoms, {n_atoms}; "
            "lower n_nonzero or use more atoms"
        )
    return count


def check_count(name: str, value: int, *, least: int = 1) -> int:
    """Return ``value`` if it is a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name}={value!r} must be a whole number")
    if value < least:
        raise ValueError(f"{name}={value} must be at least {least}")
    return int(value)


def check_positive(name: str, value: float) -> float:
    """Return ``value`` if it is a finite number above zero."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise TypeError(f"{name}={value!r} must be a number")
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{name}={value} must be finite and above zero")
    return float(value)


def check_magnitude(X: Floats) -> None:
    """Refuse signals from which atoms cannot be learned: that takes fourth powers of values."""
    largest = max(float(X.max()), -float(X.min()))
    if largest > LARGEST:
        raise ValueError(
            f"X has values up to {largest:.3g}, whose powers overflow; rescale X so that none is "
            f"beyond {LARGEST:g}"
        )


def _check_floats(values: ArrayLike, name: str) -> Floats:
    """Return a finite C-contiguous matrix, of float32 if it was that."""
    # what coders are mostly given needs no copy, and then `check_array` takes as long as a coder
    if (
        type(values) is np.ndarray
        and values.dtype in (np.float64, np.float32)
        and values.ndim == 2
        and values.size
        and values.flags.c_contiguous
        and _is_finite(values)
    ):
        return values
    checked: Floats = check_array(
        gaps_as_nan(values), dtype=[np.float64, np.float32], order="C", input_name=name
    )
    return checked


def _is_finite(values: Floats) -> bool:
    """Tell whether the sum of all numbers is finite, which is no proof of the opposite."""
    if values.dtype == np.float64:
        numbers = values.reshape(-1).view()
        numbers.flags.writeable = False  # kernels are compiled for one type of array
        return math.isfinite(_add_up(numbers))
    with np.errstate(all="ignore"):
        return bool(np.isfinite(values.sum()))


@kernel
def _add_up(numbers):
    """Return the sum of numbers (n,), in four sums side by side: as fast as memory is."""
    quarter = numbers.shape[0] // 4
    first, second, third, fourth = _sum_of_four(
        quarter, numbers[:quarter], numbers[quarter : 2 * quarter],
        numbers[2 * quarter : 3 * quarter], numbers[3 * quarter : 4 * quarter],
    )  # fmt: skip
    total = first + second + third + fourth
    for i in range(4 * quarter, numbers.shape[0]):
        total += numbers[i]
    return total


_sum_of_four = lane_kernel(
    4, 0, lambda *numbers: ([], list(numbers)), reduces=("sum",) * 4, any_length=True
)


def _check_unit_norm(atoms: Floats) -> Floats:
    norms = np.linalg.norm(atoms, axis=1)
    # float32 atoms are unit to about 1e-7 times the number of features.
    worst = int(np.argmax(np.abs(norms - 1)))
    if abs(norms[worst] - 1) > 1e-5:
        raise ValueError(
            f"atoms[{worst}] has norm {norms[worst]:.6g}, but atoms are unit vectors; "
            "divide each row by its norm"
        )
    return atoms
