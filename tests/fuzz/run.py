"""Run one harness of this folder under atheris, from the seeds it brings along.

    python tests/fuzz/run.py fuzz_model -max_total_time=60

A harness is a module ``fuzz_*.py`` with two functions: ``seeds()`` returns inputs to start from,
and ``one_input(data)`` feeds one input to the library and lets pass only the errors that are
promised. What follows its name are options of libFuzzer; a folder among them keeps the corpus for
the next run.
"""

from __future__ import annotations

import sys
import tempfile
from importlib import import_module
from pathlib import Path

import atheris

# Before anything is instrumented: Numba could not compile kernels that are.
import setatoms.learning
import setatoms.views  # noqa: F401

# The benchmark is not installed.
sys.path.append(str(Path(__file__).parents[2]))

# An input that takes longer or more is a failure.
LIMITS = ["-timeout=10", "-rss_limit_mb=2048", "-max_len=65536"]


def main(name: str, *options: str) -> None:
    """Fuzz the harness of this name."""
    with atheris.instrument_imports(include=["setatoms", "benchmarks", name]):
        harness = import_module(name)
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(harness.seeds()):
            Path(folder, f"seed{number}").write_bytes(seed)
        prefix = f"-artifact_prefix={tempfile.gettempdir()}/{name}-"
        atheris.Setup([sys.argv[0], *LIMITS, prefix, *options, folder], harness.one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
