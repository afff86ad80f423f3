"""Tables to try detectors on: ADBench's files and anomalies made on purpose."""

from setatoms.datasets.dependency import make_dependency_anomalies

__all__ = ["make_dependency_anomalies"]
