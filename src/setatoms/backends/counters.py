"""Counters that threads share inside compiled code: to take the next chunk, to wait for others."""

from __future__ import annotations

import platform
import threading
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numpy.typing import NDArray

from setatoms._compile import JIT_DISABLED, kernel

Counter = NDArray[np.int64]

_COUNTER = types.Array(types.int64, 1, "C")
_INT = ir.IntType(64)
# The instruction by which a core that waits leaves its shared parts to the other thread on it.
_REST = {
    "x86_64": ("llvm.x86.sse2.pause", []),
    "AMD64": ("llvm.x86.sse2.pause", []),
    "aarch64": ("llvm.aarch64.hint", [ir.Constant(ir.IntType(32), 1)]),
    "arm64": ("llvm.aarch64.hint", [ir.Constant(ir.IntType(32), 1)]),
}
_lock = threading.Lock()
_declare: Any = cgutils.get_or_insert_function


def _fetch_add(_typing: Any, counter: types.Type) -> tuple[Any, Any]:
    if counter != _COUNTER:
        raise TypingError(f"the numbers are counted in an int64 array, not in {counter}")

    def generate(context: Any, builder: ir.IRBuilder, _signature: Any, values: Any) -> ir.Value:
        array = context.make_array(_COUNTER)(context, builder, values[0])
        return builder.atomic_rmw("add", array.data, ir.Constant(_INT, 1), "seq_cst")

    return types.int64(_COUNTER), generate


def _look_at(_typing: Any, counter: types.Type) -> tuple[Any, Any]:
    def generate(context: Any, builder: ir.IRBuilder, _signature: Any, values: Any) -> ir.Value:
        array = context.make_array(_COUNTER)(context, builder, values[0])
        return builder.load_atomic(array.data, "acquire", 8, typ=_INT)

    return types.int64(counter), generate


def _rest(_typing: Any) -> tuple[Any, Any]:
    def generate(context: Any, builder: ir.IRBuilder, _signature: Any, _values: Any) -> ir.Value:
        name, arguments = _REST.get(platform.machine(), ("", []))
        if name:
            kind = ir.FunctionType(ir.VoidType(), [argument.type for argument in arguments])
            builder.call(_declare(builder.module, kind, name), arguments)
        return context.get_dummy_value()

    return types.void(), generate


def _fetch_add_locked(counter: Counter) -> int:
    """Do the same in plain Python."""
    if counter.dtype != np.int64:
        raise TypeError(f"the numbers are counted in an int64 array, not in {counter.dtype}")
    with _lock:
        number = int(counter[0])
        counter[0] += 1
    return number


# fetch_add(counter) returns counter[0] and adds one to it, whatever other threads do meanwhile
fetch_add: Any = _fetch_add_locked if JIT_DISABLED else intrinsic(_fetch_add)
_load: Any = (lambda counter: counter[0]) if JIT_DISABLED else intrinsic(_look_at)
_pause: Any = (lambda: None) if JIT_DISABLED else intrinsic(_rest)


@kernel
def wait_briefly(counter: Counter, least: int, n_looks: int, n_more: int) -> None:
    """Wait until the counter (1,) has reached `least`, for `n_looks` looks at most.

    If it has, wait for ``n_more`` pauses more.
    """
    for _ in range(n_looks):
        if _load(counter) >= least:
            for _ in range(n_more):
                _pause()
            return
        _pause()
