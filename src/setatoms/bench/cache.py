"""Arrays on disk that are made once; a file is either complete or not there."""

from __future__ import annotations

import os
import secrets
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from setatoms.bench.errors import BenchError

Arrays = dict[str, NDArray[np.generic]]


def cached(path: Path, make: Callable[[], Arrays]) -> Arrays:
    """Return the arrays in the file `path`, after making them and writing it when there is none.

    Processes that make the same file at the same time do not disturb each other: what they make is
    the same, and the last one's file stays.
    """
    if not path.exists():
        _write(path, make())
    # read back also what was just made, so that nobody sees arrays laid out in another way
    try:
        with np.load(path, allow_pickle=False) as data:
            return {name: data[name] for name in data.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise BenchError(
            f"{path} is damaged ({error}); delete it, it will be made again"
        ) from error


def _write(path: Path, arrays: Arrays) -> None:
    """Write a file under another name and move it when it is safe on the disk."""
    part = path.with_name(f".part-{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("xb") as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise BenchError(
            f"cannot write {path} ({error.strerror}); free some space or choose another folder"
        ) from error
