"""Ensembles against ensembles and against COF, and how their time grows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from benchmarks.paper.ensembles import NEIGHBOUR_ENSEMBLES, NeighbourEnsemble
from benchmarks.paper.peers import Peer
from benchmarks.speed.detectors import PEERS as SINGLE_PEERS
from benchmarks.speed.detectors import Make, Opponent, contest, enter
from benchmarks.speed.lines import Line
from benchmarks.speed.rounds import Contender, Timing, alternate
from benchmarks.speed.settings import Settings
from benchmarks.speed.shapes import Split, made_split, split_table
from setatoms import SetAtomEnsemble

TABLE = "pendigits"
# at 2,000 rows members of a table with so few features are as large as they may be
FEATURES = 8
ROWS = (2_000, 20_000)
MEMBERS = (6, 60)


@dataclass(frozen=True)
class Neighbours:
    """An ensemble of the benchmark's, on as many threads as its detector can use."""

    peer: Peer

    @property
    def name(self) -> str:
        """What it is called."""
        return self.peer.name

    def make(self, threads: int) -> Any:
        """Return an unfitted ensemble."""
        jobs: dict[str, Any] = {"n_jobs": threads} if self.name.startswith("LOF") else {}
        return NeighbourEnsemble(**self.peer.configs["default"], **jobs)


def ensemble_lines(settings: Settings) -> Iterator[Line]:
    """Compare on one table, then let rows, members and threads grow."""
    if TABLE in settings.tables:
        peers = [peer for peer in SINGLE_PEERS if peer.name in ("LOF", "COF")]
        rivals: list[Opponent] = [*peers, *map(Neighbours, NEIGHBOUR_ENSEMBLES)]
        ours = {
            f"setatoms {budget}": _maker(budget=budget) for budget in ("balanced", "fast", "best")
        }
        yield from contest("ensembles", split_table(TABLE), ours, rivals, settings)
    few, many = (made_split(settings.rows(rows), FEATURES) for rows in ROWS)
    yield from _growth_in_rows(few, many, settings)
    yield from _growth_in_members(few, settings)
    yield from _threads(many, settings)


def _growth_in_rows(few: Split, many: Split, settings: Settings) -> list[Line]:
    counts = [f"{len(split.train) + len(split.test):,}" for split in (few, many)]
    contenders = [
        enter(split, f"{count} rows", _maker(), settings.threads)
        for split, count in zip((few, many), counts, strict=True)
    ]
    return _growth(f"{counts[0]} to {counts[1]} rows", contenders, settings)


def _growth_in_members(split: Split, settings: Settings) -> list[Line]:
    contenders = [
        enter(split, f"{n} members", _maker(n_members=n), settings.threads) for n in MEMBERS
    ]
    return _growth(f"{MEMBERS[0]} to {MEMBERS[1]} members", contenders, settings)


def _growth(case: str, contenders: list[Contender], settings: Settings) -> list[Line]:
    """Return the smaller and the larger, with how many times longer that takes."""
    small, large = alternate(contenders, settings.few_rounds())
    growth = median(b / a for a, b in zip(small.rounds, large.rounds, strict=True))
    return [_line(case, small, {}), _line(case, large, {"growth": growth})]


def _threads(split: Split, settings: Settings) -> list[Line]:
    """Return one thread and all of them, with what is gained, and how far scores differ."""
    names = {"one thread": 1, "all threads": settings.threads}
    one, several = alternate(
        [enter(split, name, _maker(), threads) for name, threads in names.items()],
        settings.few_rounds(),
    )
    results = {
        "times as fast": several.times_as_fast(one),
        "difference": float(np.max(np.abs(one.result - several.result))),
    }
    return [_line("threads", one, {}), _line("threads", several, results)]


def _line(case: str, timing: Timing, results: Mapping[str, float]) -> Line:
    contender = timing.contender
    return Line(
        "ensembles", case, contender.name, rows=contender.rows, seconds=timing.seconds,
        rounds=timing.rounds, results=results,
    )  # fmt: skip


def _maker(**arguments: Any) -> Make:
    def make(threads: int) -> SetAtomEnsemble:
        return SetAtomEnsemble(contamination=0.1, n_jobs=threads, random_state=0, **arguments)

    return make
