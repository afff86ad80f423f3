"""Which worker of a cluster takes which part of the rows, so that rows stay where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import dask

from setatoms.rows.delayed import Later, later

Home = str  # the address of a worker


class Bundle(NamedTuple):
    """The numbers of the parts that one thread takes, increasing, and its worker."""

    numbers: list[int]
    home: Home


def settle(client: Any, parts: Sequence[Later]) -> tuple[list[Later], list[Bundle]]:
    """Spread parts over the workers of a cluster, and bundle those that a thread takes.

    Parts that are not with the worker that takes them move there, once; the parts returned are the
    same ones, at home.
    """
    from distributed import futures_of, wait

    futures = [futures_of(part)[0] for part in parts]
    wait(futures)
    n_threads = client.nthreads()
    known = client.who_has(futures)
    holders = [known.get(future.key, ()) for future in futures]
    owners = choose_homes(holders, n_threads)
    settled = [
        part if owner in held else at(owner, _same, part)
        for part, owner, held in zip(parts, owners, holders, strict=True)
    ]
    bundles = []
    for home, n in n_threads.items():
        own = [i for i, owner in enumerate(owners) if owner == home]
        bundles += [Bundle(own[k::n], home) for k in range(min(n, len(own)))]
    return list(dask.persist(*settled)), bundles


def choose_homes(holders: Sequence[Sequence[Home]], n_threads: Mapping[Home, int]) -> list[Home]:
    """Return a worker for each part: one that holds it, unless that one has its share already.

    Parameters
    ----------
    holders : sequence of sequences of str
        The workers that hold each part; none where it is lost.
    n_threads : mapping
        How many threads each worker has, which is its share of the work.

    Examples
    --------
    >>> choose_homes([("a",), ("a",), ("a",), ()], {"a": 1, "b": 1})
    ['a', 'a', 'b', 'b']
    """
    total = max(1, sum(n_threads.values()))
    room = {home: -(-len(holders) * n // total) for home, n in n_threads.items()}
    chosen: dict[int, Home] = {}
    for i, held in enumerate(holders):
        free = [home for home in held if room.get(home, 0) > 0]
        if free:
            chosen[i] = max(free, key=lambda home: room[home])
            room[chosen[i]] -= 1
    for i in range(len(holders)):
        if i not in chosen:
            chosen[i] = max(room, key=lambda home: room[home])
            room[chosen[i]] -= 1
    return [chosen[i] for i in range(len(holders))]


def at(home: Home, function: Any, *arguments: Any) -> Later:
    """Return ``function(*arguments)``, later, by a worker; by another one if that is gone."""
    with dask.annotate(workers=[home], allow_other_workers=True):
        return later(function)(*arguments)


def _same(part: Any) -> Any:
    return part
