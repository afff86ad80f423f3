"""Check what is about to be published: ``python tests/packaging/check_archives.py dist``.

Compares the wheel and the source archive in a folder with the sources, and says what is wrong.
"""

from __future__ import annotations

import re
import sys
import tarfile
import tomllib
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MIB = 1 << 20
MOST_BYTES = {".whl": MIB, ".gz": 4 * MIB}
IN_ARCHIVE = (
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE",
    "PKG-INFO",
    "README.md",
    "conftest.py",
    "pyproject.toml",
)
LEFTOVERS = re.compile(r"__pycache__|\.(pyc|part|kernel|sqlite|parquet)$|(^|/)(build|\.venv)/")


def main(folder: str) -> int:
    """Check the two archives in a folder, print what is wrong, and return the exit status."""
    wheels, archives = sorted(Path(folder).glob("*.whl")), sorted(Path(folder).glob("*.tar.gz"))
    if len(wheels) != 1 or len(archives) != 1:
        print(f"{folder} has {len(wheels)} wheels and {len(archives)} archives, expected one each")
        return 1
    problems = check_wheel(wheels[0]) + check_archive(archives[0])
    for problem in problems:
        print(problem)
    if not problems:
        sizes = ", ".join(f"{p.name} {p.stat().st_size / 1000:.0f} kB" for p in wheels + archives)
        print(f"Archives are as they should be: {sizes}")
    return 1 if problems else 0


def check_wheel(path: Path, root: Path = ROOT) -> list[str]:
    """Return what is wrong with a wheel: its files, its metadata, its size."""
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        info = f"setatoms-{source_version(root)}.dist-info"
        metadata = wheel.read(f"{info}/METADATA").decode() if f"{info}/METADATA" in names else ""
        scripts = wheel.read(f"{info}/entry_points.txt").decode() if metadata else ""
    expected = package_files(root) | {f"{info}/licenses/LICENSE", f"{info}/METADATA"}
    allowed = {f"{info}/WHEEL", f"{info}/RECORD", f"{info}/entry_points.txt"}
    problems = [f"lacks {name}" for name in sorted(expected - names)]
    problems += [f"should not have {name}" for name in sorted(names - expected - allowed)]
    problems += [] if "setatoms = setatoms.cli:main" in scripts else ["lacks the command setatoms"]
    return _named(path, problems + check_metadata(metadata, root) + check_size(path))


def check_archive(path: Path, root: Path = ROOT) -> list[str]:
    """Return what is wrong with a source archive: its files, its metadata, its size."""
    top = f"setatoms-{source_version(root)}/"
    with tarfile.open(path) as archive:
        names = {m.name.removeprefix(top) for m in archive.getmembers() if m.isfile()}
        links = [m.name for m in archive.getmembers() if not (m.isfile() or m.isdir())]
        file = archive.extractfile(f"{top}PKG-INFO") if "PKG-INFO" in names else None
        metadata = file.read().decode() if file else ""
    expected = {f"src/{name}" for name in package_files(root)} | set(IN_ARCHIVE)
    problems = [f"lacks {name}" for name in sorted(expected - names)]
    problems += [f"should not have {name}" for name in sorted(names) if LEFTOVERS.search(name)]
    problems += [f"should not have the link {name}" for name in links]
    return _named(path, problems + check_metadata(metadata, root) + check_size(path))


def check_metadata(text: str, root: Path = ROOT) -> list[str]:
    """Return what is wrong with the metadata of an archive, compared with pyproject.toml."""
    project = read_project(root)
    metadata: Message = Parser().parsestr(text)
    expected = {
        "Name": project["name"],
        "Version": source_version(root),
        "License-Expression": project["license"],
        "Requires-Python": project["requires-python"],
        "Description-Content-Type": "text/markdown",
    }
    problems = [
        f"has {field} {metadata[field]!r} instead of {value!r}"
        for field, value in expected.items()
        if metadata[field] != value
    ]
    needed = [r for r in metadata.get_all("Requires-Dist", []) if "extra ==" not in r]
    if sorted(needed) != sorted(project["dependencies"]):
        problems.append(f"requires {needed} instead of {project['dependencies']}")
    readme = (root / "README.md").read_text(encoding="utf-8").strip()
    if str(metadata.get_payload()).strip() != readme:
        problems.append("has another long description than README.md")
    return problems


def check_size(path: Path) -> list[str]:
    """Return a complaint if a file is larger than it should be, which means it has a stowaway."""
    size, most = path.stat().st_size, MOST_BYTES[path.suffix]
    return [f"has {size:,} bytes, more than {most:,}"] if size > most else []


def package_files(root: Path = ROOT) -> set[str]:
    """Return the files of the package: modules, templates, tables, the mark that it is typed."""
    files = (path for path in (root / "src" / "setatoms").rglob("*") if path.is_file())
    names = {path.relative_to(root / "src").as_posix() for path in files}
    return {name for name in names if "__pycache__" not in name}


def read_project(root: Path = ROOT) -> dict[str, Any]:
    """Return the table ``project`` of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    project: dict[str, Any] = table["project"]
    return project


def source_version(root: Path = ROOT) -> str:
    """Return the version that the sources say."""
    text = (root / "src" / "setatoms" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    if found is None:
        raise ValueError("src/setatoms/__init__.py has no line __version__ = ...")
    return found[1]


def _named(path: Path, problems: list[str]) -> list[str]:
    return [f"{path.name} {problem}" for problem in problems]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
