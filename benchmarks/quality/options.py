"""What every study is told."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Options(NamedTuple):
    """How much to study, on how many threads, and where some studies keep what they have done."""

    quick: bool = False
    keep: Path = Path("setatoms-bench")
    jobs: int = -1
