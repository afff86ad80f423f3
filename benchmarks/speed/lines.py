"""The lines of the table: what was measured, and what it was meant to be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.speed.goals import Goal, goal_of
from benchmarks.speed.rounds import Skipped, Timing


@dataclass(frozen=True)
class Line:
    """One contender in one case."""

    part: str
    case: str
    contender: str
    kind: str = "ours"
    shape: str = ""
    rows: int | None = None
    seconds: float | None = None  # median over the rounds
    rounds: tuple[float, ...] = ()  # seconds of each
    ratio: float | None = None  # ours over this peer; on our own lines, over the best peer
    share: float | None = None  # of the machine's matrix rate
    results: Mapping[str, float] = field(default_factory=dict)
    skipped: str | None = None

    @property
    def rate(self) -> float | None:
        """Signals a second."""
        if self.rows is None or not self.seconds:
            return None
        return self.rows / self.seconds

    @property
    def goal(self) -> Goal | None:
        """What this line is held to, if anything."""
        return goal_of(self.part, self.case, self.contender)

    @property
    def measured(self) -> float | None:
        """The quantity that the goal is about."""
        if self.goal is None:
            return None
        own = {"ratio": self.ratio, "share": self.share, "seconds": self.seconds}
        return {**own, **self.results}.get(self.goal.quantity)

    @property
    def verdict(self) -> str:
        """Say whether the goal was reached: aim, pass, FAIL, or nothing to reach."""
        if self.goal is None:
            return ""
        return "not run" if self.measured is None else self.goal.judge(self.measured)


def compare(
    part: str,
    case: str,
    shape: str,
    timings: Sequence[Timing],
    skipped: Iterable[Skipped] = (),
    *,
    shares: Mapping[str, float] | None = None,
    results: Mapping[str, Mapping[str, float]] | None = None,
) -> list[Line]:
    """Turn timings into lines; the first of ours is the one that peers are measured against."""
    lead = next(timing for timing in timings if timing.contender.kind == "ours")
    peers = [timing for timing in timings if timing.contender.kind == "peer"]
    lines = []
    for timing in timings:
        name, kind = timing.contender.name, timing.contender.kind
        ratio = None
        if kind == "peer":
            ratio = lead.times_as_fast(timing)
        elif kind == "ours" and peers:
            ratio = min(timing.times_as_fast(peer) for peer in peers)
        lines.append(
            Line(
                part, case, name, kind, shape, timing.contender.rows, timing.seconds,
                timing.rounds, ratio,
                share=(shares or {}).get(name), results=(results or {}).get(name, {}),
            )
        )  # fmt: skip
    absent = [Line(part, case, s.name, "peer", shape, skipped=s.reason) for s in skipped]
    return lines + absent
