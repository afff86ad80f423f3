"""How every kernel is compiled, decided once.

Kernels neither make nor return arrays, so they need no reference counts, whose atomic updates cost
more than the arithmetic on short vectors. Work space comes from the caller. No kernel is compiled
with fast-math: see `setatoms.lanes` for why, and for how sums are vectorised all the same.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

# typed as anything: its attributes come from the environment
_config: Any = numba.config

F = TypeVar("F", bound=Callable[..., object])

# Where kernels are defined.
_KERNEL_SOURCES = (
    "_compile.py",
    "backends/turns.py",
    "lanes.py",
    "vectors.py",
    "geometry.py",
    "coding/*.py",
    "learning/*.py",
    "views/elementwise.py",
    "views/neighbours.py",
)

_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}


def kernel(function: F) -> F:
    """Compile ``function`` to machine code that is cached on disk and runs without the GIL."""
    return _compile(function, _nrt=False)


def allocating_kernel(function: F) -> F:
    """Compile like `kernel`, but with reference counts, to make arrays or pass them on."""
    return _compile(function, _nrt=True)


def _compile(function: F, **options: Any) -> F:
    before = _config.CACHE_DIR
    _config.CACHE_DIR = _CACHE
    try:
        compiled: F = numba.njit(**_OPTIONS, **options)(function)
    finally:
        _config.CACHE_DIR = before
    return compiled


def _cache_folder() -> str:
    """Return where compiled kernels are kept: a folder of its own for every state of the sources.

    Numba compares a kernel with its own file alone, not with the kernels it calls, and fails on
    what an older version has left.
    """
    package = Path(__file__).parent
    state = hashlib.sha256()
    for source in sorted(path for pattern in _KERNEL_SOURCES for path in package.glob(pattern)):
        facts = source.stat()
        state.update(f"{source.relative_to(package)} {facts.st_size} {facts.st_mtime_ns}".encode())
    folder = _cache_home(package) / f"kernels-{state.hexdigest()[:16]}"
    for outdated in folder.parent.glob("kernels-*"):
        if outdated != folder:
            shutil.rmtree(outdated, ignore_errors=True)
    return str(folder)


def _cache_home(package: Path) -> Path:
    """Return a folder that outlives the process, can be written to, and is this installation's."""
    if not _config.CACHE_DIR and os.access(package, os.W_OK):
        return package / "__pycache__"
    user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    # what another installation keeps there is not outdated
    installation = hashlib.sha256(str(package).encode()).hexdigest()[:8]
    return Path(_config.CACHE_DIR or user) / "setatoms" / installation


_CACHE = _cache_folder()
