"""The benchmark: which detectors find which anomalies in which tables, reproducible to the bit.

A *cell* is one method in one configuration on one table with one seed. `plan` lists the cells of a
suite, `run` computes those that a store does not hold yet. Needs the extra ``bench``.
"""

from setatoms.bench.cells import Cell, Outcome
from setatoms.bench.errors import BenchError
from setatoms.bench.peers import Peer
from setatoms.bench.runner import Summary, run
from setatoms.bench.sources import AdbenchTable, CsvTable
from setatoms.bench.suites import SUITES, plan

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
