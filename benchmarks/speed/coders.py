"""Coders against coders, on the same signals and atoms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from benchmarks.speed.lines import Line, compare
from benchmarks.speed.peers import (
    GAMMA,
    LAM,
    Peer,
    cone_peers,
    dictlearn_objective,
    enter_all,
    gauss_peers,
    omp_peers,
)
from benchmarks.speed.rounds import Call, Contender, PerRow, Timing, alternate, fastest
from benchmarks.speed.settings import Settings
from benchmarks.speed.shapes import Problem, random_problems, table_problems
from setatoms import cone_omp, gauss_l1, omp
from setatoms.coding.batch import errors
from setatoms.learning.kinds import ConeAtoms

MACHINE = "dgemm, all atoms once"
# A product is taken in slices whose result fits the cache: the rate of arithmetic, not of memory.
SLICE_ROWS = 7_000
CONVERGED = 1e-10


@dataclass(frozen=True)
class Case:
    """One comparison: who codes which signals, and the arithmetic that is counted."""

    part: str
    name: str
    problem: Problem
    ours: Sequence[Contender]
    peers: Sequence[Peer]
    products: int = 1  # of the signals with all atoms


def omp_lines(settings: Settings) -> Iterator[Line]:
    """Compare OMP."""
    for problem in _problems(settings):
        for s in problem.sparsities:
            call = _omp_call(problem, s, settings.threads)
            ours = [_ours("setatoms omp", problem, call)]
            yield from _run(Case("omp", _name(problem, s), problem, ours, omp_peers(s)), settings)


def cone_lines(settings: Settings) -> Iterator[Line]:
    """Compare Cone-OMP, counted as one product with all atoms for each atom chosen."""
    for problem in _problems(settings):
        for s in problem.sparsities:
            ours = [
                _scores("setatoms scores", problem, s, settings.threads),
                _ours("setatoms cone_omp", problem, _cone_call(problem, s, settings.threads)),
            ]
            yield from _run(
                Case("cone", _name(problem, s), problem, ours, cone_peers(s), s), settings
            )


def gauss_lines(settings: Settings) -> Iterator[Line]:
    """Compare Gauss-L1 at two tolerances."""
    for problem in _problems(settings):
        ours = [
            _ours(f"setatoms tol={label}", problem, _gauss_call(problem, tol, settings.threads))
            for label, tol in (("1e-4", 1e-4), ("1e-7 (default)", 1e-7))
        ]
        yield from _run(Case("gauss", problem.name, problem, ours, gauss_peers()), settings)


def matrix_product(problem: Problem) -> Contender:
    """Return the product of all signals with all atoms, the way that is fastest here."""
    right = (problem.atoms.T, np.ascontiguousarray(problem.atoms.T))
    call = fastest(*(_product_call(problem.X, matrix) for matrix in right))
    return Contender(MACHINE, "machine", call, len(problem.X), lambda _: np.empty(0))


def _problems(settings: Settings) -> Iterator[Problem]:
    return chain(random_problems(settings), table_problems(settings))


def _name(problem: Problem, s: int) -> str:
    return f"{problem.name}, s={s}"


def _run(case: Case, settings: Settings) -> list[Line]:
    peers, absent = enter_all(case.peers, case.problem, settings.threads)
    contenders = [matrix_product(case.problem), *case.ours, *peers]
    timings = alternate(contenders, settings.rounds)
    machine = timings[0]
    shares = {t.contender.name: case.products * t.times_as_fast(machine) for t in timings[1:]}
    results = _mean_errors(timings)
    if case.part == "gauss":
        # a goal of its own, beside that of our line
        results[MACHINE] = {"reached by setatoms": shares[case.ours[0].name]}
        for name, excess in _excesses(case.problem, timings, settings.threads).items():
            results[name]["excess"] = excess
    return compare(
        case.part, case.name, case.problem.shape, timings, absent,
        shares=shares, results=results,
    )  # fmt: skip


def _mean_errors(timings: Sequence[Timing]) -> dict[str, dict[str, float]]:
    """Return each coder's mean error over the rows that all of them coded."""
    coders = [timing for timing in timings if timing.contender.kind != "machine"]
    rows = min(timing.contender.rows for timing in coders)
    return {
        t.contender.name: {"error": float(np.mean(t.contender.read(t.result)[:rows]))}
        for t in coders
    }


def _excesses(problem: Problem, timings: Sequence[Timing], threads: int) -> dict[str, float]:
    """Return how far mean objectives of Gauss-L1 are above the converged one, as a share of it."""
    converged = _gauss_call(problem, CONVERGED, threads)().objective
    reached: dict[str, PerRow] = {
        timing.contender.name: timing.result.objective
        for timing in timings
        if timing.contender.kind == "ours"
    }
    for timing in timings:
        if timing.contender.name == "dictlearn L1":
            own = problem.head(timing.contender.rows)
            reached[timing.contender.name] = dictlearn_objective(own)
    return {
        name: float(objective.mean() / converged[: len(objective)].mean() - 1)
        for name, objective in reached.items()
    }


def _ours(name: str, problem: Problem, call: Call) -> Contender:
    return Contender(name, "ours", call, len(problem.X), lambda codes: codes.errors)


def _scores(name: str, problem: Problem, s: int, threads: int) -> Contender:
    """Return Cone-OMP as detectors score with it: errors alone."""
    kind = ConeAtoms(n_nonzero=s)

    def call() -> Any:
        return errors(kind.coder(problem.atoms, problem.radii), problem.X, n_jobs=threads)

    return Contender(name, "ours", call, len(problem.X), lambda errors: errors)


def _omp_call(problem: Problem, s: int, threads: int) -> Call:
    return lambda: omp(problem.X, problem.atoms, n_nonzero=s, n_jobs=threads)


def _cone_call(problem: Problem, s: int, threads: int) -> Call:
    return lambda: cone_omp(problem.X, problem.atoms, problem.radii, n_nonzero=s, n_jobs=threads)


def _gauss_call(problem: Problem, tol: float, threads: int) -> Call:
    return lambda: gauss_l1(
        problem.X, problem.atoms, problem.radii, lam=LAM, gamma=GAMMA, tol=tol, n_jobs=threads
    )


def _product_call(X: Any, matrix: Any) -> Call:
    out = np.empty((min(SLICE_ROWS, len(X)), matrix.shape[1]))

    def call() -> None:
        for start in range(0, len(X), SLICE_ROWS):
            part = X[start : start + SLICE_ROWS]
            np.dot(part, matrix, out=out[: len(part)])

    return call
