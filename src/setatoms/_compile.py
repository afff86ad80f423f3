"""How every kernel is compiled, decided once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile ``function`` to machine code that is cached on disk and runs without the GIL."""
    return numba.njit(cache=True, nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]


def sum_kernel(function: F) -> F:
    """Compile like `kernel`, but let sums be reordered and products fused, so they vectorise.

    Safe where the terms are finite and the order of summation carries no meaning; the order is
    chosen at compile time, so results stay the same from call to call. NaN and infinity keep
    their meaning.
    """
    return numba.njit(  # type: ignore[no-any-return]
        cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"}
    )(function)
