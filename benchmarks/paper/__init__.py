"""The benchmark: which detectors find which anomalies in which tables, reproducible to the bit.

A *cell* is one method in one configuration on one table with one seed. `plan` lists the cells of a
suite, `run` computes those that a store does not hold yet. Needs the extra ``bench``.
"""

from benchmarks.errors import BenchError
from benchmarks.paper.cells import Cell, Outcome
from benchmarks.paper.peers import Peer
from benchmarks.paper.runner import Summary, run
from benchmarks.paper.sources import AdbenchTable, CsvTable
from benchmarks.paper.suites import SUITES, plan

__all__ = [
    "SUITES",
    "AdbenchTable",
    "BenchError",
    "Cell",
    "CsvTable",
    "Outcome",
    "Peer",
    "Summary",
    "plan",
    "run",
]
