"""The check of what is published finds what must not be there, and what is missing."""

import io
import tarfile
import zipfile

import check_archives
import pytest

VERSION = check_archives.source_version()
INFO = f"setatoms-{VERSION}.dist-info"


@pytest.fixture
def metadata():
    """Return the metadata that an archive should have."""
    readme = (check_archives.ROOT / "README.md").read_text(encoding="utf-8")
    needed = "".join(
        f"Requires-Dist: {name}\n" for name in check_archives.read_project()["dependencies"]
    )
    return (
        f"Metadata-Version: 2.4\nName: setatoms\nVersion: {VERSION}\n"
        "License-Expression: BSD-3-Clause\nRequires-Python: >=3.11\n"
        f"{needed}Description-Content-Type: text/markdown\n\n{readme}"
    )


@pytest.fixture
def wheel(tmp_path, metadata):
    """Return a function that makes a wheel with some files more or less."""

    def make(more=(), less=(), **replaced):
        path = tmp_path / f"setatoms-{VERSION}-py3-none-any.whl"
        names = check_archives.package_files() | {f"{INFO}/licenses/LICENSE", *more}
        with zipfile.ZipFile(path, "w") as file:
            for name in names - set(less):
                file.writestr(name, "")
            file.writestr(f"{INFO}/METADATA", replaced.get("metadata", metadata))
            file.writestr(
                f"{INFO}/entry_points.txt", "[console_scripts]\nsetatoms = setatoms.cli:main"
            )
        return path

    return make


@pytest.fixture
def archive(tmp_path, metadata):
    """Return a function that makes a source archive with some files more or less."""

    def make(more=(), less=()):
        path = tmp_path / f"setatoms-{VERSION}.tar.gz"
        names = {f"src/{name}" for name in check_archives.package_files()}
        names |= {*check_archives.IN_ARCHIVE, *more}
        with tarfile.open(path, "w:gz") as file:
            for name in sorted(names - set(less)):
                content = metadata.encode() if name == "PKG-INFO" else b""
                entry = tarfile.TarInfo(f"setatoms-{VERSION}/{name}")
                entry.size = len(content)
                file.addfile(entry, io.BytesIO(content))
        return path

    return make


def test_whole_archives_pass(wheel, archive, tmp_path, capsys):
    wheel(), archive()
    assert check_archives.main(str(tmp_path)) == 0
    assert "as they should be" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name",
    ["setatoms/py.typed", "setatoms/report/templates/report.html", f"{INFO}/licenses/LICENSE"],
)
def test_a_wheel_needs_its_marks_templates_and_licence(name, wheel):
    assert any(
        f"lacks {name}" in problem for problem in check_archives.check_wheel(wheel(less=[name]))
    )


@pytest.mark.parametrize("name", ["tests/conftest.py", "benchmarks/cache.py", "setatoms/table.npz"])
def test_a_wheel_has_neither_tests_nor_tables(name, wheel):
    (problem,) = check_archives.check_wheel(wheel(more=[name]))
    assert problem.endswith(f"should not have {name}")


@pytest.mark.parametrize("name", ["results/paper.sqlite", "src/setatoms/__pycache__/a.pyc"])
def test_an_archive_has_no_leftovers(name, archive):
    (problem,) = check_archives.check_archive(archive(more=[name]))
    assert problem.endswith(f"should not have {name}")


def test_an_archive_needs_the_change_log(archive):
    (problem,) = check_archives.check_archive(archive(less=["CHANGELOG.md"]))
    assert problem.endswith("lacks CHANGELOG.md")


def test_another_version_or_description_is_named(wheel, metadata):
    other = metadata.replace(f"Version: {VERSION}", "Version: 9.9").replace("setatoms", "atoms", 1)
    problems = "\n".join(check_archives.check_wheel(wheel(metadata=other)))
    assert "has Version '9.9' instead of" in problems
    assert "has Name 'atoms' instead of" in problems


def test_a_large_file_is_named(wheel, monkeypatch):
    monkeypatch.setitem(check_archives.MOST_BYTES, ".whl", 1000)
    (problem,) = check_archives.check_wheel(wheel())
    assert problem.endswith("more than 1,000")


def test_a_folder_with_two_versions_is_refused(wheel, tmp_path, capsys):
    wheel()
    assert check_archives.main(str(tmp_path)) == 1
    assert "0 archives" in capsys.readouterr().out
