"""A disk that is full at one write after the other: the old file stays, one line says why."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scene import (
    BEFORE,
    COMMAND,
    HANG_SECONDS,
    Scene,
    Tally,
    bench_words,
    is_whole,
    leftovers,
)

_PAGE = 4096


def soak_disks(scene: Scene, n_sizes: int) -> Iterator[Tally]:
    """Write every kind of output to disks of growing size, if they can be mounted."""
    try:
        with _small_disk(scene.folder / "disk", 2):
            pass
    except (OSError, subprocess.CalledProcessError):
        yield Tally("full disks", remark="not run: mounting a tmpfs is not allowed here")
        return
    table, model = str(scene.table), str(scene.model)
    cone = ["--method", "cone"]
    works = {
        "model": ([*COMMAND, "fit", table, *cone, "--save"], "m.setatoms"),
        "scores": ([*COMMAND, "score", model, table, "--out"], "s.csv"),
        "report": ([*COMMAND, "score", model, table, "--report"], "p.html"),
        "benchmark": (bench_words(scene), "store"),
    }
    for name, (words, output) in works.items():
        tally = Tally(f"full disks: {name}")
        for n_pages in _sizes(n_sizes):
            with _small_disk(scene.folder / "disk", n_pages) as disk:
                _fill_up(words, disk / output, tally)
        yield tally


def _sizes(n_sizes: int) -> list[int]:
    """Return numbers of pages, from a disk that is full at once to one that holds everything."""
    return [2 + round(1000 * (i / max(1, n_sizes - 1)) ** 3) for i in range(n_sizes)]


def _fill_up(words: list[str], output: Path, tally: Tally) -> None:
    if output.suffix:
        output.write_bytes(BEFORE)
    done = subprocess.run(
        [*words, str(output)],
        capture_output=True, text=True, check=False, timeout=60 + HANG_SECONDS,
    )  # fmt: skip
    tally.n_tried += 1
    what = f"status {done.returncode}: {done.stderr[-300:]}"
    tally.check(done.returncode in (0, 1), what)
    tally.check("Traceback" not in done.stderr, what)
    if done.returncode:
        tally.check(done.stderr.count("\n") == 1, what)
    if output.suffix:
        tally.check(is_whole(output), f"{output.name} is neither old nor complete; {what}")
        unchanged = output.read_bytes() == BEFORE
        tally.check(unchanged == (done.returncode == 1), f"another file than told; {what}")
    tally.check(not leftovers(output.parent), f"it left {leftovers(output.parent)}")


@contextmanager
def _small_disk(folder: Path, n_pages: int) -> Iterator[Path]:
    folder.mkdir(exist_ok=True)
    size = f"size={n_pages * _PAGE}"
    command = ["mount", "-t", "tmpfs", "-o", size, "soak", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)
