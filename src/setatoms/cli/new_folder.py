"""A folder of files that appears when all of them are complete."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from setatoms.files import FileError
from setatoms.persistence.drafts import new_draft_path

_TRIES, _PAUSE = 20, 0.1


def check_new(folder: str) -> None:
    """Raise if something is there already."""
    if Path(folder).exists():
        raise FileError(f"{folder} is there already; name a folder that is not")


@contextmanager
def new_folder(target: Path, pattern: str, n_files: int) -> Iterator[Path]:
    """Make a folder beside `target` that takes this name once it holds all files.

    Parameters
    ----------
    target : Path
        The name to be.
    pattern : str
        What names of files are like; others are removed.
    n_files : int
        How many there have to be.
    """
    draft = new_draft_path(target.absolute().parent)
    try:
        draft.mkdir()
    except OSError as error:
        raise FileError(f"cannot write {target}: {error.strerror}; choose another place") from error
    try:
        yield draft
        _check_complete(draft, target, pattern, n_files)
        check_new(str(target))
        draft.rename(target)
    except BaseException:
        _remove(draft)
        raise


def _check_complete(draft: Path, target: Path, pattern: str, n_files: int) -> None:
    wanted = set(draft.glob(pattern))
    if len(wanted) != n_files:
        raise FileError(
            f"{len(wanted)} of {n_files} files have arrived in {target}; workers must see this "
            "folder under the same path, or name a file, which this machine writes"
        )
    for other in set(draft.iterdir()) - wanted:  # what a worker left that was killed
        other.unlink()


def _remove(folder: Path) -> None:
    """Remove a folder to which a worker may still be writing."""
    for _ in range(_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(_PAUSE)
