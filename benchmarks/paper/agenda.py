"""In which order cells are computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from benchmarks.paper.work import Task


class Agenda:
    """The cells to come, given out so that workers are on different tables while there are any.

    Whoever comes first to a table makes it, and whoever comes second finds it.
    """

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._groups: dict[tuple[str, str, int], list[Task]] = {}
        for task in tasks:
            self._groups.setdefault(task.cell.table, []).append(task)
        for group in self._groups.values():
            group.reverse()  # taken from the end

    def take(self, running: Iterable[Task]) -> Task | None:
        """Return the next cell of the first among the tables with the fewest cells `running`."""
        if not self._groups:
            return None
        load = Counter(task.cell.table for task in running)
        table = min(self._groups, key=lambda table: load[table])
        task = self._groups[table].pop()
        if not self._groups[table]:
            del self._groups[table]
        return task
