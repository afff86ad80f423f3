"""Where answers go: checked against one another and against the inputs before work starts."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from setatoms.files import FileError
from setatoms.persistence.atomic import replacing

STANDARD = "-"

Named = str | Path | None


@contextmanager
def opened(out: str) -> Iterator[IO[bytes]]:
    """Open an output: standard output for ``-``, otherwise a file that is written whole."""
    if out == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with replacing(out) as stream:
            yield stream


def check_outputs(inputs: Sequence[Named], outputs: Sequence[Named]) -> None:
    """Raise if an output cannot be written, is one of the inputs, or is given twice.

    Files are compared by device and inode, so that neither links nor detours such as ``sub/..``
    hide that two of them are the same.
    """
    read = {_identity(path, sys.stdin): path for path in inputs if path is not None}
    written: dict[Hashable, Named] = {}
    for out in outputs:
        if out is None:
            continue
        _check_place(out)
        same = _identity(out, sys.stdout)
        if same is None:
            continue
        if same in read:
            raise FileError(
                f"{_in_words(out, 'output')} is the same file as {_in_words(read[same], 'input')}, "
                "which would be lost; write to another file"
            )
        if same in written:
            raise FileError(
                f"{_in_words(written[same], 'output')} and {_in_words(out, 'output')} are the same "
                "file, so one of them would be lost; give each its own"
            )
        written[same] = out


def _check_place(out: str | Path) -> None:
    """Raise unless `out` is something to write to, or something that can be made."""
    if str(out) == STANDARD:
        return
    path = Path(os.path.realpath(out))
    if path.is_dir():
        raise FileError(f"cannot write {out}: it is a folder; give the path of a file")
    if not path.parent.is_dir():
        raise FileError(f"cannot write {out}: the folder {path.parent} is not there; make it first")
    # a file is replaced, which takes a folder that can be written to; others are written to
    place = path if path.exists() and not path.is_file() else path.parent
    if not os.access(place, os.W_OK):
        raise FileError(f"cannot write {out}: {place} does not let you write to it; choose another")


def _identity(path: str | Path, standard: IO[str] | None) -> Hashable:
    """Return what two names of one file have in common; None for what can be shared.

    A file that does not exist yet is known by its folder and its name.
    """
    try:
        if str(path) == STANDARD:
            facts = os.fstat(standard.fileno()) if standard is not None else None
        else:
            facts = Path(path).stat()
    except (OSError, ValueError):  # nothing there, or a stream without a file
        facts = None
    if facts is None:
        return None if str(path) == STANDARD else _future_identity(Path(os.path.realpath(path)))
    if stat.S_ISCHR(facts.st_mode) or (str(path) == STANDARD and not stat.S_ISREG(facts.st_mode)):
        return None  # a terminal or /dev/null holds nothing that could be lost
    return facts.st_dev, facts.st_ino


def _future_identity(path: Path) -> Hashable:
    try:
        folder = path.parent.stat()
    except OSError:
        return str(path)
    return folder.st_dev, folder.st_ino, path.name


def _in_words(path: Named, role: str) -> str:
    return f"standard {role}" if str(path) == STANDARD else str(path)
