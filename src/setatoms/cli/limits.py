"""Limits on memory: met with economy where possible, otherwise told before work starts."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress

from setatoms.memory import LEAST_ADDRESSES, LEAST_MEMORY, address_space, in_bytes, usable_memory

# With fewer addresses, what threads and allocators reserve would soon use them up.
_PLENTY = 16 << 30
_M_ARENA_MAX = -8
_FEW_ARENAS = 2
# Read when the packages are loaded. The library makes no use of BLAS.
_ECONOMY = {"OPENBLAS_NUM_THREADS": "1"}


def prepare_memory() -> None:
    """Raise if memory does not suffice to begin with; reserve little where addresses are few."""
    addresses, usable = address_space(), usable_memory()
    if addresses is not None and addresses < LEAST_ADDRESSES:
        raise ValueError(
            f"not enough memory: needs about {in_bytes(LEAST_ADDRESSES)} of addresses, and this "
            f"process may have {in_bytes(addresses)} (ulimit -v); raise the limit"
        )
    if usable < LEAST_MEMORY:
        raise ValueError(
            f"not enough memory: needs about {in_bytes(LEAST_MEMORY)}, and this process may use "
            f"{in_bytes(usable)}; give it more"
        )
    if addresses is not None and addresses < _PLENTY:
        for name, value in _ECONOMY.items():
            os.environ.setdefault(name, value)
        with suppress(OSError, AttributeError):  # another C library than GNU's
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _FEW_ARENAS)
