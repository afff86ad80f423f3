"""Processes that compute cells, and that end when their parent does, however it ends."""

from __future__ import annotations

import contextlib
import multiprocessing as mp
import os
import pickle
import signal
import threading
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Self

from benchmarks.errors import BenchError
from benchmarks.paper.cells import Cell, Outcome
from benchmarks.paper.work import Task, compute

_ATTEMPTS = 2
_READY = "ready"
# Fresh interpreters: a fork would copy the state of threads and of BLAS.
_spawn = mp.get_context("spawn")


class Worker:
    """One process and the task it has."""

    def __init__(self, folder: Path) -> None:
        self.connection, theirs = _spawn.Pipe()
        self.process = _spawn.Process(target=_serve, args=(theirs, folder), daemon=True)
        self.process.start()
        theirs.close()  # so that this side notices when the process is gone
        self.task: Task | None = None
        self.attempts = 0

    def await_ready(self) -> None:
        """Wait until the process serves."""
        if self.receive() != _READY:
            raise BenchError(
                f"worker processes do not start (exit status {self.process.exitcode}); a script "
                "must call run() below `if __name__ == '__main__':`"
            )

    def begin(self, task: Task, attempts: int = 1) -> None:
        """Send a task."""
        self.task, self.attempts = task, attempts
        with contextlib.suppress(BrokenPipeError):  # it died, which `receive` will find
            self.connection.send(task)

    def receive(self) -> Any:
        """Return what came back, or None if the process died."""
        try:
            return self.connection.recv()
        except (EOFError, ConnectionResetError):
            self.process.join()
            return None

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self.process.kill()
        self.process.join()
        self.connection.close()


class Workers:
    """A fixed number of processes; one that dies is replaced and its task tried once more.

    Parameters
    ----------
    n_workers : int
        How many.
    folder : Path
        Where generated tables and starts are kept.
    """

    def __init__(self, n_workers: int, folder: Path) -> None:
        self._folder = folder
        self._workers = [Worker(folder) for _ in range(n_workers)]

    def __enter__(self) -> Self:
        try:
            for worker in self._workers:
                worker.await_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()

    @property
    def n_workers(self) -> int:
        """How many cells are computed at a time."""
        return len(self._workers)

    @property
    def tasks(self) -> list[Task]:
        """What is being computed."""
        return [worker.task for worker in self._workers if worker.task is not None]

    @property
    def has_room(self) -> bool:
        """Whether a worker has nothing to do."""
        return len(self.tasks) < self.n_workers

    def begin(self, task: Task) -> None:
        """Give a task to a worker that has none."""
        next(worker for worker in self._workers if worker.task is None).begin(task)

    def wait(self) -> list[tuple[Cell, Outcome]]:
        """Wait for the next outcomes. A task whose worker died may have none yet."""
        ready = wait([worker.connection for worker in self._workers if worker.task is not None])
        outcomes = []
        for i, worker in enumerate(self._workers):
            task = worker.task
            if task is None or worker.connection not in ready:
                continue
            reply = worker.receive()
            if isinstance(reply, BenchError):
                raise reply
            if reply is None:
                reply = self._replace(i, task)
            if reply is not None:
                self._workers[i].task = None
                outcomes.append((task.cell, reply))
        return outcomes

    def _replace(self, i: int, task: Task) -> Outcome | None:
        """Put a new process in the place of a dead one; return a failure after the last attempt."""
        dead = self._workers[i]
        self._workers[i] = Worker(self._folder)
        self._workers[i].await_ready()
        if dead.attempts < _ATTEMPTS:
            self._workers[i].begin(task, dead.attempts + 1)
            return None
        return Outcome.failed(
            f"its process ended {_ATTEMPTS} times, last with exit status {dead.process.exitcode} "
            "(negative: the signal; -9 often means that memory was short)"
        )


def _serve(connection: Connection, folder: Path) -> None:
    """Compute tasks until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, BrokenPipeError):
        connection.send(_READY)
        while True:
            connection.send(_answer(connection, folder))


def _answer(connection: Connection, folder: Path) -> Outcome | BenchError:
    try:
        return compute(connection.recv(), folder)
    except BenchError as error:
        return error
    except (ImportError, AttributeError, pickle.UnpicklingError) as error:
        return BenchError(f"a worker process cannot load what it is to compute: {error}")


def _end_with_parent() -> None:
    """End this process at once when its parent is gone."""
    parent = mp.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
