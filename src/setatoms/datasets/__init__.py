"""Tables to try detectors on: ADBench's files and anomalies made on purpose."""

from setatoms.datasets.adbench import ADBENCH_DATASETS, fetch_adbench
from setatoms.datasets.anomalies import adbench_anomalies
from setatoms.datasets.dependency import make_dependency_anomalies

__all__ = [
    "ADBENCH_DATASETS",
    "adbench_anomalies",
    "fetch_adbench",
    "make_dependency_anomalies",
]
