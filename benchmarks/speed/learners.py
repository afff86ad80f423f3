"""AK-SVD against AK-SVD, from the same start."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.speed.coders import matrix_product
from benchmarks.speed.lines import Line, compare
from benchmarks.speed.peers import dictlearn_aksvd
from benchmarks.speed.rounds import Contender, PerRow, Skipped, alternate
from benchmarks.speed.settings import Settings
from benchmarks.speed.shapes import Array, random_problems
from setatoms import aksvd, omp

N_NONZERO = 2
N_ITER = 50


def aksvd_lines(settings: Settings) -> Iterator[Line]:
    """Compare 50 iterations on shape A by their time and the error of what they learn."""
    problem = next(random_problems(settings))
    rows = len(problem.X)

    def errors(atoms: Array) -> PerRow:
        return omp(problem.X, atoms, n_nonzero=N_NONZERO).errors

    def learn() -> Array:
        return aksvd(
            problem.X, len(problem.atoms), n_nonzero=N_NONZERO, n_iter=N_ITER, init=problem.atoms,
            n_jobs=settings.threads,
        )  # fmt: skip

    contenders = [matrix_product(problem), Contender("setatoms aksvd", "ours", learn, rows, errors)]
    absent = []
    try:
        peer = dictlearn_aksvd(problem, N_NONZERO, N_ITER)
        contenders.append(Contender("dictlearn aksvd", "peer", peer, rows, errors))
    except ImportError:
        absent.append(Skipped("dictlearn aksvd", "dictlearn is not installed"))
    machine, *learners = alternate(contenders, settings.few_rounds())
    yield from compare(
        "aksvd", f"{problem.name}, {N_ITER} iterations", problem.shape, learners, absent,
        shares={t.contender.name: N_ITER * t.times_as_fast(machine) for t in learners},
        results={t.contender.name: {"error": float(np.mean(errors(t.result)))} for t in learners},
    )  # fmt: skip
