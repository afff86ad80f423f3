"""Soak the library: mutated inputs, kills, full disks, environments.

    python tests/soak/run.py                          # some minutes
    python tests/soak/run.py --inputs 1000000 --kills 500

Prints a table in Markdown, and what goes wrong as soon as it is found; then the status is 1.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[2]))

from kills import WORKS
from mutations import READERS
from scene import Scene, Tally


def main() -> int:
    """Run all parts."""
    options = _options()
    # in the background they are ignored, here and in every command that is to be ended by them
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    began, tallies = time.monotonic(), []
    print("| what | tried | flaws | remarks |\n|---|--:|--:|---|", flush=True)
    # drafts are synchronised to the disk, which takes most of the time on a real one
    place = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=place) as name:
        tempfile.tempdir = name
        os.environ["TMPDIR"] = name
        # commands run in that folder, and the benchmark is not installed
        known = [sys.path[-1], os.environ.get("PYTHONPATH")]
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, known))
        for tally in _parts(Scene(Path(name)).make(), options):
            tallies.append(tally)
            print(tally.line(), flush=True)
    print(f"\n{time.monotonic() - began:.0f} s")
    return int(any(tally.flaws for tally in tallies))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=100_000, help="mutated inputs in total")
    parser.add_argument("--readers", nargs="+", choices=READERS, help="who gets them")
    parser.add_argument("--kills", type=int, default=50, help="kills in total")
    parser.add_argument("--works", nargs="+", choices=WORKS, help="what is killed")
    parser.add_argument("--disks", type=int, default=12, help="sizes of disks for each output")
    parser.add_argument("--environments", type=int, default=24, help="combinations, at most 24")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def _parts(scene: Scene, options: argparse.Namespace) -> Iterator[Tally]:
    from disks import soak_disks
    from environments import soak_environments
    from kills import soak_kills
    from mutations import soak_readers

    yield from soak_readers(options.inputs, options.seed, options.readers)
    yield from soak_kills(scene, options.kills, options.seed, options.works)
    if options.disks:
        yield from soak_disks(scene, options.disks)
    if options.environments:
        yield soak_environments(scene, options.environments)


if __name__ == "__main__":
    sys.exit(main())
