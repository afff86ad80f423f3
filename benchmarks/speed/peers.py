"""How each peer is called, each with as many threads as we take and in the way that suits it best.

Packages are imported where they are used: one that is missing makes its lines say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.decomposition import sparse_encode

from benchmarks.speed.rounds import Call, Contender, PerRow, Skipped, fastest
from benchmarks.speed.shapes import Problem

LAM = GAMMA = 1.0
# min ||y - Dx||^2/2 + t ||x||_1 has the 1-norm weight of Gauss-L1 at this t
THRESHOLD = GAMMA / (2 * LAM)

Prepare = Callable[[Problem, int], Call]
Read = Callable[[Problem, Any], PerRow]


@dataclass(frozen=True)
class Peer:
    """Another package's coder."""

    name: str
    prepare: Prepare  # from a problem and a number of threads to the call that is timed
    read: Read  # from the problem and what the call returns to the error of each row
    most_rows: int | None = None  # a slow one gets fewer signals

    def enter(self, problem: Problem, threads: int) -> Contender | Skipped:
        """Make ready to run on the problem."""
        own = problem.head(self.most_rows)
        try:
            call = self.prepare(own, threads)
        except ImportError as error:
            return Skipped(
                self.name, f"{error.name} is not installed: pip install 'setatoms[bench]'"
            )
        return Contender(self.name, "peer", call, len(own.X), lambda result: self.read(own, result))


def enter_all(
    peers: Iterable[Peer], problem: Problem, threads: int
) -> tuple[list[Contender], list[Skipped]]:
    """Return the peers that can run on the problem and those that cannot."""
    entered = [peer.enter(problem, threads) for peer in peers]
    return (
        [entry for entry in entered if isinstance(entry, Contender)],
        [entry for entry in entered if isinstance(entry, Skipped)],
    )


def omp_peers(s: int) -> list[Peer]:
    """Return the peers of OMP with ``s`` atoms per signal."""
    return [
        Peer("SPAMS omp", lambda p, threads: _spams_omp(p, s, threads), _errors_of_columns),
        Peer("dictlearn omp (Numba)", lambda p, _: _dictlearn_omp(p, s), _errors_of_rows, 20_000),
        Peer("scikit-learn omp", lambda p, t: _sklearn(p, "omp", s, t), _errors_of_rows, 5_000),
    ]


def cone_peers(s: int) -> list[Peer]:
    """Return the only peer of Cone-OMP."""
    return [
        Peer("dictlearn cone", lambda p, t: _dictlearn_cone(p, s, t), _root_mean_squares, 1_000)
    ]


def gauss_peers() -> list[Peer]:
    """Return the lasso of others, which is Gauss-L1 with radii 0, and the only true peer."""
    return [
        Peer("SPAMS lasso", _spams_lasso, _errors_of_columns, 10_000),
        Peer(
            "scikit-learn lasso_cd",
            lambda p, t: _sklearn(p, "lasso_cd", THRESHOLD, t),
            _errors_of_rows,
            2_000,
        ),
        Peer("dictlearn L1", lambda p, _: _dictlearn_l1(p), lambda _, result: result[1], 50),
    ]


def dictlearn_objective(problem: Problem) -> PerRow:
    """Return the objective of Gauss-L1 that dictlearn reaches for each signal."""
    dictlearn = import_module("dictlearn")

    return dictlearn.gaussian_anomaly_scores(
        problem.X, problem.atoms, problem.radii, score="obj", method="l1", lam=LAM, gam=GAMMA,
        random_state=0,
    )  # fmt: skip


def dictlearn_aksvd(problem: Problem, s: int, n_iter: int) -> Call:
    """Return a call that learns a dictionary, starting from the problem's atoms."""
    dictlearn = import_module("dictlearn")

    learner = dictlearn.DictionaryLearning(
        len(problem.atoms), fit_algorithm="aksvd", transform_algorithm="omp", n_nonzero_coefs=s,
        max_iter=n_iter, dict_init=problem.atoms, replace_unused_atoms="worst", random_state=0,
    )  # fmt: skip
    return lambda: learner.fit(problem.X).components_


def _spams_omp(problem: Problem, s: int, threads: int) -> Call:
    spams = import_module("spams")

    # signals are columns there, in Fortran order, as the transposes are
    X, atoms = problem.X.T, problem.atoms.T
    return lambda: spams.omp(X, atoms, L=s, numThreads=threads)


def _spams_lasso(problem: Problem, threads: int) -> Call:
    spams = import_module("spams")

    X, atoms = problem.X.T, problem.atoms.T
    return lambda: spams.lasso(X, atoms, lambda1=THRESHOLD, numThreads=threads)


def _sklearn(problem: Problem, algorithm: str, strength: float, threads: int) -> Call:
    """Call scikit-learn in one process or several; its "omp" is ``orthogonal_mp_gram``."""

    def call(n_jobs: int) -> Any:
        keyword = {"n_nonzero_coefs": strength} if algorithm == "omp" else {"alpha": strength}
        return sparse_encode(
            problem.X, problem.atoms, algorithm=algorithm, n_jobs=n_jobs, max_iter=10_000, **keyword
        )

    return fastest(lambda: call(1), lambda: call(threads))


def _dictlearn_omp(problem: Problem, s: int) -> Call:
    dictlearn = import_module("dictlearn")

    return lambda: dictlearn.sparse_encode(
        problem.X, problem.atoms, algorithm="omp", n_nonzero_coefs=s
    )


def _dictlearn_cone(problem: Problem, s: int, threads: int) -> Call:
    dictlearn = import_module("dictlearn")

    def call(n_jobs: int) -> Any:
        return dictlearn.cone_sparse_encode(
            problem.X, problem.atoms, problem.radii, n_nonzero_coefs=s, n_jobs=n_jobs
        )

    return fastest(lambda: call(1), lambda: call(threads))


def _dictlearn_l1(problem: Problem) -> Call:
    dictlearn = import_module("dictlearn")

    return lambda: dictlearn.gaussian_sparse_encode(
        problem.X, problem.atoms, problem.radii, method="l1", lam=LAM, gam=GAMMA, random_state=0
    )


def _errors_of_rows(problem: Problem, codes: Any) -> PerRow:
    return np.linalg.norm(problem.X - codes @ problem.atoms, axis=1)


def _errors_of_columns(problem: Problem, codes: Any) -> PerRow:
    return _errors_of_rows(problem, codes.T)


def _root_mean_squares(problem: Problem, result: Any) -> PerRow:
    return result[1] * np.sqrt(problem.X.shape[1])
