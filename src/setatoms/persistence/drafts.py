"""Drafts of files: how they are named, and which of them nobody writes to any more.

A process holds a lock on its draft while it writes. The system releases the lock when the process
ends, however it ends, so a draft without a lock is a leftover.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: leftovers stay there
    fcntl = None  # type: ignore[assignment]

_NAME = re.compile(r"\.setatoms-[0-9a-f]{16}\.part")


def new_draft_path(folder: Path) -> Path:
    """Return the path of a draft that does not exist yet."""
    # the name of the target is not part of it, since the two together may be too long
    return folder / f".setatoms-{secrets.token_hex(8)}.part"


def lock(descriptor: int) -> bool:
    """Mark an open draft as being written to; return False if it has been removed meanwhile."""
    if fcntl is None:
        return True
    with suppress(OSError):  # a file system without locks: leftovers stay there
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    return os.fstat(descriptor).st_nlink > 0


def remove_abandoned(folder: Path) -> None:
    """Remove the drafts in a folder that this user's ended processes have left."""
    if fcntl is None:
        return
    with suppress(OSError):
        for path in folder.iterdir():
            if _NAME.fullmatch(path.name):
                _remove_if_abandoned(path)


def _remove_if_abandoned(draft: Path) -> None:
    with suppress(OSError):
        # whatever lies there under this name, opening it must neither wait nor follow a link
        descriptor = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            facts = os.fstat(descriptor)
            if stat.S_ISREG(facts.st_mode) and os.geteuid() in (0, facts.st_uid):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                draft.unlink()
        finally:
            os.close(descriptor)
