"""Workers of a Dask cluster that compute cells."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from benchmarks.errors import BenchError
from benchmarks.paper.cells import Cell, Outcome
from benchmarks.paper.work import Task, compute
from setatoms.cli.cluster import connected


class ClusterWorkers:
    """The workers of a cluster, each of which computes one cell at a time.

    They see the folder, and the tables, where this process does. One that dies is replaced by
    Dask, and its cell tried again as often as the scheduler allows.

    Parameters
    ----------
    address : str
        That of the scheduler.
    folder : Path
        Where generated tables and starts are kept.
    """

    def __init__(self, address: str, folder: Path) -> None:
        self._address, self._folder = address, folder
        self._running: dict[Any, Task] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._client = stack.enter_context(connected(self._address))
            self._check()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._client.cancel(list(self._running))
        self._stack.__exit__(*error)

    @property
    def n_workers(self) -> int:
        """How many cells are computed at a time; there may be more workers than before."""
        return max(1, len(self._client.nthreads()))

    @property
    def tasks(self) -> list[Task]:
        """What is being computed."""
        return list(self._running.values())

    @property
    def has_room(self) -> bool:
        """Whether a worker has nothing to do."""
        return len(self._running) < self.n_workers

    def begin(self, task: Task) -> None:
        """Give a task to a worker that has none."""
        self._running[self._client.submit(compute, task, self._folder, pure=False)] = task

    def wait(self) -> list[tuple[Cell, Outcome]]:
        """Wait for the next outcomes."""
        from distributed import wait

        done, _ = wait(list(self._running), return_when="FIRST_COMPLETED")
        return [(self._running.pop(future).cell, _outcome_of(future)) for future in done]

    def _check(self) -> None:
        """Raise unless all workers can compute cells, one at a time."""
        for address, n_threads in self._client.nthreads().items():
            if n_threads != 1:
                raise BenchError(
                    f"the worker at {address} has {n_threads} threads, and a cell takes a process "
                    "of its own; start workers with --nthreads 1"
                )
        # functions without a name travel as they are, and need no module there
        probe = lambda: __import__("benchmarks.paper.work")  # noqa: E731
        try:
            self._client.run_on_scheduler(probe)
            self._client.run(probe)
        except ImportError as error:
            raise BenchError(
                f"the scheduler at {self._address} or a worker of it cannot compute cells "
                f"({error}); start them in the folder that holds `benchmarks`, with the extra bench"
            ) from error
        folder = str(self._folder)
        seen = self._client.run(lambda: __import__("os").path.isdir(folder))
        for address, is_there in seen.items():
            if not is_there:
                raise BenchError(
                    f"the worker at {address} does not see {folder}; choose a folder that all "
                    "workers share"
                )


def _outcome_of(future: Any) -> Outcome:
    from distributed import KilledWorker

    try:
        outcome: Outcome = future.result()
    except KilledWorker as error:
        return Outcome.failed(
            f"its process ended {error.allowed_failures + 1} times, on workers of a cluster (often "
            "because memory was short)"
        )
    return outcome
