"""What every test may use: the data beside the repository, and hypothesis without deadlines."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase
from numpy.typing import NDArray

Dataset = tuple[NDArray[np.float64], NDArray[np.int64]]

# The first call of a kernel compiles it, which no per-example deadline survives. The same examples
# each time: a change is judged by what it changed. SETATOMS_EXPLORE=1 tries new ones, prints
# what fails and keeps it for the next run.
_KEPT = Path(os.environ.get("SETATOMS_EXAMPLES", Path.home() / ".cache" / "setatoms" / "examples"))
settings.register_profile("repeat", deadline=None, derandomize=True)
settings.register_profile(
    "explore", deadline=None, print_blob=True, database=DirectoryBasedExampleDatabase(_KEPT)
)
settings.load_profile("explore" if os.environ.get("SETATOMS_EXPLORE") == "1" else "repeat")

# in the background they are ignored, here and in every command that is to be ended by them
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the root of the repository."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared(root: Path) -> Path:
    """Return the folder with reference outputs and ADBench tables; skip where there is none."""
    folder = Path(os.environ.get("SETATOMS_SHARED", root.parent / "shared"))
    if folder.is_dir():
        return folder
    reason = f"no shared data at {folder}; point SETATOMS_SHARED at the folder that holds adbench/"
    if os.environ.get("SETATOMS_CI") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def results(root: Path) -> Path:
    """Return the folder of committed stores; skip where there is none."""
    folder = root / "results"
    if folder.is_dir():
        return folder
    reason = f"there is no {folder}: the source archive leaves stores out"
    if os.environ.get("SETATOMS_CI") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def load_adbench(shared: Path) -> Callable[[str], Dataset]:
    """Return a function from a dataset's name (``"45_wine"`` or ``"wine"``) to ``(X, y)``."""

    def load(name: str) -> Dataset:
        folder = shared / "adbench"
        files = [*folder.glob(f"{name}.npz"), *folder.glob(f"*_{name}.npz")]
        if len(files) != 1:
            raise ValueError(f"{name!r} names {len(files)} files of {folder}, expected one")
        with np.load(files[0], allow_pickle=False) as data:
            return data["X"].astype(np.float64), data["y"].astype(np.int64)

    return load
