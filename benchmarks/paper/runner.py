"""Compute the cells that a store does not hold yet."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.environment import describe_environment
from benchmarks.errors import BenchError
from benchmarks.paper.agenda import Agenda
from benchmarks.paper.cells import Cell
from benchmarks.paper.cluster import ClusterWorkers
from benchmarks.paper.forecast import Forecast
from benchmarks.paper.presence import Presence
from benchmarks.paper.rows import table_path
from benchmarks.paper.store import Store
from benchmarks.paper.work import Task
from benchmarks.paper.workers import Workers
from setatoms.progress import Progress, in_words


@dataclass(frozen=True)
class Summary:
    """What a run did.

    Attributes
    ----------
    n_cells : int
        Cells that were asked for.
    n_computed : int
        Those that this run computed.
    n_failed : int
        Those that have failed, in this run or before.
    n_elsewhere : int
        Those that another runner on the same folder was still computing.
    """

    n_cells: int
    n_computed: int
    n_failed: int
    n_elsewhere: int

    def in_words(self, folder: Path) -> str:
        """Return a sentence on each figure that is not zero."""
        n_done = self.n_cells - self.n_elsewhere
        sentences = [f"{n_done} of {self.n_cells} cells are in {folder}, {self.n_computed} new."]
        if self.n_failed:
            sentences.append(f"{self.n_failed} of them failed; the store has the reasons.")
        if self.n_elsewhere:
            sentences.append(f"{self.n_elsewhere} are left to another runner on this folder.")
        return " ".join(sentences)


def run(
    tasks: Iterable[Task],
    folder: str | Path,
    *,
    n_jobs: int = 1,
    retry_failed: bool = False,
    scheduler: str | None = None,
) -> Summary:
    """Compute the cells that the store in `folder` does not hold yet.

    Results do not depend on `n_jobs`, on the order of cells, or on how often a run was stopped
    before. Several runs may share a folder; what one of them claims the others leave alone.

    Parameters
    ----------
    tasks : iterable of Task
        What `plan` returned.
    folder : str or Path
        Where results, generated tables and AK-SVD starts are kept.
    n_jobs : int, default=1
        Worker processes, each on one core.
    retry_failed : bool, default=False
        Compute cells that failed before once more.
    scheduler : str, optional
        Where the scheduler of a Dask cluster is, whose workers then compute the cells. They must
        see the folder and the tables where this process does.

    Returns
    -------
    Summary
        How many cells were computed.

    Raises
    ------
    BenchError
        When the run cannot go on; finished cells are kept.
    """
    if n_jobs < 1:
        raise ValueError(f"n_jobs={n_jobs} must be at least 1")
    wanted = {task.cell: task for task in tasks}
    folder = Path(folder).absolute()
    with Store(folder) as store:
        finished = store.finished(failed_too=not retry_failed)
        pending = [task for cell, task in wanted.items() if cell not in finished]
        n_computed = 0
        if pending:
            _check_tables(pending, folder)
            _check_picklable(pending)
            workers: Workers | ClusterWorkers = (
                Workers(min(n_jobs, len(pending)), folder)
                if scheduler is None
                else ClusterWorkers(scheduler, folder)
            )
            n_computed = _compute_all(pending, store, workers, retry_failed)
        now_finished = store.finished()
        return Summary(
            n_cells=len(wanted),
            n_computed=n_computed,
            n_failed=len((now_finished - store.finished(failed_too=False)) & wanted.keys()),
            n_elsewhere=sum(cell not in now_finished for cell in wanted),
        )


def _compute_all(
    pending: list[Task], store: Store, workers: Workers | ClusterWorkers, retry_failed: bool
) -> int:
    """Keep workers busy until every cell is finished or another runner's; count our own."""
    with (
        _announce(store.folder) as presence,
        Progress(len(pending), "computing cells") as progress,
        workers,
    ):
        methods = (task.cell.method for task in pending)
        session = _Session(
            store=store,
            workers=workers,
            agenda=Agenda(pending),
            forecast=Forecast(methods, store.times(), workers.n_workers),
            progress=progress,
            runner=presence.runner,
            retry_failed=retry_failed,
            environment=store.add_environment(describe_environment()),
        )
        try:
            while session.hand_out():
                session.collect()
        finally:
            store.release(presence.runner)
        return session.n_computed


@dataclass
class _Session:
    """What a run has at hand while it lasts."""

    store: Store
    workers: Workers | ClusterWorkers
    agenda: Agenda
    forecast: Forecast
    progress: Progress
    runner: str
    retry_failed: bool
    environment: int
    n_computed: int = 0

    def hand_out(self) -> bool:
        """Claim cells for workers that have none; return whether any work is going on."""
        while self.workers.has_room:
            task = self.agenda.take(self.workers.tasks)
            if task is None:
                break
            if self.store.claim(task.cell, self.runner, failed_too=self.retry_failed):
                self.workers.begin(task)
            else:
                self._tick(task.cell, None)
        return bool(self.workers.tasks)

    def collect(self) -> None:
        """Wait for outcomes and keep them."""
        for cell, outcome in self.workers.wait():
            self.store.record(cell, outcome, self.environment)
            self.n_computed += 1
            self._tick(cell, outcome.seconds)

    def _tick(self, cell: Cell, seconds: float | None) -> None:
        self.forecast.finish(cell.method, seconds)
        left = self.forecast.remaining()
        words = "" if left is None else f"about {in_words(left)} left, "
        self.progress.advance(1, f"{words}{cell}")


def _announce(folder: Path) -> Presence:
    try:
        return Presence(folder)
    except OSError as error:
        raise BenchError(
            f"cannot write to {folder} ({error.strerror}); free some space or choose another folder"
        ) from error


def _check_tables(pending: list[Task], folder: Path) -> None:
    """Load every table that is still to be made: better now than after hours."""
    sources = {
        task.source.name: task.source
        for task in pending
        if not table_path(task.source, task.cell.anomalies, task.cell.seed, folder).exists()
    }
    for source in sources.values():
        source.load()


def _check_picklable(pending: list[Task]) -> None:
    for task in {task.cell.method: task for task in pending}.values():
        try:
            pickle.dumps(task)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise ValueError(
                f"{task.cell.method} or {task.cell.dataset} cannot be sent to worker processes "
                f"({error}); define functions and classes at the top of a module"
            ) from error
