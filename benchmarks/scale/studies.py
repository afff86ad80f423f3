"""The studies: how fast, in how much memory, with what traffic."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import setatoms
from benchmarks.scale.tables import N_FEATURES, make_rows
from setatoms.learning.passes import rows_of_a_part
from setatoms.learning.statistics import GROUP_PARTS, Statistics

MEMORY_LIMIT = "2GB"
_SAMPLED_EVERY = 0.1


class Figure(NamedTuple):
    """A measured line: what, its number in words, and whether it is as good as wanted."""

    what: str
    found: str
    goal: str = ""
    holds: bool | None = None


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
    import dask.array as da

    with cluster(2) as client:
        for n_rows in sizes:
            collection = da.from_array(make_rows(n_rows, 0), chunks=(n_rows // 8, N_FEATURES))
            held = collection.persist()
            sent = []
            for n_iter in (10, 20):
                before = _sent(client)
                detector = setatoms.ConeAtomDetector(
                    n_iter=n_iter, random_state=0, contamination=0.01, init="random"
                ).fit(held)
                sent.append(_sent(client) - before)
            found = (sent[1] - sent[0]) / 10
            most = bytes_of_an_iteration(n_rows, len(detector.radii_), N_FEATURES, 2)
            yield Figure(
                f"an iteration, {n_rows:,} rows",
                f"{found / 1e6:.2f} MB",
                f"at most {most / 1e6:.2f} MB by the formula",
                found <= 1.1 * most,
            )


def bytes_of_an_iteration(n_rows: int, n_atoms: int, n_features: int, n_workers: int) -> float:
    """Return what moves in an iteration at most: sums to where groups are added, and to here."""
    n_parts = -(-n_rows // rows_of_a_part(n_rows))
    n_groups = -(-n_parts // GROUP_PARTS)
    one = 8 * (n_atoms * n_features + 4 * n_atoms + 3)
    return (n_parts * (1 - 1 / n_workers) + n_groups) * one


def merging(counts: tuple[int, ...], n_atoms: int, n_features: int) -> Iterator[Figure]:
    """Add up the sums of many workers, as made here."""
    rng = np.random.default_rng(0)
    sums = rng.standard_normal((n_atoms, n_features + 4))
    weight, n_users, abs_sum, sq_sum = np.ascontiguousarray(sums[:, :4].T)
    part = Statistics(sums[:, 4:], weight, n_users, abs_sum, sq_sum, 1.0, 1.0, 1)
    for count in counts:
        seconds = _time(partial(Statistics.total, [part] * count))
        yield Figure(f"sums of {count:,} parts, {n_atoms:,} atoms", f"{1e3 * seconds:.0f} ms")


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
