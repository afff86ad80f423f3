"""Warn at the line that called the library, wherever inside it the reason was found."""

from __future__ import annotations

import sys
import warnings

_PACKAGE = __name__.partition(".")[0]


def warn_caller(message: str) -> None:
    """Issue a UserWarning that points outside this package."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
        level += 1
    warnings.warn(message, UserWarning, stacklevel=level + 1)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == _PACKAGE
