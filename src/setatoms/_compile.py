"""How every kernel is compiled, decided once.

Kernels neither make nor return arrays, so they need no reference counts, whose atomic updates cost
more than the arithmetic on short vectors. Work space comes from the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., object])

_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}


def kernel(function: F) -> F:
    """Compile ``function`` to machine code that is cached on disk and runs without the GIL."""
    return _compile(function, _nrt=False)


def sum_kernel(function: F) -> F:
    """Compile like `kernel`, but let sums be reordered and products fused, so they vectorise.

    Safe where the order of summation carries no meaning; the order is chosen at compile time, so
    results stay the same from call to call. NaN and infinity keep their meaning.
    """
    return _compile(function, _nrt=False, fastmath={"reassoc", "contract", "nsz"})


def allocating_kernel(function: F) -> F:
    """Compile like `kernel`, but with reference counts, to make arrays or pass them on."""
    return _compile(function, _nrt=True)


def _compile(function: F, **options: Any) -> F:
    compiled: F = numba.njit(**_OPTIONS, **options)(function)
    return compiled
