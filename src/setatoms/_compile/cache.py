"""Keeps compiled kernels from one process to the next.

Numba's own cache fails for good on a damaged file and where nothing can be written. This one has
the methods that a dispatcher calls, and is put in the place of its own.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from pathlib import Path
from typing import Any

import llvmlite
import numba

from setatoms._compile.notice import count_compiled
from setatoms._compile.store import STORE, KernelStore

# What unpickling raises, besides its own error, when the content fits no class of this Numba.
_UNREADABLE = (
    pickle.UnpicklingError,
    AttributeError,
    EOFError,
    ImportError,
    IndexError,
    TypeError,
    ValueError,
)
# Settings of Numba, by the environment, that other code is compiled under.
_SETTINGS = ("BOUNDSCHECK", "DEBUGINFO_DEFAULT", "OPT", "ENABLE_AVX")
# What a Numba raises that has renamed what is used here; it documents none of it.
_CHANGED = (AttributeError, ImportError, TypeError)
_OTHER_NUMBA = f"Numba {numba.__version__} offers no way that is known here"


def keep_on_disk(dispatcher: Any, purpose: str, allocates: bool) -> None:
    """Let ``dispatcher`` look for compiled code on disk, and leave it there.

    ``purpose`` keeps apart what is compiled from one function with different options: "python" for
    what Python calls, "kernels" for what becomes a part of others. Code that `allocates` runs only
    once Numba has made all of itself ready, for a fifth of a second.
    """
    stamp = _stamp(dispatcher.py_func)
    if stamp is not None:
        label, ends_here = dispatcher.py_func.__name__, purpose == "python"
        dispatcher._cache = _Cache(STORE, label, f"{purpose} {stamp}", allocates, ends_here)


def _stamp(function: Any) -> str | None:
    """Return what a function is known by, None if its source may change unnoticed."""
    source = Path(function.__code__.co_filename)
    if function.__closure__ or not source.is_file():
        return None
    facts = source.stat()
    bytecode = hashlib.sha256(function.__code__.co_code).hexdigest()
    return (
        f"{function.__module__}.{function.__qualname__}:{function.__code__.co_firstlineno} "
        f"{bytecode} {facts.st_size} {facts.st_mtime_ns}"
    )


class _Cache:
    """What Numba's dispatchers ask for, over a `KernelStore`.

    Parameters
    ----------
    store : KernelStore
        Where code is kept.
    label, stamp : str
        What files begin with, and what else the function is known by.
    allocates : bool
        Whether the code makes arrays.
    ends_here : bool
        Whether it never becomes a part of other kernels.
    """

    def __init__(
        self, store: KernelStore, label: str, stamp: str, allocates: bool, ends_here: bool
    ) -> None:
        self._store = store
        self._label = label.strip("<>")
        self._stamp = stamp
        self._allocates = allocates
        self._ends_here = ends_here

    @property
    def cache_path(self) -> str | None:
        """Where files are."""
        return None if self._store.folder is None else str(self._store.folder)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the code compiled for a signature, or None."""
        try:
            if self._allocates:
                target.refresh()
            name = self._name(signature, target.codegen())
        except _CHANGED:
            self._store.give_up(_OTHER_NUMBA)
            return None
        content = self._store.load(name)
        if content is None:
            count_compiled()
            return None
        try:
            of_signature, parts = pickle.loads(content)
            return _rebuild(target, parts) if of_signature == signature else None
        except _UNREADABLE:
            self._store.remove(name)
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep the code compiled for a signature."""
        try:
            # an address in this process's memory means nothing in another's
            if compiled.library.has_dynamic_globals:
                return
            name = self._name(signature, compiled.codegen)
            content = _reduce(signature, compiled, self._ends_here)
        except _CHANGED:
            self._store.give_up(_OTHER_NUMBA)
        else:
            self._store.save(name, content)

    def enable(self) -> None:
        """Do nothing: it is always on."""

    def disable(self) -> None:
        """Do nothing: it is always on."""

    def flush(self) -> None:
        """Do nothing: files of older sources are in a folder that is removed."""

    def _name(self, signature: Any, codegen: Any) -> str:
        versions = numba.__version__, llvmlite.__version__, sys.version
        settings = [getattr(numba.config, name, None) for name in _SETTINGS]
        key = repr((self._stamp, str(signature), codegen.magic_tuple(), versions, settings))
        return f"{self._label}-{hashlib.sha256(key.encode()).hexdigest()[:24]}"


def _reduce(signature: Any, compiled: Any, ends_here: bool) -> bytes:
    from numba.core.serialize import dumps

    library, *others = compiled._reduce()
    if ends_here:
        library = _without_source(library, compiled.fndesc)
    content: bytes = dumps((signature, (library, *others)))
    return content


def _without_source(library: Any, description: Any) -> Any:
    """Leave out what other kernels would be compiled with: the intermediate code.

    It is three times as large as the machine code, and read at the first call in each process, for
    a hundredth to a twentieth of a second. What the machine code defines must still be named.
    """
    from llvmlite.binding import parse_assembly

    name, kind, data = library
    if kind != "object":
        return library
    named = description.llvm_func_name, description.llvm_cpython_wrapper_name
    stubs = "\n".join(f'define void @"{each}"() {{ ret void }}' for each in named)
    return name, kind, (data[0], parse_assembly(stubs).as_bitcode())


def _rebuild(target: Any, parts: tuple[Any, ...]) -> Any:
    from numba.core.compiler import CompileResult

    return CompileResult._rebuild(target, *parts)
