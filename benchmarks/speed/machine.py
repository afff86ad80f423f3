"""On what and with what a run was made."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime

from benchmarks.environment import describe_environment

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "spams-bin", "dictlearn", "pyod")


def describe() -> dict[str, object]:
    """Return date, commit, processor, load and versions."""
    commit, versions, hardware = describe_environment(PACKAGES, digits=7)
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit,
        "processor": hardware["cpu"],
        "cores": hardware["cores"],
        "load": round(os.getloadavg()[0], 1),
        "system": platform.platform(),
        "python": versions.pop("python"),
        "versions": versions,
    }
