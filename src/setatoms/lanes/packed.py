"""Where entries of a triangle stand of which only the lower half is kept, row after row."""

from __future__ import annotations

from setatoms._compile import kernel


@kernel
def entry(q, p):
    """Return where row q and column p <= q of a matrix stand."""
    return q * (q + 1) // 2 + p
