"""How runners that share a folder know which of them are alive."""

from __future__ import annotations

import fcntl
import os
import secrets
from pathlib import Path
from typing import Self

from setatoms.persistence.drafts import lock

_PREFIX = ".runner-"


class Presence:
    """A lock on a file of one's own, which the system opens when the process ends, however.

    Files of runners that were killed are removed.

    Parameters
    ----------
    folder : Path
        The folder that runners share.

    Attributes
    ----------
    runner : str
        The name of this runner.
    """

    def __init__(self, folder: Path) -> None:
        for path in folder.glob(f"{_PREFIX}*"):
            is_alive(folder, path.name.removeprefix(_PREFIX))
        while True:
            self.runner = secrets.token_hex(8)
            self._path = _lock_path(folder, self.runner)
            self._file = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o644)
            if lock(self._file):
                break
            os.close(self._file)  # taken for a dead runner's before the lock: once more

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._path.unlink(missing_ok=True)
        os.close(self._file)


def is_alive(folder: Path, runner: str) -> bool:
    """Return whether a runner still holds its lock; remove what a dead one left."""
    path = _lock_path(folder, runner)
    try:
        file = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        path.unlink(missing_ok=True)
        return False
    finally:
        os.close(file)


def _lock_path(folder: Path, runner: str) -> Path:
    return folder / f"{_PREFIX}{runner}"
