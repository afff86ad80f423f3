"""What one run of the benchmark is told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """How much to measure, and on how many threads; every contender gets as many."""

    threads: int = 2
    rounds: int = 11
    shrink: int = 1  # rows are divided by this
    tables: tuple[str, ...] = ("pendigits", "magic.gamma", "satellite")

    def rows(self, full: int) -> int:
        """Return how many of ``full`` rows to use."""
        return max(20, full // self.shrink)

    def few_rounds(self) -> int:
        """Return the number of rounds for what takes seconds per call."""
        return max(1, self.rounds // 3)


FULL = Settings()
QUICK = Settings(rounds=3, shrink=10)
