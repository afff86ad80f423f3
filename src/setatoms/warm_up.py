"""Compile the kernels ahead of their first use: ``python -m setatoms.warm_up``.

They are compiled once per machine and kept on disk, so this is worth a line in the recipe of an
image or in a set-up script. Otherwise the first `fit` does it. Kernels for different kinds of atoms
are compiled side by side, in processes, as the compiler uses one core.
"""

from __future__ import annotations

import io
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from setatoms._compile import JIT_DISABLED, NOTICE, STORE
from setatoms.backends import wait_briefly
from setatoms.coding import cone_omp, gauss_l1
from setatoms.geometry import pull_back
from setatoms.learning.aksvd import aksvd
from setatoms.learning.kinds import ConeAtoms, GaussianAtoms
from setatoms.learning.loop import learn
from setatoms.learning.radii import FixedRadii
from setatoms.learning.start import spread_atoms
from setatoms.progress import Progress, shows_progress
from setatoms.views import Calibration, Neighbours, Screen
from setatoms.views.elementwise import log_at_least, rise

Array = NDArray[np.float64]

_POLL_SECONDS = 0.2
_ROWS = np.random.default_rng(0).normal(size=(12, 3))
_ATOMS = np.eye(3)
_RADII = np.full(3, 0.1)


def _learn_vectors() -> None:
    _wait_for_threads()
    spread_atoms(_ROWS, 3, np.random.default_rng(0))
    # more atoms than rows: some are not used, and replaced
    aksvd(_ROWS.copy(), 20, n_iter=1, random_state=0, missing=_ROWS > 1.0)
    # threads share the rows of an atom that has many
    aksvd(np.ones((5000, 2)), 1, n_nonzero=1, n_iter=1, random_state=0)


def _learn_cones() -> None:
    rng = np.random.default_rng(0)
    # two atoms that coincide have to be parted, and moved ones to be held back
    learn(_ROWS.copy(), _ATOMS[[0, 0, 1]], ConeAtoms(), FixedRadii(_RADII), n_iter=1, rng=rng)
    pull_back(_ATOMS[[0, 0, 1]], _ATOMS, _RADII)


def _score_cones() -> None:
    _wait_for_threads()
    cone_omp(_ROWS, _ATOMS, _RADII)


def _learn_gaussians() -> None:
    rng = np.random.default_rng(0)
    learn(_ROWS.copy(), _ATOMS, GaussianAtoms(), FixedRadii(_RADII), n_iter=1, rng=rng)


def _score_gaussians() -> None:
    _wait_for_threads()
    # in double and in single precision
    gauss_l1(_ROWS, _ATOMS, _RADII, tol=1e-7)
    gauss_l1(_ROWS, _ATOMS, _RADII, tol=1e-2)


def _look_around() -> None:
    neighbours = Neighbours.learn(_ROWS, np.random.default_rng(0), n_jobs=1)
    Calibration.learn(neighbours.measure(_ROWS, n_jobs=1)).apply(np.zeros((2, 1)))
    neighbours.imply(_ROWS, n_jobs=1)
    neighbours.distances(_ROWS, 2)
    Screen.learn(_ROWS)
    rise(log_at_least(_ROWS, 1.0), 1.0)


def _wait_for_threads() -> None:
    wait_briefly(np.zeros(1, np.int64), 0, 1, 0)


class Part(NamedTuple):
    """Kernels that are used together."""

    use: Callable[[], None]
    family: str  # parts of one family have most of their kernels in common
    n_kernels: int


PARTS = {
    "gaussians": Part(_learn_gaussians, "gaussian", 76),
    "gaussian-scores": Part(_score_gaussians, "gaussian", 129),
    "cones": Part(_learn_cones, "greedy", 44),
    "cone-scores": Part(_score_cones, "greedy", 26),
    "vectors": Part(_learn_vectors, "greedy", 30),
    "views": Part(_look_around, "greedy", 8),
}

# What kinds of atoms use, to learn and to score alone; every kind starts from vectors.
_LEARNING = {
    "vector": ("vectors",),
    "cone": ("cones", "vectors", "cone-scores"),
    "gaussian": ("gaussians", "vectors", "gaussian-scores"),
}
_SCORING = {"vector": ("vectors",), "cone": ("cone-scores",), "gaussian": ("gaussian-scores",)}

# Parts that this process has tried to compile, whatever came of it.
_tried: set[str] = set()
_one_at_a_time = threading.Lock()


