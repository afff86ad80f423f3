"""What users may rely on: the names, what an import costs, and what the documents say."""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import setatoms

HEAVY = ["numba", "numpy", "pandas", "pyod", "scipy", "sklearn"]
NAMES = [
    "Codes",
    "ConeAtomDetector",
    "ConeDictionaryLearning",
    "GaussianAtomDetector",
    "GaussianDictionaryLearning",
    "SetAtomDetector",
    "SetAtomEnsemble",
    "TableEncoder",
    "VectorAtomDetector",
    "__version__",
    "aksvd",
    "choose_parameters",
    "cone_omp",
    "gauss_l1",
    "load",
    "omp",
]


def run_python(code: str) -> str:
    """Return what `code` prints in a fresh interpreter."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_public_names_are_exactly_the_documented_ones() -> None:
    assert sorted(setatoms.__all__) == NAMES
    assert dir(setatoms) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_public_name_is_importable(name: str) -> None:
    assert getattr(setatoms, name) is not None


@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith("__")])
def test_public_name_has_a_docstring(name: str) -> None:
    assert getattr(setatoms, name).__doc__


@pytest.mark.parametrize("name", ["aksvd", "choose_parameters", "cone_omp", "gauss_l1", "omp"])
def test_public_function_is_annotated(name: str) -> None:
    signature = inspect.signature(getattr(setatoms, name))
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty, parameter.name


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'KSVD'"):
        _ = setatoms.KSVD


def test_import_loads_nothing_heavy() -> None:
    loaded = run_python(
        f"import sys, setatoms; print([m for m in {HEAVY} if m in sys.modules], end='')"
    )
    assert loaded == "[]"


def test_command_line_answers_help_without_loading_anything_heavy() -> None:
    loaded = run_python(
        "import sys\n"
        "from setatoms.cli import main\n"
        "try:\n    main(['--version'])\nexcept SystemExit:\n    pass\n"
        f"print([m for m in {HEAVY} if m in sys.modules], end='')"
    )
    assert loaded.endswith("\n[]")


def test_version_is_the_installed_one() -> None:
    try:
        installed = importlib.metadata.version("setatoms")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("setatoms is not installed, only on the path")
    assert setatoms.__version__ == installed


def test_package_says_that_it_is_typed() -> None:
    assert (Path(setatoms.__file__).parent / "py.typed").is_file()


def test_names_in_the_documents_exist(root: Path) -> None:
    """Every `setatoms.module.name` and every detector named in code spans can be imported."""
    for document in [root / "README.md", root / "CHANGELOG.md", *(root / "docs").glob("*.md")]:
        text = document.read_text(encoding="utf-8")
        for name in set(re.findall(r"`(\w+(?:Detector|DictionaryLearning|Ensemble))\b", text)):
            assert name in NAMES, f"{document.name} names {name}"
        for path in set(re.findall(r"`(setatoms(?:\.\w+)+)", text)):
            assert resolve(path) is not None, f"{document.name} names {path}"


def test_every_method_of_the_paper_is_one_constructor_call(root: Path) -> None:
    text = (root / "docs" / "methods.md").read_text(encoding="utf-8")
    calls = re.findall(r"\| `(\w+AtomDetector\(.*?\))` \|$", text, flags=re.MULTILINE)
    # two Gaussian ones without adaptation, two with, six with cones, and plain vectors
    assert len(set(calls)) == len(calls) == 11
    for call in calls:
        detector = eval(call, {name: getattr(setatoms, name) for name in NAMES})
        assert isinstance(detector, BaseEstimator)


def test_parameter_page_lists_every_parameter_of_every_detector(root: Path) -> None:
    text = (root / "docs" / "parameters.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| (`.*?) \|", text, flags=re.MULTILINE)
    documented = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    detectors = [
        getattr(setatoms, name)() for name in NAMES if name.endswith(("Detector", "Ensemble"))
    ]
    assert documented == {name for detector in detectors for name in detector.get_params()}


def resolve(path: str) -> object:
    """Return the module or the member of a module that a dotted `path` names."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        module, _, member = path.rpartition(".")
        return getattr(importlib.import_module(module), member, None)
