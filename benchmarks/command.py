"""The command ``python -m benchmarks`` and its rooms."""

from __future__ import annotations

from collections.abc import Sequence

import click

from setatoms.cli.lazy import LazyGroup
from setatoms.cli.limits import prepare_memory
from setatoms.cli.running import call, guard

PROGRAM = "python -m benchmarks"
_ROOMS = {
    "paper": "Reproduce the paper's benchmark, or run a part of it.",
    "speed": "Time the library beside its peers.",
    "quality": "Study how often answers are right.",
    "scale": "Measure what a cluster costs, in time, memory and traffic.",
    "streams": "Measure how fast streams are followed, and what survives kills.",
}


@click.group(
    cls=LazyGroup,
    lines=_ROOMS,
    place="benchmarks.{}.command",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
def benchmarks() -> None:
    """Measure what the library reaches: as in the paper, in time, and by its answers."""
    prepare_memory()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status, as `setatoms.cli.main` does."""
    return guard("benchmarks", lambda words: call(benchmarks, PROGRAM, words), arguments)
