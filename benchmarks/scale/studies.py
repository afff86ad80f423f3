"""The studies: how fast, in how much memory, with what traffic."""

from __future__ import annotations

import os
import pickle
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import setatoms
from benchmarks.figures import Figure
from benchmarks.scale.tables import N_FEATURES, make_rows
from setatoms.learning import AtomKind
from setatoms.learning.kinds import ConeAtoms, GaussianAtoms
from setatoms.learning.passes import rows_of_a_part
from setatoms.learning.statistics import GROUP_PARTS, Statistics
from setatoms.rows.dask import DaskRows
from setatoms.rows.delayed import hold, later

MEMORY_LIMIT = "2GB"
_SAMPLED_EVERY = 0.1


@contextmanager
def cluster(n_workers: int) -> Iterator[Any]:
    """Run worker processes of one thread and at most 2 GB each; yield a client."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            dashboard_address=None,
            memory_limit=MEMORY_LIMIT,
        ) as running,
        Client(running) as client,
    ):
        yield client


@contextmanager
def peaks(client: Any) -> Iterator[dict[int, int]]:
    """Watch how many bytes each process takes at its peak."""
    import psutil

    found: dict[int, int] = {}
    watched = [psutil.Process(pid) for pid in (os.getpid(), *client.run(os.getpid).values())]
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_SAMPLED_EVERY):
            for process in watched:
                found[process.pid] = max(found.get(process.pid, 0), process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield found
    finally:
        done.set()
        watcher.join()


def whole_table(files: list[Path], n_scored: int) -> Iterator[Figure]:
    """Fit the default on all rows, score a part of them, on two workers."""
    import dask.dataframe as dd

    with cluster(2) as client, peaks(client) as memory:
        collection = dd.read_parquet([str(file) for file in files])
        start = time.perf_counter()
        detector = setatoms.SetAtomEnsemble(random_state=0).fit(collection)
        seconds = time.perf_counter() - start
        n_rows = detector.n_samples_fit_
        yield Figure(f"fit, {n_rows:,} x {N_FEATURES}, two workers", f"{seconds:.0f} s")
        scores = detector.score_samples(dd.read_parquet([str(file) for file in files[:n_scored]]))
        start = time.perf_counter()
        n_scored_rows = int(scores.map_partitions(len).compute().sum())
        seconds = time.perf_counter() - start
        yield Figure(f"score, {n_scored_rows:,} of these rows", f"{seconds:.0f} s")
        largest = max(memory.values()) / 1e9
        yield Figure(
            "largest process, fit and score", f"{largest:.2f} GB", "at most 2 GB", largest <= 2
        )


def rates(n_rows: int, rounds: int) -> Iterator[Figure]:
    """Score the same rows in memory, by one worker and by two, in turn."""
    import dask.array as da

    X = make_rows(n_rows, 0)
    detector = setatoms.SetAtomEnsemble(random_state=0).fit(X[: n_rows // 2])
    seconds: dict[str, list[float]] = {"memory": [], "one": [], "two": []}
    for _ in range(rounds):
        seconds["memory"].append(_time(lambda: detector.score_samples(X)))
        for name, n_workers in (("one", 1), ("two", 2)):
            with cluster(n_workers) as client:
                held = da.from_array(X, chunks=(n_rows // 32, N_FEATURES)).persist()
                detector.score_samples(held[: n_rows // 32 * n_workers]).compute()  # loads kernels
                client.wait_for_workers(n_workers)
                seconds[name].append(_time(detector.score_samples(held).compute))
    median = {name: float(np.median(each)) for name, each in seconds.items()}
    rate = n_rows / median["memory"]
    yield Figure("score in memory, two threads", f"{rate:,.0f} rows/s")
    share = median["memory"] / median["two"]
    yield Figure("two workers / in memory", f"{share:.0%}", "at least 70 %", share >= 0.7)
    gain = median["one"] / median["two"]
    yield Figure("two workers / one worker", f"{gain:.2f}", "at least 1.6", gain >= 1.6)
    yield Figure("one core, score", f"{n_rows / median['one']:,.0f} rows/s")


def traffic(sizes: tuple[int, ...]) -> Iterator[Figure]:
    """Count what moves between two workers for each iteration of one dictionary."""
    with cluster(2) as client:
        for kind in (ConeAtoms(), GaussianAtoms()):
            for n_rows in sizes:
                found, most = _bytes_of_passes(client, kind, n_rows)
                yield Figure(
                    f"an iteration, {kind.name}, {n_rows:,} rows",
                    f"{found / 1e6:.3f} MB",
                    f"at most {most / 1e6:.3f} MB by the formula",
                    found <= 1.1 * most,
                )


def _bytes_of_passes(client: Any, kind: AtomKind, n_rows: int, n_passes: int = 10) -> Any:
    """Return what a pass moved and what the formula allows; before the first, rows settle."""
    X, n_atoms = make_rows(n_rows, 0), 80
    bounds = range(0, n_rows, max(1, n_rows // 8))
    blocks = hold([later(X[i : i + bounds.step]) for i in bounds])
    rows = DaskRows.of_partitions(blocks, [len(X[i : i + bounds.step]) for i in bounds], N_FEATURES)
    signals = rows.signals(np.asarray, None)
    rng = np.random.default_rng(0)
    atoms = rng.standard_normal((n_atoms, N_FEATURES))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    radii = np.full(n_atoms, 0.01)
    signals.statistics(kind, atoms, radii)
    before = _sent(client)
    for _ in range(n_passes):
        signals.statistics(kind, atoms, radii)
    found = (_sent(client) - before) / n_passes
    return found, bytes_of_an_iteration(n_rows, n_atoms, N_FEATURES, 2)


def score_traffic(sizes: tuple[int, ...]) -> Iterator[Figure]:
    """Count what moves when two workers score rows that they read, and keep the scores."""
    import dask.dataframe as dd
    from distributed import wait

    detector = setatoms.ConeAtomDetector(n_iter=10, random_state=0).fit(_read_part(0, 2_000))
    model = len(pickle.dumps(detector))
    with cluster(2) as client:
        for n_rows in sizes:
            rows = dd.from_map(_read_part, range(8), n_rows=n_rows // 8)
            before = _sent(client)
            wait(detector.score_samples(rows).persist())
            found = _sent(client) - before
            yield Figure(
                f"scores of {n_rows:,} rows",
                f"{found / 1e6:.3f} MB",
                f"at most {model / 1e6:.3f} MB, the model",
                found <= model,
            )


def _read_part(seed: int, n_rows: int) -> Any:
    """Return rows as a worker would read them from a file."""
    import pandas as pd

    return pd.DataFrame(make_rows(n_rows, seed), columns=[f"c{j:02d}" for j in range(N_FEATURES)])


def bytes_of_an_iteration(n_rows: int, n_atoms: int, n_features: int, n_workers: int) -> float:
    """Return what moves in an iteration at most.

    Sums go to where groups are added, and groups to here; atoms and radii go to each worker.
    """
    n_parts = -(-n_rows // rows_of_a_part(n_rows))
    n_groups = -(-n_parts // GROUP_PARTS)
    sums = 8 * (n_atoms * n_features + 4 * n_atoms + 3)
    atoms = 8 * n_atoms * (n_features + 1)
    return (n_parts * (1 - 1 / n_workers) + n_groups) * sums + n_workers * atoms


def merging(counts: tuple[int, ...], n_atoms: int, n_features: int) -> Iterator[Figure]:
    """Add up the sums of many workers as they would: groups side by side, then the groups."""
    parts = [_made_sums(n_atoms, n_features, seed) for seed in range(GROUP_PARTS)]
    for count in counts:
        longest = [min(count, GROUP_PARTS), -(-count // GROUP_PARTS)]
        totals = [partial(Statistics.total, parts[:n]) for n in longest if n > 1]
        seconds = sum(np.median([_time(total) for _ in range(9)]) for total in totals)
        yield Figure(
            f"merge of {count:,} workers, {n_atoms:,} atoms, {n_features} columns",
            f"{1e3 * seconds:.1f} ms",
        )


def _made_sums(n_atoms: int, n_features: int, seed: int) -> Statistics:
    rng = np.random.default_rng(seed)
    weight, n_users, abs_sum, sq_sum = rng.standard_normal((4, n_atoms))
    pull = rng.standard_normal((n_atoms, n_features))
    return Statistics(pull, weight, n_users, abs_sum, sq_sum, 1.0, 1.0, 1)


def scheduling(n_workers: tuple[int, ...]) -> Iterator[Figure]:
    """Time an iteration that has next to nothing to code, on workers that are threads of one."""
    from distributed import Client, LocalCluster

    X = make_rows(40_000, 0)[:, :2]
    atoms, radii = np.eye(2), np.full(2, 0.01)
    for count in n_workers:
        with (
            LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                processes=False,
                dashboard_address=None,
                memory_limit=0,  # they share one process
            ) as running,
            Client(running),
        ):
            rows = DaskRows.of_partitions([later(X)], [len(X)], 2)
            signals = rows.signals(np.asarray, None)
            signals.statistics(ConeAtoms(n_nonzero=1), atoms, radii)
            pass_once = partial(signals.statistics, ConeAtoms(n_nonzero=1), atoms, radii)
            seconds = np.median([_time(pass_once) for _ in range(10)])
        yield Figure(f"scheduling an iteration, {count} workers", f"{1e3 * seconds:.0f} ms")


def coding(n_rows: int) -> Iterator[Figure]:
    """Time a pass over rows of 100 columns with 1,000 atoms on one core."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 100)) @ rng.standard_normal((100, 100))
    seconds = []
    for n_iter in (10, 20):
        detector = setatoms.ConeAtomDetector(
            n_atoms=10.0, n_iter=n_iter, contamination=0.01, init="random", random_state=0,
            n_jobs=1, views=("relation",),
        )  # fmt: skip
        seconds.append(_time(partial(detector.fit, X)))
    rate = 10 * n_rows / (seconds[1] - seconds[0])
    yield Figure("a pass, 100 columns, 1,000 cones, one core", f"{rate:,.0f} rows/s")


def _sent(client: Any) -> int:
    found = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return int(sum(found.values()))


def _time(call: Any) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