def parts_of(kinds: Iterable[str], *, views: bool, scoring: bool = False) -> list[str]:
    """Return the parts that dictionaries of these kinds use.

    Parameters
    ----------
    kinds : iterable of str
        Names of kinds of atoms; of one that is not known nothing is compiled ahead.
    views : bool
        Whether more than the relation makes a row abnormal.
    scoring : bool, default=False
        Whether they are only going to score.

    Examples
    --------
    >>> parts_of(["cone", "gaussian"], views=True, scoring=True)
    ['gaussian-scores', 'cone-scores', 'views']
    """
    table = _SCORING if scoring else _LEARNING
    used = {part for kind in kinds for part in table.get(kind, ())}
    if views:
        used.add("views")
    return [part for part in PARTS if part in used]


def warm_up(names: Iterable[str] = PARTS) -> None:
    """Compile parts of the library, one after another, in this process."""
    with warnings.catch_warnings():
        # of the few rows, and that is fine here
        warnings.simplefilter("ignore")
        for name in names:
            PARTS[name].use()
            STORE.mark_complete(name)


def compile_ahead(parts: Iterable[str] = PARTS, *, stream: TextIO | None = None) -> str:
    """Compile parts that are not on disk yet, side by side, and say so; tried once per process.

    Parameters
    ----------
    parts : iterable of str
        What `parts_of` returns, by default all.
    stream : text file object, default=sys.stderr
        Where that is reported, if it can be: a progress bar on a terminal and in a notebook, one
        line elsewhere.

    Returns
    -------
    str
        What was written if a process failed, else nothing. Its kernels are compiled when used.
    """
    with _one_at_a_time:
        wanted = [name for name in parts if name not in _tried and not STORE.is_complete(name)]
        # kernels that cannot be kept are of no use to another process
        if JIT_DISABLED or not wanted or not (_runs_python() and STORE.can_keep()):
            return ""
        _tried.update(wanted)
        try:
            with STORE.locked():
                # another process may have compiled them in the meantime
                left = [name for name in wanted if not STORE.is_complete(name)]
                return _compile_apart(left, _open(stream)) if left else ""
        except OSError as error:  # no memory for a process, no place for a file
            return str(error)


def _open(stream: TextIO | None) -> TextIO:
    """Return a stream that can be written to, with a word on what is going on."""
    stream = sys.stderr if stream is None else stream
    try:
        if not shows_progress(stream):
            stream.write(f"setatoms: {NOTICE}\n")
            stream.flush()
    except (AttributeError, OSError, ValueError):  # there is none, nobody reads it, it is closed
        return io.StringIO()
    return stream


def _runs_python() -> bool:
    """Tell whether a process like this one would run Python, and not an application made of it."""
    is_application = getattr(sys, "frozen", False)
    return Path(sys.executable or "").stem.startswith("python") and not is_application


def _compile_apart(names: Sequence[str], stream: TextIO) -> str:
    """Compile parts in processes of their own; return what was written if one of them failed."""
    # a file, as a pipe that nobody reads could fill up
    with TemporaryFile("w+") as log:
        processes: list[subprocess.Popen[bytes]] = []
        try:
            for group in _families(names):
                processes.append(_start(group, log))  # noqa: PERF401  those started must end
            _watch(processes, _count_kernels(names), stream)
        finally:
            for process in processes:
                process.kill()
                process.wait()
        log.seek(0)
        return log.read() if any(process.returncode for process in processes) else ""


def _families(names: Iterable[str]) -> list[list[str]]:
    """Group parts that have kernels in common: only the first of a group compiles these."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(PARTS[name].family, []).append(name)
    return list(groups.values())


def _count_kernels(names: Iterable[str]) -> int:
    """Return about how many kernels parts have."""
    return sum(max(PARTS[name].n_kernels for name in group) for group in _families(names))


def _start(names: list[str], log: IO[str]) -> subprocess.Popen[bytes]:
    """Start a process that compiles parts, with the library that this one has imported."""
    here = str(Path(__file__).parents[1])
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); "
        "from setatoms.warm_up import warm_up; warm_up(sys.argv[2:])"
    )
    return subprocess.Popen(
        [sys.executable, "-P", "-c", program, here, *names],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=log,
    )


def _watch(processes: list[subprocess.Popen[bytes]], n_kernels: int, stream: TextIO) -> None:
    """Show how many kernels there are until the processes end."""
    known = STORE.count()
    with Progress(n_kernels, NOTICE, stream=stream) as progress:
        while any(process.poll() is None for process in processes):
            time.sleep(_POLL_SECONDS)
            count = STORE.count()
            progress.advance(count - known)
            known = count
        progress.advance(n_kernels)


if __name__ == "__main__":
    sys.exit(compile_ahead() or 0)
