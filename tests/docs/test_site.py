"""The site lists every public name, and every page of the guide."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any, is_typeddict

import pytest

import setatoms
from setatoms import plot

MODULES = [
    "setatoms",
    "setatoms.coding",
    "setatoms.datasets",
    "setatoms.decisions",
    "setatoms.estimators",
    "setatoms.explain",
    "setatoms.learning",
    "setatoms.persistence",
    "setatoms.streams",
    "setatoms.views",
]
# what other modules ask for Matplotlib
NOT_FOR_USERS = {"setatoms.plot.import_pyplot"}


@pytest.fixture(scope="module")
def listed(root: Path) -> list[str]:
    """Return the full names that the reference lists."""
    names: list[str] = []
    for page in sorted((root / "docs" / "reference").glob("*.rst")):
        module, in_table = "", False
        for line in page.read_text(encoding="utf-8").splitlines():
            if found := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = found[1]
            elif found := re.match(r"\.\. py:data:: (\S+)", line):
                names.append(f"{module}.{found[1]}")
            elif line and not line.startswith(" "):
                in_table = line.startswith(".. autosummary::")
            elif in_table and re.fullmatch(r"   [\w.]+", line):
                names.append(f"{module}.{line.strip()}")
    return names


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_in_the_reference(module: str, listed: list[str]) -> None:
    here = importlib.import_module(module)
    by_object = {id(find(name)) for name in listed}
    for name in here.__all__:
        known = f"{module}.{name}" in listed or id(getattr(here, name)) in by_object
        assert known, f"docs/reference lists no {module}.{name}"


def test_every_function_that_draws_is_in_the_reference(listed: list[str]) -> None:
    functions = {f"setatoms.plot.{name}" for name in plot.__all__}
    documented = {name for name in listed if name.startswith("setatoms.plot.")}
    assert documented == functions - NOT_FOR_USERS


def test_reference_lists_no_name_twice_and_none_that_is_not_there(listed: list[str]) -> None:
    assert len(listed) > 60
    assert len(set(listed)) == len(listed)
    for name in listed:
        assert find(name) is not None


def test_everything_listed_says_what_it_is(listed: list[str]) -> None:
    for name in listed:
        member = find(name)
        assert not callable(member) or inspect.getdoc(member), f"{name} has no docstring"


def test_every_parameter_is_described(listed: list[str]) -> None:
    lacking = {name: missing for name in listed if (missing := undescribed(find(name)))}
    assert not lacking
    for name in setatoms.__all__:
        if inspect.isclass(found := getattr(setatoms, name)):
            for method, function in inspect.getmembers(found, inspect.isfunction):
                ours = function.__module__.startswith("setatoms.") and not method.startswith("_")
                assert not (ours and undescribed(function)), f"{name}.{method}"


def undescribed(member: Any) -> list[str]:
    """Return the parameters, or the fields of a dictionary, that no line of the docstring has."""
    error = inspect.isclass(member) and issubclass(member, Exception)
    if not callable(member) or error or getattr(member, "_is_protocol", False):
        return []
    names = member.__annotations__ if is_typeddict(member) else inspect.signature(member).parameters
    lines = (inspect.getdoc(member) or "").splitlines()
    described = {
        name.lstrip("*")
        for line in lines
        for name in line.partition(" : ")[0].split(", ")
        if not line.startswith(" ")
    }
    return [name for name in names if name != "self" and name[0] != "_" and name not in described]


def test_guide_lists_every_page_that_is_not_listed_elsewhere(root: Path) -> None:
    docs = root / "docs"
    elsewhere = {"index", "guide", "start", "method", "changelog", "citing", "contributing"}
    pages = {page.stem for page in docs.glob("*.md")} - elsewhere
    text = (docs / "guide.md").read_text(encoding="utf-8")
    toctree = r"^```\{toctree\}\n(?::.*\n)*\n((?:[\w-]+\n)+)```$"
    tables = re.findall(toctree, text, flags=re.MULTILINE)
    assert sorted(" ".join(tables).split()) == sorted(pages)
    assert pages == set(re.findall(r"\]\(([\w-]+)\.md\)", text))


def test_pages_do_not_promise_what_pypi_does_not_have(root: Path) -> None:
    pages = [*(root / "docs").rglob("*.md"), root / "README.md"]
    assert "not on PyPI yet" in (root / "README.md").read_text(encoding="utf-8")
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"pip install [\"']?setatoms", text), page.name


def test_citing_page_has_every_title_of_the_citation_file(root: Path) -> None:
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    titles = re.findall(r"^ +(?:- )?title: (.+)$", citation, flags=re.MULTILINE)
    page = (root / "docs" / "citing.md").read_text(encoding="utf-8")
    page = " ".join(page.replace("> ", "").split())
    assert len(titles) >= 4
    for title in titles:
        assert title in page


def find(name: str) -> object:
    """Return the object of a full name, wherever its module ends."""
    module, *rest = name.split(".")
    found: object = importlib.import_module(module)
    for part in rest:
        module = f"{module}.{part}"
        try:
            found = getattr(found, part)
        except AttributeError:
            found = importlib.import_module(module)
    return found
