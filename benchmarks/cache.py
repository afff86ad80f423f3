"""Arrays on disk that are made once; a file is either complete or not there."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from benchmarks.errors import BenchError
from setatoms.persistence.atomic import replacing

Arrays = dict[str, NDArray[np.generic]]


def cached(path: Path, make: Callable[[], Arrays], names: Sequence[str] | None = None) -> Arrays:
    """Return the arrays in the file `path`, after making them and writing it when there is none.

    Processes that make the same file at the same time do not disturb each other: what they make is
    the same, and the last one's file stays.

    Parameters
    ----------
    path : Path
        The file, an ``.npz`` archive.
    make : callable
        Returns what belongs into it.
    names : sequence of str, optional
        What it must hold; by default all that is there is returned.
    """
    if not path.exists():
        _write(path, make())
    # read back also what was just made, so that nobody sees arrays laid out in another way
    try:
        with np.load(path, allow_pickle=False) as data:
            return {name: data[name] for name in names or data.files}
    # what NumPy raises for files that are empty, no archive, cut short or lack an array
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise BenchError(
            f"{path} is damaged ({error}); delete it, it will be made again"
        ) from error


def file_of(path: Path, settings: object) -> Path:
    """Return the file beside `path` for figures made with such settings; others have their own."""
    return path.with_name(f"{path.name}-{crc32(repr(settings).encode()):08x}.npz")


def _write(path: Path, arrays: Arrays) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as stream:
            np.savez(stream, **arrays)  # type: ignore[arg-type]
    except OSError as error:
        raise BenchError(
            f"cannot write {path} ({error.strerror}); free some space or choose another folder"
        ) from error
