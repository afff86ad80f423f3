"""The folder of compiled kernels.

Every file begins with a checksum, so that one that was cut short or overwritten is noticed; it is
removed and its kernel compiled anew. Files appear whole or not at all, whoever else writes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numba
from llvmlite.binding import get_host_cpu_name

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# typed as anything: its attributes come from the environment
_config: Any = numba.config

_PACKAGE = Path(__file__).parents[1]

# Where kernels are defined.
_KERNEL_SOURCES = (
    "_compile/*.py",
    "backends/counters.py",
    "lanes/*.py",
    "vectors.py",
    "geometry.py",
    "coding/**/*.py",
    "learning/**/*.py",
    "views/*.py",
)

_SUFFIX = ".kernel"
_MARK = ".complete"


class KernelStore:
    """Files in a folder; where they cannot be written, a warning, once, and none.

    Parameters
    ----------
    folder : Path or None
        Made when the first file is written. None if there is no place for one.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._writes = True
        self._complete: set[str] = set()
        self._lock = threading.Lock()

    def count(self) -> int:
        """Return how many kernels there are."""
        if self.folder is None:
            return 0
        return sum(1 for _ in self.folder.glob(f"*{_SUFFIX}"))

    def load(self, name: str) -> bytes | None:
        """Return what was saved under this name, None if nothing was or it is damaged."""
        if self.folder is None:
            return None
        try:
            checked = self._path(name).read_bytes()
        except OSError:
            return None
        digest, content = checked[:32], checked[32:]
        if hashlib.sha256(content).digest() != digest:
            self.remove(name)
            return None
        return content

    def save(self, name: str, content: bytes) -> None:
        """Write a file, whole or not at all; where that fails, warn and write no more."""
        if not self._writes:
            return
        try:
            self._write(name, hashlib.sha256(content).digest() + content)
        except OSError as error:
            self.give_up(error.strerror or str(error))

    def remove(self, name: str) -> None:
        """Remove a file, if it is there and may be removed, and with it the word that all are."""
        self._complete.clear()
        try:
            self._path(name).unlink(missing_ok=True)
            for mark in self._path(name).parent.glob(f"*{_MARK}"):
                mark.unlink(missing_ok=True)
        except OSError as error:
            self.give_up(error.strerror or str(error))

    def is_complete(self, part: str) -> bool:
        """Tell whether the kernels of a part of the library were all compiled, on this machine."""
        if part not in self._complete and self.folder is not None and self._mark(part).exists():
            self._complete.add(part)
        return part in self._complete

    def mark_complete(self, part: str) -> None:
        """Note that the kernels of a part are all there."""
        if self.can_keep():
            self._mark(part).touch()

    def can_keep(self) -> bool:
        """Tell whether there is a folder that can be written to."""
        if self._writes:
            try:
                self._write("probe", b"")
                self._path("probe").unlink(missing_ok=True)
            except OSError as error:
                self.give_up(error.strerror or str(error))
        return self._writes

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes out, where the system knows locks; one that ends lets go of it."""
        if fcntl is None or self.folder is None:
            yield
            return
        with (self.folder / "lock").open("w") as file:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _mark(self, part: str) -> Path:
        facts = f"{part} {sys.version} {numba.__version__} {get_host_cpu_name()}"
        name = f"{part}-{hashlib.sha256(facts.encode()).hexdigest()[:24]}{_MARK}"
        return self._path(part).with_name(name)

    def give_up(self, reason: str) -> None:
        """Write no more, and say so once."""
        with self._lock:
            if not self._writes:
                return
            self._writes = False
        warnings.warn(
            f"compiled kernels cannot be kept in {self.folder or 'a cache folder'} ({reason}), so "
            "every process compiles its own; set NUMBA_CACHE_DIR to a folder that can be written",
            UserWarning,
            stacklevel=2,
        )

    def _path(self, name: str) -> Path:
        if self.folder is None:
            raise OSError("neither HOME nor XDG_CACHE_HOME is set")
        return self.folder / f"{name}{_SUFFIX}"

    def _write(self, name: str, content: bytes) -> None:
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        try:
            draft.write_bytes(content)
            draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


def _find_folder() -> Path | None:
    """Return where compiled kernels are kept: a folder of its own for every state of the sources.

    A kernel contains those it calls, so all of them are compared and not its own source alone.
    """
    home = _find_home()
    if home is None:
        return None
    state = hashlib.sha256()
    for source in sorted(path for pattern in _KERNEL_SOURCES for path in _PACKAGE.glob(pattern)):
        facts = source.stat()
        state.update(f"{source.relative_to(_PACKAGE)} {facts.st_size} {facts.st_mtime_ns}".encode())
    folder = home / f"kernels-{state.hexdigest()[:16]}"
    for outdated in home.glob("kernels-*"):
        if outdated != folder:
            shutil.rmtree(outdated, ignore_errors=True)
    return folder


def _find_home() -> Path | None:
    """Return a folder that outlives the process, is this installation's and may be written to."""
    if not _config.CACHE_DIR and os.access(_PACKAGE, os.W_OK):
        return _PACKAGE / "__pycache__"
    folder = _config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME")
    if not folder:
        try:
            folder = Path.home() / ".cache"
        except RuntimeError:  # no HOME, and no entry for this user
            return None
    # what another installation keeps there is not outdated
    installation = hashlib.sha256(str(_PACKAGE).encode()).hexdigest()[:8]
    return Path(folder) / "setatoms" / installation


STORE = KernelStore(_find_folder())
