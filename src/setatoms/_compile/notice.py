"""Say why the first call takes so long."""

from __future__ import annotations

import logging

NOTICE = "compiling kernels, once, about a minute"

# A single kernel takes less than a second, and every detector has more than these.
_MANY = 10

_n_compiled = 0


def count_compiled() -> None:
    """Count a kernel that is not on disk; where they are many, log a line, once per process."""
    global _n_compiled
    _n_compiled += 1
    if _n_compiled == _MANY:
        logging.getLogger("setatoms").warning(
            "setatoms: %s (python -m setatoms.warm_up does it ahead of use)", NOTICE
        )
