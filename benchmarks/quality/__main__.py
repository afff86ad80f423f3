"""Run one study: ``python -m benchmarks.quality NAME [--quick] [--write PAGE]``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path


def main(arguments: Sequence[str]) -> int:
    """Run the study that the first argument names with the rest."""
    names = study_names()
    if not arguments or arguments[0] not in names:
        print(f"usage: python -m benchmarks.quality {{{','.join(names)}}} [--help]")
        return 2
    code: int = import_module(f"benchmarks.quality.{arguments[0]}").main(arguments[1:])
    return code


def study_names() -> list[str]:
    """Return the modules of this folder that have a `main`."""
    files = sorted(Path(__file__).parent.glob("[a-z]*.py"))
    return [file.stem for file in files if "\ndef main(" in file.read_text(encoding="utf-8")]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
