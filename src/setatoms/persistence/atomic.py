"""The one way in which the library writes a file: whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from setatoms.persistence.drafts import lock, new_draft_path, remove_abandoned

_USUAL_MODE = 0o666
_PRIVATE_MODE = 0o600
# Each system has some of these; O_BINARY keeps Windows from changing the ends of lines.
_DEVICE_FLAGS = getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
_DRAFT_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
# Windows does not move a file that is open, and has no owners, groups and modes to hand on.
_IS_POSIX = hasattr(os, "fchown")


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a new file that takes the place of `path` once it is complete and on the disk.

    When the block fails or is interrupted, `path` is as before and the new file is gone. An
    existing file hands its permissions on; a symbolic link stays one. A device or a pipe is
    written to and stays what it is. Drafts that killed processes left in the folder are removed.

    Parameters
    ----------
    path : path-like
        Where the file is to be, in a folder that exists.

    Yields
    ------
    stream : binary file
        To write to.
    """
    target = Path(os.path.realpath(path))
    try:
        with _written(target) if _is_special(target) else _drafted(target) as stream:
            yield stream
    except OSError as error:
        raise _explained(error, target) from error


def _is_special(target: Path) -> bool:
    """Tell whether something is there that must not be replaced: no file, and no folder."""
    try:
        mode = target.stat().st_mode
    except OSError:
        return False
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{target} is a folder; give the path of a file")
    return not stat.S_ISREG(mode)


@contextmanager
def _written(target: Path) -> Iterator[BinaryIO]:
    # not created: should it be gone by now, a file in its place would surprise
    descriptor = os.open(target, os.O_WRONLY | _DEVICE_FLAGS)
    with os.fdopen(descriptor, "wb") as stream:
        yield stream


@contextmanager
def _drafted(target: Path) -> Iterator[BinaryIO]:
    remove_abandoned(target.parent)
    draft, stream = _open_draft(target)
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            if _IS_POSIX:
                # before the lock on the draft goes with the stream
                draft.replace(target)
        if not _IS_POSIX:
            draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _open_draft(target: Path) -> tuple[Path, BinaryIO]:
    """Create a file beside `target` that nobody can open who could not open `target`."""
    before = target.stat() if target.exists() else None
    while True:
        draft = new_draft_path(target.parent)
        mode = _USUAL_MODE if before is None else _PRIVATE_MODE
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _DRAFT_FLAGS, mode)
        if lock(descriptor):
            break
        os.close(descriptor)  # removed by another process between the two steps: once more
    try:
        if before is not None and _IS_POSIX:
            _hand_on(before, descriptor)
        return draft, os.fdopen(descriptor, "wb")
    except BaseException:
        draft.unlink(missing_ok=True)
        os.close(descriptor)
        raise


def _hand_on(before: os.stat_result, descriptor: int) -> None:
    """Give a draft the owner, the group and the permissions of the file that it replaces."""
    mode = stat.S_IMODE(before.st_mode) & 0o777
    with suppress(OSError):
        os.fchown(descriptor, before.st_uid, before.st_gid)
    if os.fstat(descriptor).st_gid != before.st_gid:
        # another group gets no more than everybody
        mode = mode & ~0o070 | (mode & 0o007) << 3
    with suppress(OSError):
        os.fchmod(descriptor, mode)


def _sync_folder(folder: Path) -> None:
    """Make the new name durable too, where folders can be synchronised."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _explained(error: OSError, target: Path) -> OSError:
    """Return an error of the same class and number that says what helps."""
    if error.errno is None:
        return error
    if not target.parent.is_dir():
        remedy = f"the folder {target.parent} does not exist, make it first"
    elif isinstance(error, PermissionError):
        remedy = f"the folder {target.parent} does not let you write to it, choose another"
    else:
        remedy = "free some space or choose another folder; what was there before is as it was"
    reason = error.strerror or "it failed"
    return OSError(error.errno, f"cannot write the file: {reason}; {remedy}", str(target))
