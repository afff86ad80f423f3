"""Write a file whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a new file that takes the place of `path` once it is complete and on the disk.

    When the block fails or is interrupted, `path` is as before and the new file is gone. An
    existing file hands its permissions on; a symbolic link stays one.

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
        draft, stream = _open_draft(target)
        try:
            with stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            draft.replace(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)
    except OSError as error:
        raise _explained(error, target) from error


def _open_draft(target: Path) -> tuple[Path, BinaryIO]:
    """Create a file beside `target` with the permissions it has or would get."""
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; give the path of a file")
    # the name of the target is not part of it, since the two together may be too long
    draft = target.parent / f".{secrets.token_hex(8)}.part"
    stream = draft.open("xb")
    with suppress(OSError):
        draft.chmod(target.stat().st_mode & 0o777)
    return draft, stream


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
