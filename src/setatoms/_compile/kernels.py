"""Functions that are compiled at their first use.

Kernels neither make nor return arrays, so they need no reference counts, whose atomic updates cost
more than the arithmetic on short vectors. Work space comes from the caller. No kernel is compiled
with fast-math: see `setatoms.lanes` for why, and for how sums are vectorised all the same.

A kernel that only other kernels call needs nothing that Python could call. What converts arguments
and results is a quarter of the time that compiling takes, so it is compiled for a kernel that
Python does call, and for no other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar

import numba
from numba import types
from numba.extending import models, register_model, typeof_impl

from setatoms._compile.cache import keep_on_disk
from setatoms._compile.options import known_options

F = TypeVar("F", bound=Callable[..., object])

# typed as anything: its attributes come from the environment
_config: Any = numba.config

# as NUMBA_DISABLE_JIT=1 asks for: kernels are ordinary functions, to be debugged
JIT_DISABLED = bool(_config.DISABLE_JIT)

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


class Kernel:
    """A function compiled for the types of arguments it is called with, by Python or by kernels.

    Parameters
    ----------
    function : callable
        What to compile.
    **options
        Of the compiler.
    """

    def __init__(self, function: Callable[..., object], **options: Any) -> None:
        update_wrapper(self, function)
        self.py_func = function
        options = _OPTIONS | options | known_options(no_cfunc_wrapper=True)
        self._for_python = numba.njit(**options)(function)
        options |= known_options(no_cpython_wrapper=True)
        self.for_kernels = numba.njit(**options)(function)
        allocates = options.get("_nrt", True)
        keep_on_disk(self._for_python, "python", allocates)
        keep_on_disk(self.for_kernels, "kernels", allocates)

    def __call__(self, *arguments: Any) -> Any:
        return self._for_python(*arguments)

    def __repr__(self) -> str:
        return f"<kernel {self.py_func.__module__}.{self.py_func.__qualname__}>"


class _KernelType(types.Dispatcher):
    """The type of a kernel where kernels call it."""

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Compile for a number as for any other: Numba would compile f(0) apart from f(n)."""
        return super().get_call_type(context, tuple(types.unliteral(kind) for kind in args), kws)


register_model(_KernelType)(models.OpaqueModel)


@typeof_impl.register(Kernel)
def _type_of_kernel(kernel: Kernel, _context: object) -> types.Type:
    return _KernelType(kernel.for_kernels)


def kernel(function: F) -> F:
    """Compile ``function`` to machine code that is kept on disk and runs without the GIL."""
    return _compile(function, **known_options(_nrt=False))


def allocating_kernel(function: F) -> F:
    """Compile like `kernel`, but with reference counts, to make arrays or pass them on."""
    # spelled out, or it would be as for the kernel that calls
    return _compile(function, **known_options(_nrt=True))


def part(function: F) -> F:
    """Compile like `kernel`, as a part of the machine code of each kernel that calls it.

    Where records of many arrays are handed on, a call takes longer than most of what is called.
    """
    return _compile(function, **known_options(_nrt=False, forceinline=True))


def inlined(function: F) -> F:
    """Compile ``function`` as a part of each kernel that calls it, and never by itself.

    A kernel is compiled with all that it calls, and again as a part of its own callers. Where many
    others hang on a function that one or two call, this saves that round.
    """
    return numba.njit(inline="always")(function)  # type: ignore[return-value]


def _compile(function: F, **options: Any) -> F:
    if JIT_DISABLED:
        return function
    return Kernel(function, **options)  # type: ignore[return-value]
