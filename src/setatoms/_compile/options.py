"""Options of Numba's compiler that it does not document; each saves time and nothing else.

What each saves was measured on 2000 signals with 40 atoms, and on all kernels:

- ``_nrt=False``, no reference counts: coders take 1.1 (OMP) to 2.5 times (Cone-OMP) as long with.
- ``no_cfunc_wrapper`` and ``no_cpython_wrapper``, no function that C could call, and none that
  Python could call where only kernels do: together a quarter less time to compile.

A Numba that no longer knows one of them does without, and results are the same.
"""

from __future__ import annotations

from typing import Any

import numba


def known_options(**options: Any) -> dict[str, Any]:
    """Return those of the options that the installed Numba knows."""
    target = getattr(numba.njit(_nothing), "targetdescr", None)
    known = getattr(target, "options", None)
    return {name: value for name, value in options.items() if hasattr(known, name)}


def _nothing() -> None:
    """Stand in for a function to compile."""
