"""Where a result was computed: commit, versions, hardware."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from collections.abc import Sequence
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


def describe_environment(packages: Sequence[str] = _PACKAGES, digits: int = 40) -> Environment:
    """Describe this process and its machine.

    Parameters
    ----------
    packages : sequence of str
        Those whose versions count, if they are installed.
    digits : int, default=40
        Of the commit; git gives more where fewer would not be enough.
    """
    versions = {"setatoms": setatoms.__version__} | find_versions(packages)
    return Environment(_find_commit(digits), versions, _find_hardware())


def _find_commit(digits: int) -> str:
    """Return the commit; when files differ from it, also a digest of them; else the version."""
    package = Path(setatoms.__file__).parent
    # an environment inside a foreign repository must not borrow that one's commit
    if not _git(package, "ls-files", "--error-unmatch", "__init__.py"):
        return f"version {setatoms.__version__}"
    commit = _git(package, "describe", "--always", f"--abbrev={digits}", "--exclude=*", "--dirty")
    # two states between commits may give two results, and the store must tell them apart
    if commit.endswith("-dirty"):
        return f"{commit}-{_digest(package, Path(__file__).parent)}"
    return commit


def _digest(*folders: Path) -> str:
    """Return eight digits that change with the sources of the library and of the benchmarks."""
    digest = hashlib.sha256()
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
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
