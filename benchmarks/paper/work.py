"""What a worker does with a cell."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numba
import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score
from threadpoolctl import threadpool_limits

from benchmarks.errors import BenchError
from benchmarks.paper.cells import Cell, Outcome
from benchmarks.paper.methods import Method, Scored
from benchmarks.paper.rows import prepare
from benchmarks.paper.sources import Labels, Source


@dataclass(frozen=True)
class Task:
    """A cell with all that is needed to compute it."""

    cell: Cell
    source: Source
    method: Method


def compute(task: Task, folder: Path) -> Outcome:
    """Return the outcome of a cell, failures included.

    Parameters
    ----------
    task : Task
        What to compute.
    folder : Path
        Where generated tables and starts are kept.

    Raises
    ------
    BenchError
        When the trouble is not the method's, as with a full disk.
    """
    cell = task.cell
    # one core a cell: workers share the machine, and sums must not depend on how
    numba.set_num_threads(1)
    with threadpool_limits(limits=1), warnings.catch_warnings(), _silence():
        warnings.simplefilter("ignore")
        try:
            rows = prepare(task.source, cell.anomalies, cell.seed, folder)
            return _judge(task.method.score(rows, cell.config, cell.seed), rows.truth)
        except BenchError:
            raise
        except Exception as error:  # noqa: BLE001  whatever stops a method is its result
            return Outcome.failed(f"{type(error).__name__}: {error}")


def _judge(scored: Scored, truth: Labels) -> Outcome:
    broken = int(np.sum(~np.isfinite(scored.abnormality)))
    if broken:
        return Outcome.failed(f"{broken} of {len(truth)} scores are NaN or infinite")
    return Outcome(
        "ok",
        auc=float(roc_auc_score(truth, scored.abnormality)),
        ap=float(average_precision_score(truth, scored.abnormality)),
        error=scored.error,
        seconds=scored.seconds,
    )


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Swallow what detectors print."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield
