"""Counters that threads share inside compiled code, so that each takes the next chunk."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numpy.typing import NDArray

from setatoms._compile import JIT_DISABLED

_COUNTER = types.Array(types.int64, 1, "C")
_lock = threading.Lock()


def _fetch_add(_typing: Any, counter: types.Type) -> tuple[Any, Any]:
    if counter != _COUNTER:
        raise TypingError(f"the numbers are counted in an int64 array, not in {counter}")

    def generate(context: Any, builder: ir.IRBuilder, _signature: Any, values: Any) -> ir.Value:
        array = context.make_array(_COUNTER)(context, builder, values[0])
        return builder.atomic_rmw("add", array.data, ir.Constant(ir.IntType(64), 1), "seq_cst")

    return types.int64(_COUNTER), generate


def _fetch_add_locked(counter: NDArray[np.int64]) -> int:
    """Do the same in plain Python."""
    if counter.dtype != np.int64:
        raise TypeError(f"the numbers are counted in an int64 array, not in {counter.dtype}")
    with _lock:
        number = int(counter[0])
        counter[0] += 1
    return number


# fetch_add(counter) returns counter[0] and adds one to it, whatever other threads do meanwhile
fetch_add: Any = _fetch_add_locked if JIT_DISABLED else intrinsic(_fetch_add)
