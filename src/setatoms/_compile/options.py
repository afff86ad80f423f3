"""Options of Numba's compiler that it does not document; each saves time and nothing else.

=====================  ===========================================================================
``_nrt=False``         no reference counts
``no_cfunc_wrapper``   no function that C could call
``no_cpython_wrapper`` no function that Python could call
=====================  ===========================================================================

A Numba that no longer knows one of them does without: kernels are slower, or take longer to
compile, and their results are the same.
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
