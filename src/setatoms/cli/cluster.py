"""A running Dask cluster: connect to it, and use it for parts of a table."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")

_NEEDS = '--scheduler needs Dask and distributed: pip install "setatoms[dask]"'
_SECONDS = 10
# Parts under way for each thread of the cluster, so that no worker waits for this machine.
_AHEAD = 2
# What must be the same everywhere for pickles to be read and results to be equal.
_PACKAGES = ("dask", "distributed", "setatoms", "numpy", "numba")
# Those to which Dask gives a level of their own.
_LOGGERS = ("distributed", "distributed.client", "tornado", "tornado.application")


class ClusterError(RuntimeError):
    """The cluster is not there, or cannot do the work; the message says why and what to do."""


@contextmanager
def connected(address: str, also: Sequence[str] = ()) -> Iterator[Any]:
    """Connect to the scheduler at an address, and let Dask work there.

    What was asked of the cluster and is not needed any more is forgotten at the end, however that
    comes, so that others can go on using it.

    Parameters
    ----------
    address : str
        Such as ``tcp://host:8786``.
    also : sequence of str
        Packages that workers must have besides, in the version that is here.

    Raises
    ------
    ClusterError
        If no scheduler answers, if it has no workers, if versions differ, or if it is lost.
    """
    try:
        import dask.dataframe
        from distributed import Client, KilledWorker
        from distributed.comm import CommClosedError
    except ImportError as error:
        raise ImportError(_NEEDS) from error
    before = dask.config.get("scheduler", None)
    with _quiet():
        try:
            _greet(address)
            with _without_collection():
                client = Client(address, timeout=_SECONDS, name="setatoms")
        except (OSError, ValueError, TypeError) as error:
            dask.config.set(scheduler=before)  # which a client changes before it is connected
            raise ClusterError(
                f"no scheduler answers at {address}; give the address that `dask scheduler` "
                "prints, as tcp://host:8786"
            ) from error
        with client:
            _await_workers(client, address)
            check_versions(client.get_versions(packages=[*_PACKAGES, *also]), also)
            try:
                yield client
            except KilledWorker as error:
                raise ClusterError(
                    f"a part of the work ended {error.allowed_failures + 1} workers, the last at "
                    f"{error.last_worker.address}; memory was short, or a package crashes there"
                ) from error
            except (CommClosedError, CancelledError) as error:
                raise ClusterError(
                    f"the scheduler at {address} was lost or stopped the work; see that it runs "
                    "and repeat the command"
                ) from error


def _greet(address: str) -> None:
    """Raise OSError unless Dask answers at an address; a client would wait for ever."""
    import dask
    from distributed import Security
    from distributed.comm import connect

    if dask.config.get("distributed.client.security-loader", None):
        return  # only a client asks it how to connect

    async def greet() -> None:
        options = Security().get_connection_args("client")
        opening = connect(address, timeout=_SECONDS, **options)
        connection = await asyncio.wait_for(opening, _SECONDS)
        await connection.close()

    # there may be a loop that runs in this thread, as in a notebook
    with ThreadPoolExecutor(1) as threads:
        try:
            threads.submit(asyncio.run, greet()).result()
        except Exception as error:  # whatever comes of reading another protocol
            raise ConnectionError(f"what answers at {address} is not Dask") from error


@contextmanager
def _without_collection() -> Iterator[None]:
    """Collect no garbage: a client that failed, collected while another starts, waits for ever."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def check_versions(found: Mapping[str, Any], also: Sequence[str] = ()) -> None:
    """Raise unless scheduler and workers have the same versions as this process.

    Parameters
    ----------
    found : mapping
        What `Client.get_versions` returns.
    also : sequence of str
        Packages that workers must have besides.
    """
    here = found["client"]["packages"]
    python = "python"
    nodes = {"the scheduler": found["scheduler"]} | {
        f"the worker at {address}": node for address, node in found["workers"].items()
    }
    for name, node in nodes.items():
        packages = [python, *_PACKAGES, *(() if name == "the scheduler" else also)]
        for package in packages:
            own, other = here.get(package), (node or {}).get("packages", {}).get(package)
            if package == python:
                own, other = _minor(own), _minor(other)
            if own != other:
                raise ClusterError(
                    f"{name} has {package} {other or '(none)'}, and this command has {own}; "
                    "install the same versions everywhere"
                )


def in_order(
    client: Any, function: Callable[..., T], shared: Any, parts: Sequence[Any]
) -> Iterator[T]:
    """Yield ``function(shared, part)`` for each part, in order, each computed by a worker.

    Few parts are under way at a time, so that neither workers nor this process collect what
    nobody has taken yet. `shared` goes to each worker once.
    """
    held = client.submit(_same, shared, pure=False)
    at_most = _AHEAD * max(1, sum(client.nthreads().values()))
    coming = (client.submit(function, held, part, pure=False) for part in parts)
    waiting = deque(islice(coming, at_most))
    while waiting:
        future = waiting.popleft()
        result = future.result()
        future.release()
        waiting.extend(islice(coming, 1))
        yield result


def _same(shared: T) -> T:
    return shared


def _minor(version: str | None) -> str | None:
    return version and ".".join(version.split(".")[:2])


def _await_workers(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=_SECONDS)
    except TimeoutError as error:
        raise ClusterError(
            f"the scheduler at {address} has no workers; start some: dask worker {address}"
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what Dask logs and warns of from the terminal: errors come as exceptions too."""
    before = {name: logging.getLogger(name).level for name in _LOGGERS}
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            warnings.filterwarnings("ignore", "Mismatched versions")
            yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
        sys.stderr.flush()
