"""Where a result was computed: commit, versions, hardware."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from pathlib import Path
from typing import NamedTuple

import setatoms
from setatoms.versions import find_versions

_PACKAGES = ("numba", "numpy", "pyod", "scikit-learn", "scipy", "torch")


class Environment(NamedTuple):
    """The commit of this library (or its version), versions of packages, and the machine."""

    commit_hash: str
    versions: dict[str, str]
    hardware: dict[str, str | int]


def describe_environment() -> Environment:
    """Describe this process and its machine."""
    versions = {"setatoms": setatoms.__version__} | find_versions(_PACKAGES)
    return Environment(_find_commit(), versions, _find_hardware())


def _find_commit() -> str:
    """Return the commit; when files differ from it, also a digest of them; else the version."""
    package = Path(setatoms.__file__).parent
    # an environment inside a foreign repository must not borrow that one's commit
    if not _git(package, "ls-files", "--error-unmatch", "__init__.py"):
        return f"version {setatoms.__version__}"
    commit = _git(package, "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty")
    # two states between commits may give two results, and the store must tell them apart
    return f"{commit}-{_digest(package)}" if commit.endswith("-dirty") else commit


def _digest(package: Path) -> str:
    """Return eight digits that change with the source of the package."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def _git(folder: Path, *words: str) -> str:
    """Return what git says in a folder, or nothing where it fails or is not installed."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def _find_hardware() -> dict[str, str | int]:
    return {
        "cpu": _cpu_name(),
        "cores": os.cpu_count() or 1,
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _cpu_name() -> str:
    """Return the name of the processor, as Linux tells it or else as Python does."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
