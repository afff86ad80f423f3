"""Detectors against detectors: fit on one part of a table, score the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from sklearn.metrics import roc_auc_score

from benchmarks.speed.coders import SLICE_ROWS, matrix_product
from benchmarks.speed.lines import Line, compare
from benchmarks.speed.rounds import Contender, Skipped, Timing, alternate
from benchmarks.speed.settings import Settings
from benchmarks.speed.shapes import Split, made_split, random_problem, split_table
from setatoms import (
    ConeAtomDetector,
    GaussianAtomDetector,
    SetAtomEnsemble,
    VectorAtomDetector,
)
from setatoms.estimators.recipes import AKSVD_ITERATIONS

LARGE_ROWS, LARGE_FEATURES = 100_000, 27
WARM_UP_ROWS = 200

Make = Callable[[int], Any]  # from a number of threads to an unfitted detector


class Opponent(Protocol):
    """A detector of others."""

    @property
    def name(self) -> str:
        """What it is called."""

    def make(self, threads: int) -> Any:
        """Return an unfitted detector."""


@dataclass(frozen=True)
class Peer:
    """One of PyOD's detectors with its defaults, which are ADBench's."""

    name: str
    module: str
    takes_jobs: bool
    why_not_large: str | None = None

    def make(self, threads: int) -> Any:
        """Return an unfitted detector."""
        detector = getattr(import_module(f"pyod.models.{self.module}"), self.name)
        return detector(n_jobs=threads) if self.takes_jobs else detector()


PEERS = (
    Peer("LOF", "lof", takes_jobs=True),
    Peer("KNN", "knn", takes_jobs=True),
    Peer("COF", "cof", False, "a distance matrix of 70,000 x 70,000, 39 GB"),
    Peer("IForest", "iforest", takes_jobs=True),
    Peer("OCSVM", "ocsvm", False, "time grows with the square of the rows: hours"),
)

# the first is DLG-L1-adapt, the one that peers are measured against
OURS: dict[str, Make] = {
    "setatoms Gaussian": lambda threads: GaussianAtomDetector(
        contamination=0.1, n_jobs=threads, random_state=0
    ),
    "setatoms cone": lambda threads: ConeAtomDetector(
        contamination=0.1, n_jobs=threads, random_state=0
    ),
    "setatoms vector": lambda threads: VectorAtomDetector(
        contamination=0.1, n_jobs=threads, random_state=0
    ),
}
# on the tables alone: its members learn from a sample
ENSEMBLE: dict[str, Make] = {
    "setatoms ensemble": lambda threads: SetAtomEnsemble(
        contamination=0.1, n_jobs=threads, random_state=0
    ),
}


def detector_lines(settings: Settings) -> Iterator[Line]:
    """Compare on real tables and on a large made one."""
    for name in settings.tables:
        yield from contest("detectors", split_table(name), OURS | ENSEMBLE, PEERS, settings)
    split = made_split(settings.rows(LARGE_ROWS), LARGE_FEATURES)
    peers = [peer for peer in PEERS if peer.why_not_large is None]
    skipped = [Skipped(p.name, p.why_not_large) for p in PEERS if p.why_not_large is not None]
    yield from contest("detectors", split, OURS, peers, settings, skipped)


def contest(
    part: str,
    split: Split,
    ours: Mapping[str, Make],
    peers: Sequence[Opponent],
    settings: Settings,
    skipped: Sequence[Skipped] = (),
) -> list[Line]:
    """Let all fit and score a split in turn; peers are measured against the first of ours."""
    contenders = [enter(split, name, make, settings.threads) for name, make in ours.items()]
    absent = list(skipped)
    for peer in peers:
        try:
            contenders.append(_peer(split, peer, settings.threads))
        except ImportError as error:
            absent.append(Skipped(peer.name, f"{error.name} is not installed"))
    timings = alternate(contenders, settings.few_rounds())
    results = {timing.contender.name: {"AUC": _auc(split, timing)} for timing in timings}
    return compare(
        part, split.name, split.shape, timings, absent,
        shares=_shares(split, timings), results=results,
    )  # fmt: skip


def _shares(split: Split, timings: list[Timing]) -> dict[str, float]:
    """Count one product with all atoms for each pass over the rows, of our single dictionaries."""
    n_features = split.train.shape[1]
    shares = {}
    for timing in timings:
        if timing.contender.name in OURS:
            detector = OURS[timing.contender.name](1)
            passes = detector.n_iter + (AKSVD_ITERATIONS if detector.init == "aksvd" else 0) + 1
            n_products = passes * len(split.train) + len(split.test)
            problem = random_problem(split.train[:SLICE_ROWS], int(detector.n_atoms * n_features))
            machine = alternate([matrix_product(problem)], 3)[0]
            shares[timing.contender.name] = n_products / timing.seconds / machine.rate
    return shares


def enter(split: Split, name: str, make: Make, threads: int) -> Contender:
    """Return one of ours as a contender that fits and scores a split."""

    def call(rows: int | None = None) -> Any:
        return -make(threads).fit(split.train[:rows]).score_samples(split.test[:rows])

    return _contender(name, split, call, ours=True)


def _peer(split: Split, peer: Opponent, threads: int) -> Contender:
    peer.make(threads)  # complains here and now if PyOD is missing

    def call(rows: int | None = None) -> Any:
        return peer.make(threads).fit(split.train[:rows]).decision_function(split.test[:rows])

    return _contender(peer.name, split, call, ours=False)


def _contender(name: str, split: Split, call: Callable[..., Any], *, ours: bool) -> Contender:
    return Contender(
        name,
        "ours" if ours else "peer",
        call,
        len(split.train) + len(split.test),
        lambda scores: scores,
        warm_up=lambda: call(WARM_UP_ROWS),
    )


def _auc(split: Split, timing: Timing) -> float:
    return float(roc_auc_score(split.y_test, timing.contender.read(timing.result)))
