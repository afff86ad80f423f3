"""How much memory a process may use, and amounts of it in words."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

# What the library and the packages it stands on take before they have seen a row: memory, and
# addresses, of which threads and allocators reserve more than they use.
LEAST_MEMORY = 400 << 20
LEAST_ADDRESSES = 900 << 20
# Assumed where the system has no way to ask, as Windows has none.
_UNKNOWN_MEMORY = 8 << 30

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_CGROUPS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def usable_memory() -> int:
    """Return how many bytes this process may use: of the machine, its container or its limits."""
    total = _physical_memory()
    for limit in _CGROUPS:
        with suppress(OSError, ValueError):
            total = min(total, int(limit.read_text(encoding="ascii")))
    return min(total, address_space() or total)


def spare_memory() -> int:
    """Return how many bytes are there for tables; the same in every run on a machine."""
    limit = address_space()
    usable = usable_memory()
    return usable if limit is None else max(0, min(usable, limit - LEAST_ADDRESSES))


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError):
        return _UNKNOWN_MEMORY


def address_space() -> int | None:
    """Return the limit on addresses, as ``ulimit -v`` sets it; None if there is none."""
    if resource is None:
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def in_bytes(amount: float) -> str:
    """Return an amount of memory in words.

    Examples
    --------
    >>> in_bytes(1536), in_bytes(8e12)
    ('1.5 KiB', '7.3 TiB')
    """
    power = 0
    while amount >= 1024 and power < len(_UNITS) - 1:
        amount /= 1024
        power += 1
    return f"{amount:.1f} {_UNITS[power]}" if amount < 10 else f"{amount:.0f} {_UNITS[power]}"
