"""How long a run will take, judged by the cells that are done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping


class Forecast:
    """The time that the cells of each method still need.

    Parameters
    ----------
    pending : iterable of str
        The method of each cell to come.
    times : mapping of str to (int, float)
        Number of cells of a method done before, and their seconds in all.
    n_workers : int
        Cells that run side by side.
    """

    def __init__(
        self, pending: Iterable[str], times: Mapping[str, tuple[int, float]], n_workers: int
    ) -> None:
        self._pending = Counter(pending)
        self._counts = Counter({method: count for method, (count, _) in times.items()})
        self._seconds = {method: seconds for method, (_, seconds) in times.items()}
        self._n_workers = n_workers

    def finish(self, method: str, seconds: float | None) -> None:
        """Count a cell as done; one without a time teaches nothing."""
        self._pending[method] -= 1
        if seconds is not None:
            self._counts[method] += 1
            self._seconds[method] = self._seconds.get(method, 0.0) + seconds

    def remaining(self) -> float | None:
        """Return the seconds until the end, or None before anything is known."""
        n_timed = self._counts.total()
        if n_timed == 0:
            return None
        overall = sum(self._seconds.values()) / n_timed
        work = sum(
            count
            * (self._seconds[method] / self._counts[method] if self._counts[method] else overall)
            for method, count in self._pending.items()
        )
        return work / self._n_workers
